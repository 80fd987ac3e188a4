"""done and abandon: work lands once, whole and by its holder, and what does not land is kept."""

import time
from pathlib import Path

from harness import add_case, case, check, main, wait_until
from landing_site import SITES, START_FILES, LocalSite, check_landed, on_every_store, run_hint, short_ttl, take_over


@on_every_store
def done_merges_with_trailers_and_gives_the_item_back(site):
    made = site.start("42")
    site.work(made)
    head = site.work(made, "more", "more\n")
    before = site.target()
    landed = site.reply("done", cwd=made["path"])
    check.has_fields(landed, {"item", "lease_id", "landed_commit", "target", "released", "already_landed", "path",
                              "worktree_removed", "notes", "rescue"})
    check.equal([landed[name] for name in ("item", "lease_id", "target", "already_landed", "path", "worktree_removed",
                                           "notes", "rescue")],
                ["item:42", made["lease_id"], "main", False, made["path"], True, [], None])
    check_landed(site, landed, made)
    check.equal(site.target(), landed["landed_commit"])
    check.equal(site.on_target("log", "-1", "--format=%P", "main"), f"{before} {head}")
    check.equal(site.on_target("log", "-1", "--format=%s", "main"), "Land item:42")
    check.equal(site.files_on_target(), {*START_FILES, "work", "more"})
    check.true(not Path(made["path"]).exists(), "the worktree is gone")
    check.equal((site.branches(), site.rescues()), ({"main"}, []))
    check.equal([event["op"] for event in site.reply("claim", "history", "42")["events"]][-1], "land")
    site.healthy()
    site.start("42", agent="agent:two")


@on_every_store
def done_rebases_every_commit_with_its_author_and_message(site):
    made = site.start("42")
    site.git("-c", "user.name=x", "commit", "-q", "--allow-empty", "-m", "empty", cwd=made["path"])
    site.write(Path(made["path"]) / "one", "1\n")
    site.git("add", "-A", cwd=made["path"])
    site.git("commit", "-q", "--author", "Änne <a@example.com>", "--date", "1700000000 +0100", "-m",
             "first\n\nwith a body\n\nSigned-off-by: x", cwd=made["path"])
    site.work(made, "two", "2\n", "second")
    news = site.move_target("news", "news\n")
    landed = site.reply("done", "--mode", "rebase", cwd=made["path"])
    check_landed(site, landed, made)
    commits = site.on_target("rev-list", "--parents", f"{news}..main").splitlines()
    check.true(all(len(line.split()) == 2 for line in commits) and len(commits) == 2, f"one line of two: {commits}")
    check.equal(site.on_target("log", "--format=%s", "main").splitlines()[:3], ["second", "first", "news"])
    check.equal(site.on_target("log", "-1", "--skip=1", "--format=%an <%ae> %ad", "--date=raw", "main"),
                "Änne <a@example.com> 1700000000 +0100")
    body = site.on_target("log", "-1", "--skip=1", "--format=%B", "main")
    check.contains(body, "with a body")
    check.contains(body, "Signed-off-by: x")
    check.contains(body, f"Dibs-Lease: {made['lease_id']}")


@on_every_store
def done_squashes_to_one_commit(site):
    made = site.start("42")
    site.work(made, "one", "1\n", "first thing")
    site.work(made, "two", "2\n", "second thing")
    before = site.move_target("news", "news\n")
    landed = site.reply("done", "--mode", "squash", cwd=made["path"])
    check_landed(site, landed, made)
    check.equal(site.on_target("log", "-1", "--format=%P", "main"), before)
    message = site.on_target("log", "-1", "--format=%B", "main")
    check.contains(message, "Land item:42\n\n- first thing\n- second thing\n")
    alone = site.start("43")
    site.work(alone, "three", "3\n", "speaks for itself\n\nat length")
    check_landed(site, site.reply("done", "--mode", "squash", cwd=alone["path"]), alone)
    check.contains(site.on_target("log", "-1", "--format=%B", "main"), "speaks for itself\n\nat length\n\nDibs-Lease:")


@on_every_store
def done_goes_by_the_settings(site):
    site.on_target("branch", "develop", "main")
    site.reply("config", "set", "landing.mode", "squash")
    site.reply("config", "set", "landing.target", "develop")
    main_before = site.target()
    made = site.start("42")
    check.equal(made["target"], "develop")
    site.work(made)
    landed = site.reply("done", cwd=made["path"])
    check.equal((landed["target"], site.on_target("rev-parse", "develop")), ("develop", landed["landed_commit"]))
    check.equal(site.on_target("log", "-1", "--format=%P", "develop"), main_before)
    check.equal(site.target(), main_before)


@on_every_store
def done_works_from_the_main_worktree(site):
    made, other = site.start("42"), site.start("43")
    site.work(made)
    check.contains(site.refusal(8, "done")["message"], "no item is held from")
    check.contains(site.refusal(8, "done", "44")["message"], "no item is held from")
    check_landed(site, site.reply("done", "42"), made)
    check.equal(site.holder("43"), "agent:one")
    check.true(Path(other["path"]).exists(), "the other worktree stays")


@on_every_store
def done_is_for_the_holder_alone(site):
    made = site.start("42")
    site.work(made)
    before = site.state(made["path"])
    site.refusal(8, "done", "42", agent="agent:two")
    site.refusal(8, "done", agent="agent:two", cwd=made["path"])
    site.refusal(8, "abandon", agent="agent:two", cwd=made["path"])
    check.equal(site.state(made["path"]), before)


@on_every_store
def done_again_answers_the_same(site):
    made = site.start("42")
    site.work(made)
    first = site.reply("done", "--keep-worktree", cwd=made["path"])
    check.equal((first["worktree_removed"], first["already_landed"]), (False, False))
    check.equal(site.git("rev-parse", "--abbrev-ref", "HEAD", cwd=made["path"]), "dibs/42")
    target = site.target()
    for words, removed in ((["--keep-worktree"], False), ([], True)):
        again = site.reply("done", *words, cwd=made["path"])
        check.equal(again, {**first, "already_landed": True, "worktree_removed": removed})
    check.equal((site.target(), site.branches(), site.rescues()), (target, {"main"}, []))


@on_every_store
def done_again_from_the_main_worktree_answers_the_same(site):
    made = site.start("42")
    site.work(made)
    first = site.reply("done", "42", "--keep-worktree", "--mode", "squash")
    again = site.reply("done", "42")
    check.equal(again, {**first, "already_landed": True, "worktree_removed": True})
    check.equal((site.branches(), site.rescues()), ({"main"}, []))
    for _ in range(2):
        last = site.reply("done", "42")
        check.equal(last, {**first, "already_landed": True, "path": ""})
    check.contains(site.refusal(8, "abandon", "42")["message"], "has landed")
    check.contains(site.refusal(8, "done", "42", agent="agent:two")["message"], "no item is held from")


@on_every_store
def work_that_follows_a_landing_is_not_lost(site):
    made = site.start("42")
    site.work(made)
    site.reply("done", "--keep-worktree", cwd=made["path"])
    late = site.work(made, "late", "late\n")
    again = site.reply("done", cwd=made["path"])
    check.equal(again["already_landed"], True)
    check.absent(site.files_on_target(), "late")
    tips = site.git("for-each-ref", "--contains", late, "--format=%(refname)", cwd=site.root)
    check.true(tips, "the commit that came after the landing is on no ref")


@on_every_store
def done_with_nothing_to_land_is_refused(site):
    made = site.start("42")
    before = site.state(made["path"])
    for mode in ("merge", "rebase", "squash"):
        error = site.refusal(8, "done", "--mode", mode, cwd=made["path"])
        check.contains(error["message"], "nothing to land")
        check.contains(error["hint"], "dibs abandon 42")
    check.equal(site.state(made["path"]), before)
    # A change that is on the target already is nothing either, where no merge commit is made for it.
    site.work(made, "same", "same\n")
    site.move_target("same", "same\n")
    check.contains(site.refusal(8, "done", "--mode", "rebase", cwd=made["path"])["message"], "nothing to land")


@on_every_store
def done_refuses_to_leave_changes_behind(site):
    made = site.start("42")
    site.work(made)
    tree = Path(made["path"])
    site.write(tree / "README", "changed\n")
    site.write(tree / "staged new", "new\n")
    site.git("add", "staged new", cwd=tree)
    (tree / "other").unlink()
    before = site.state(tree)
    error = site.refusal(8, "done", cwd=tree)
    check.equal(sorted(error["files"]), ["README", "other", "staged new"])
    for name in error["files"]:
        check.contains(error["message"], name)
    check.equal(site.state(tree), before)
    check.equal(run_hint(site, error["hint"] + " -m rest", "git -C"), 0)
    site.reply("done", cwd=tree)
    check.equal(site.file_on_target("README"), "changed")
    check.equal(site.files_on_target(), {"README", "lines", "staged new", "work"})


@on_every_store
def untracked_leftovers_are_kept_and_come_back(site):
    made = site.start("42")
    site.work(made)
    tree = Path(made["path"])
    site.write(tree / "notes/to self", "remember\n")
    landed = site.reply("done", cwd=tree)
    check.true(landed["worktree_removed"] and landed["rescue"], f"{landed}")
    check.absent(site.files_on_target(), "notes/to self")
    restored = site.reply("worktree", "rescue", "restore", landed["rescue"])
    check.equal((Path(restored["path"]) / "notes/to self").read_text(), "remember\n")
    text = site.run("worktree", "rescue", "list").expect(0).out
    check.contains(text, landed["rescue"])


def conflict_and_go_on(site, mode):
    made = site.start("42")
    tree = Path(made["path"])
    site.work(made, "fine", "fine\n")
    site.work(made, "lines", START_FILES["lines"].replace("line 7\n", "mine\n"))
    site.move_target("lines", START_FILES["lines"].replace("line 7\n", "theirs\n"))
    site.write(tree / "untracked", "mine\n")
    before, root_before = site.state(tree), site.state(site.root)
    error = site.refusal(8, "done", "--mode", mode, cwd=tree)
    check.equal(error["conflicts"], ["lines"])
    check.contains(error["message"], "conflicts with main in lines")
    check.equal((site.state(tree), site.state(site.root)), (before, root_before))
    check.true(run_hint(site, error["hint"], "git -C") != 0, "git finds the conflict too")
    check.contains(site.git("status", "--porcelain", cwd=tree), "lines")
    check.true(site.run("done", cwd=tree).code == 8, "in the middle of the merge")
    site.write(tree / "lines", START_FILES["lines"].replace("line 7\n", "both\n"))
    site.git("add", "lines", cwd=tree)
    if mode == "rebase":
        site.git("-c", "core.editor=true", "rebase", "--continue", cwd=tree)
    else:
        site.git("commit", "-q", "-m", "mend", cwd=tree)
    check_landed(site, site.reply("done", "--mode", mode, cwd=tree), made)
    check.contains(site.file_on_target("lines"), "both\n")


for each_kind, each_site in SITES.items():
    for each_mode in ("merge", "rebase", "squash"):
        def conflicts(make=each_site, mode=each_mode):
            with make() as site:
                conflict_and_go_on(site, mode)
        add_case(f"a conflict changes nothing and can be mended, {each_mode} ({each_kind})", conflicts)


@on_every_store
def work_lands_on_top_of_what_others_landed_meanwhile(site):
    made = {n: site.start(f"item-{n}", agent=f"agent:{n}") for n in range(3)}
    site.move_target("news", "news\n")
    for n, one in made.items():
        site.work(one, f"work-{n}")
    for n, one in made.items():
        check_landed(site, site.reply("done", cwd=one["path"], agent=f"agent:{n}"), one)
    check.equal(site.files_on_target(), {*START_FILES, "news", "work-0", "work-1", "work-2"})
    check.equal(len(site.first_parents()), 5 if site.store_kind == "local" else 6)


@on_every_store
def whoever_lost_the_lease_lands_nothing_and_loses_nothing(site):
    made = site.start("42", *short_ttl(site))
    tree = Path(made["path"])
    head = site.work(made)
    site.write(tree / "untracked", "mine\n")
    taken = take_over(site, "42")
    check.true(taken["work_branch"] != "dibs/42", "the other has a branch of its own")
    before = site.target()
    error = site.refusal(5, "done", cwd=tree)
    check.contains(error["message"], "nothing has landed")
    check.contains(error["message"], "agent:two holds it now")
    check.equal(error["holder"], "agent:two")
    check.equal(site.target(), before)
    kept = [rescue for rescue in site.rescues() if rescue["name"] == error["rescue"]]
    check.equal([rescue["head"] for rescue in kept], [head])
    check.contains(error["hint"], f"dibs worktree rescue restore {error['rescue']}")
    check.true((tree / "untracked").exists(), "the worktree is left alone")
    back = site.reply("worktree", "rescue", "restore", error["rescue"], str(site.dir / "back"))
    check.equal((Path(back["path"]) / "untracked").read_text(), "mine\n")
    site.work(taken, "theirs")
    check_landed(site, site.reply("done", cwd=taken["path"], agent="agent:two"), taken)
    error = site.refusal(5, "done", cwd=tree)
    check.absent(error["message"], "holds it now")
    check.absent(site.files_on_target(), "work")


@on_every_store
def abandoning_after_the_lease_was_lost_keeps_the_work_and_the_others_lease(site):
    made = site.start("42", *short_ttl(site))
    site.work(made)
    taken = take_over(site, "42")
    gone = site.reply("abandon", cwd=made["path"])
    check.equal((gone["released"], gone["worktree_removed"]), (False, True))
    check.equal([rescue["name"] for rescue in site.rescues()], [gone["rescue"]])
    check.equal(site.reply("claim", "status", "42")["lease"]["lease_id"], taken["lease_id"])


@case
def a_lease_that_start_moved_and_that_ran_out_is_lost():
    """Asked for by its name or not, from its worktree or another; what was committed nowhere is kept as well."""
    with LocalSite() as site:
        site.acquire("42", "--ttl", "2")
        made = site.start("42")
        site.work(made)
        site.write(Path(made["path"]) / "work", "more\n")
        before = site.target()
        wait_until(lambda: site.holder("42") is None, "the lease to end")
        for words, place in (["done"], made["path"]), (["done", "42"], made["path"]), (["done", "42"], site.root):
            error = site.refusal(5, *words, cwd=place)
            check.contains(error["hint"], "rescue restore")
        check.equal(site.target(), before)


@case
def a_lease_that_ran_out_is_lost_even_if_nobody_took_it():
    with LocalSite() as site:
        made = site.start("42", "--ttl", "1")
        site.work(made)
        before = site.target()
        time.sleep(1.2)
        error = site.refusal(5, "done", cwd=made["path"])
        check.absent(error["message"], "holds it now")
        check.equal((site.target(), len(site.rescues())), (before, 1))
        again = site.start("42")
        check.true(again["fence"] > made["fence"], f"{again}")


@on_every_store
def abandon_gives_the_item_back_and_keeps_all_of_the_work(site):
    made = site.start("42")
    tree = Path(made["path"])
    head = site.work(made)
    site.write(tree / "README", "changed\n")
    site.write(tree / "untracked", "new\n")
    status = site.git("status", "--porcelain", cwd=tree)
    before = site.target()
    gone = site.reply("abandon", "--reason", "needs a decision", cwd=tree)
    check.has_fields(gone, {"item", "released", "path", "worktree_removed", "rescue"})
    check.equal([gone[name] for name in ("item", "released", "path", "worktree_removed")],
                ["item:42", True, made["path"], True])
    check.equal((site.holder("42"), site.branches(), site.target()), (None, {"main"}, before))
    check.true(not tree.exists(), "the worktree is gone")
    event = site.reply("claim", "history", "42")["events"][-1]
    check.equal((event["op"], event["reason"]), ("release", "needs a decision"))
    back = site.reply("worktree", "rescue", "restore", gone["rescue"])
    check.equal((back["path"], back["branch"]), (made["path"], "dibs/42"))
    check.equal((site.git("rev-parse", "HEAD", cwd=tree), site.git("status", "--porcelain", cwd=tree)), (head, status))
    check.equal([(tree / name).read_text() for name in ("work", "README", "untracked")],
                ["work\n", "changed\n", "new\n"])


@on_every_store
def abandon_of_nothing_keeps_nothing(site):
    made = site.start("42")
    gone = site.reply("abandon", "42")
    check.equal((gone["rescue"], gone["worktree_removed"], site.rescues(), site.branches()), (None, True, [], {"main"}))
    check.true(not Path(made["path"]).exists(), "the worktree is gone")
    made = site.start("42", agent="agent:two")
    check.equal(made["work_branch"], "dibs/42")
    text = site.run("abandon", "42", agent="agent:two").expect(0).out
    check.contains(text, "there was nothing to keep")


@on_every_store
def abandoned_work_can_be_taken_up_and_landed(site):
    made = site.start("42")
    site.work(made)
    gone = site.reply("abandon", cwd=made["path"])
    back = site.reply("worktree", "rescue", "restore", gone["rescue"])
    taken = site.acquire("42", agent="agent:two", cwd=back["path"])
    check_landed(site, site.reply("done", cwd=back["path"], agent="agent:two"), taken)
    check.contains(site.files_on_target(), "work")


if __name__ == "__main__":
    main()
