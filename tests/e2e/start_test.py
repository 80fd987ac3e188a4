"""start: the lease and a worktree, or nothing."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness import LEASE_FIELDS, case, check, main
from landing_site import LocalSite, check_landed, on_every_store, short_ttl, take_over


@on_every_store
def start_claims_the_item_and_makes_a_worktree_from_the_fresh_target(site):
    fresh = site.move_target("news", "news\n")
    made = site.start("42")
    check.has_fields(made, LEASE_FIELDS | {"already_held", "path", "work_branch", "target", "base"})
    check.equal((made["resource"], made["branch"], made["work_branch"], made["already_held"]),
                ("item:42", "dibs/42", "dibs/42", False))
    check.equal((made["target"], made["base"]), ("main", fresh))
    check.equal(made["path"], str(site.root) + ".worktrees/42")
    check.equal((Path(made["path"]) / "news").read_text(), "news\n")
    check.equal(site.git("rev-parse", "--abbrev-ref", "HEAD", cwd=made["path"]), "dibs/42")
    info = site.reply("worktree", "info", cwd=made["path"])
    check.equal(info["worktree_id"], made["worktree_id"])
    site.reply("claim", "renew", "42", cwd=made["path"])
    site.reply("claim", "verify", "42", "--fence", str(made["fence"]))


@on_every_store
def start_says_where_to_go(site):
    text = site.run("start", "42").expect(0).out
    check.contains(text, f"cd {site.root}.worktrees/42")
    check.contains(text, "dibs done")


@on_every_store
def start_twice_answers_with_the_same_worktree(site):
    made = site.start("42")
    for where in (site.root, made["path"]):
        again = site.start("42", cwd=where)
        check.equal([again[name] for name in ("path", "lease_id", "work_branch", "worktree_id", "already_held")],
                    [made[name] for name in ("path", "lease_id", "work_branch", "worktree_id")] + [True])
    check.equal(site.reply("worktree", "list")["count"], 2)


@on_every_store
def start_of_a_held_item_makes_nothing(site):
    site.start("42", agent="agent:two")
    before = site.state(site.root), site.git("worktree", "list", cwd=site.root)
    error = site.refusal(3, "start", "42")
    check.equal(error["holder"], "agent:two")
    check.equal((site.state(site.root), site.git("worktree", "list", cwd=site.root)), before)
    check.equal(sorted(path.name for path in Path(f"{site.root}.worktrees").iterdir()), ["42"])


@on_every_store
def start_moves_a_lease_that_was_taken_from_the_main_worktree(site):
    taken = site.acquire("42")
    made = site.start("42")
    check.true(made["fence"] > taken["fence"] and made["lease_id"] != taken["lease_id"], f"{made} after {taken}")
    check.equal((made["branch"], made["work_branch"]), ("dibs/42", "dibs/42"))
    info = site.reply("worktree", "info", cwd=made["path"])
    check.equal((made["worktree_id"], site.reply("claim", "status", "42")["lease"]["worktree_id"]),
                (info["worktree_id"], info["worktree_id"]))
    site.work(made)
    check_landed(site, site.reply("done", cwd=made["path"]), made)


@on_every_store
def start_that_cannot_make_the_worktree_holds_nothing(site):
    place = site.dir / "taken"
    site.write(place / "file", "not empty\n")
    site.refusal(8, "start", "42", "--path", str(place))
    check.equal(site.holder("42"), None)
    site.refusal(8, "start", "42", "--path", str(place / "file"))
    check.equal((site.holder("42"), site.branches()), (None, {"main"}))
    made = site.start("42", "--path", "../a place")
    check.equal(made["path"], str(site.dir / "a place"))


@on_every_store
def start_needs_an_item_and_a_commit(site):
    site.refusal(64, "start")
    site.refusal(64, "start", "lock:x")
    site.refusal(64, "start", "file:src/**")
    site.reply("config", "set", "landing.target", "nowhere")
    check.contains(site.refusal(8, "start", "42")["hint"], "landing.target")
    check.equal(site.holder("42"), None)


@on_every_store
def twenty_starts_at_once_all_succeed(site):
    with ThreadPoolExecutor(20) as pool:
        replies = list(pool.map(lambda n: site.run("start", f"item-{n}", "--json", agent=f"agent:{n}", timeout=100),
                                range(20)))
    check.equal([reply.code for reply in replies], [0] * 20, "\n".join(map(repr, replies)))
    check.equal(len({reply.json()["worktree_id"] for reply in replies}), 20)
    check.equal(site.reply("claim", "list")["count"], 20)
    check.equal(site.reply("worktree", "list")["count"], 21)


@on_every_store
def start_after_a_takeover_leaves_the_other_worktree_alone(site):
    made = site.start("42", *short_ttl(site))
    site.write(Path(made["path"]) / "untracked", "mine\n")
    taken = take_over(site, "42")
    check.equal((taken["path"], taken["work_branch"]), (made["path"] + "-2", "dibs/42-2"))
    check.equal((Path(made["path"]) / "untracked").read_text(), "mine\n")
    site.work(taken, "theirs")
    landed = site.reply("done", cwd=taken["path"], agent="agent:two")
    check_landed(site, landed, taken)
    check.equal((landed["worktree_removed"], site.branches()), (True, {"main", "dibs/42"}))


@case
def start_by_force_takes_nothing_when_the_place_is_taken():
    with LocalSite() as site:
        held = site.start("42", agent="agent:two")
        place = site.dir / "taken"
        site.write(place / "file", "x\n")
        error = site.refusal(8, "start", "42", "--path", str(place), "--strategy", "force", "--reason", "test")
        check.contains(error["hint"], "--path")
        check.equal(site.reply("claim", "status", "42")["lease"]["lease_id"], held["lease_id"])


if __name__ == "__main__":
    main()
