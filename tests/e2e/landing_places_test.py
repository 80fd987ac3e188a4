"""Landing wherever there is a repository, whatever the item is called, and many at once."""

import shlex
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness import DIBS, add_case, case, check, main
from landing_site import SITES, START_FILES, GitSite, LocalSite, check_landed, on_every_store, run_hint

NO_IDENTITY = {name: None for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")}


@on_every_store
def a_detached_head_lands_too(site):
    made = site.start("42")
    site.git("checkout", "-q", "--detach", cwd=made["path"])
    head = site.work(made)
    landed = site.reply("done", cwd=made["path"])
    check_landed(site, landed, made)
    check.equal(site.on_target("rev-parse", "main^2"), head)
    check.equal((landed["worktree_removed"], len(landed["notes"])), (False, 1), f"{landed}")
    check.contains(landed["notes"][0], "is on no branch")
    check.equal(run_hint(site, landed["notes"][0].replace("dibs worktree", f"{DIBS} worktree"), DIBS), 0)
    check.true(not Path(made["path"]).exists(), "the hint removes it")


@on_every_store
def work_done_in_the_main_worktree_lands_and_stays_there(site):
    site.git("checkout", "-q", "-b", "feature", cwd=site.root)
    taken = site.acquire("42")
    site.work({"path": site.root})
    landed = site.reply("done")
    check_landed(site, landed, taken)
    check.equal((landed["worktree_removed"], landed["path"]), (False, str(site.root)))
    check.equal(site.git("symbolic-ref", "--short", "HEAD", cwd=site.root), "feature")


@on_every_store
def a_worktree_where_something_else_is_held_stays(site):
    made = site.start("42")
    site.acquire("4", cwd=made["path"])
    site.work(made)
    check.contains(site.refusal(64, "done", cwd=made["path"])["message"], "2 items")
    landed = site.reply("done", "4", cwd=made["path"])
    check.equal(landed["worktree_removed"], False, "42 is still worked on there")
    check.true(Path(made["path"]).exists() and "dibs/42" in site.branches(), "the worktree of 42")
    site.work(made, "more")
    site.acquire("lock:x", cwd=made["path"])
    landed = site.reply("done", "42", cwd=made["path"])
    check.equal(landed["worktree_removed"], False, "a lock is held there")
    check.contains(str(landed["notes"]), "lock:x")


@on_every_store
def odd_ids_work(site):
    for n, item in enumerate(("a b", "ünï", "x/y", "..", "-x", "A", "a", "x.lock", "@{1}", "it's", "*")):
        made = site.run("start", "--json", "--", item).expect(0).json()
        check.equal(made["resource"], f"item:{item}")
        site.work(made, f"work-{n}")
        text = site.run("start", "--", item).expect(0).out
        place = shlex.split(text[text.index("next: cd "):].splitlines()[0])[2]
        check.equal(place, made["path"])
        check_landed(site, site.run("done", "--json", "--", item).expect(0).json(), made)
    check.equal((site.branches(), site.git("worktree", "list", cwd=site.root).count("\n")), ({"main"}, 0))
    check.equal(len(list(Path(f"{site.root}.worktrees").iterdir())), 0)


@on_every_store
def whoever_has_no_name_is_told_and_nothing_happens(site):
    site.git("config", "user.useConfigOnly", "true", cwd=site.root)
    made = site.start("42", env=NO_IDENTITY)
    site.work(made)
    before = site.state(made["path"])
    error = site.refusal(8, "done", cwd=made["path"], env=NO_IDENTITY)
    check.contains(error["hint"], "git config user.name")
    check.equal(site.state(made["path"]), before)
    site.write(Path(made["path"]) / "untracked", "x\n")
    gone = site.reply("abandon", "42", env=NO_IDENTITY)
    check.true(gone["rescue"], "work is kept without a name too")


def full_circle(site):
    for mode in ("merge", "rebase", "squash"):
        made = site.start(mode)
        site.work(made, mode)
        site.write(Path(made["path"]) / "left", "over\n")
        site.move_target(f"news-{mode}", "news\n")
        landed = site.reply("done", "--mode", mode, cwd=made["path"])
        check_landed(site, landed, made)
        site.reply("worktree", "rescue", "restore", landed["rescue"], str(site.dir / f"back-{mode}"))
        check.equal((site.dir / f"back-{mode}/left").read_text(), "over\n")


def sha256(make):
    with make(object_format="sha256") as site:
        full_circle(site)
        check.equal(len(site.target()), 64)


for each_kind, each_site in SITES.items():
    add_case(f"sha256 repositories work ({each_kind})", lambda make=each_site: sha256(make))


@case
def a_remote_by_a_relative_path_works():
    with GitSite(init=False) as site:
        site.git("remote", "set-url", "origin", "../remote.git", cwd=site.root)
        site.set_up(site)
        full_circle(site)


@case
def a_clone_that_has_only_the_remotes_branch_lands():
    for make in (GitSite, LocalSite):
        with make() as site:
            clone = site.dir / "fresh"
            site.git("clone", "-q", site.remote.path if make is GitSite else site.root, clone)
            site.git("checkout", "-q", "--detach", cwd=clone)
            site.git("branch", "-q", "-D", "main", cwd=clone)
            site.run("init", *(["--store", "git"] if make is GitSite else []), cwd=clone).expect(0)
            made = site.start("42", cwd=clone)
            site.work(made)
            landed = site.reply("done", cwd=made["path"])
            where = site.remote.path if make is GitSite else clone
            check.equal(site.git("rev-parse", "main", cwd=where), landed["landed_commit"])


@case
def a_bare_repository_is_a_place_to_land():
    with LocalSite() as site:
        bare = site.dir / "bare.git"
        site.git("clone", "-q", "--bare", site.root, bare)
        site.reply("init", cwd=bare)
        made = site.start("42", cwd=bare)
        site.work(made)
        landed = site.reply("done", cwd=made["path"])
        check.equal(site.git("rev-parse", "main", cwd=bare), landed["landed_commit"])


@on_every_store
def the_users_hooks_do_not_run_and_do_not_stop_a_landing(site):
    for hook in ("pre-push", "pre-commit", "commit-msg", "post-commit", "post-merge", "pre-merge-commit",
                 "post-checkout"):
        site.write(site.root / ".git/hooks" / hook, f"#!/bin/sh\ntouch {site.dir}/ran-{hook}\nexit 1\n")
        (site.root / ".git/hooks" / hook).chmod(0o755)
    made = site.start("42")
    site.write(Path(made["path"]) / "work", "work\n")
    site.git("-c", "core.hooksPath=/dev/null", "add", "-A", cwd=made["path"])
    site.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "work", cwd=made["path"])
    check_landed(site, site.reply("done", cwd=made["path"]), made)
    check.equal([path.name for path in site.dir.glob("ran-*")], [])


@case
def a_remote_that_is_gone_leaves_everything_as_it_was():
    with GitSite() as site:
        made = site.start("42")
        site.work(made)
        before = site.state(made["path"])
        site.remote.path.rename(site.dir / "away")
        for words in (["done"], ["abandon"], ["start", "43"]):
            site.refusal(11, *words, cwd=made["path"])
        (site.dir / "away").rename(site.remote.path)
        check.equal(site.state(made["path"]), before)
        check_landed(site, site.reply("done", cwd=made["path"]), made)


@case
def a_remote_that_refuses_the_target_leaves_everything_as_it_was():
    with GitSite() as site:
        made = site.start("42")
        site.work(made)
        before = site.state(made["path"])
        hook = site.remote.path / "hooks/update"
        site.write(hook, '#!/bin/sh\ntest "$1" != refs/heads/main || { echo protected >&2; exit 1; }\n')
        hook.chmod(0o755)
        site.refusal(8, "done", cwd=made["path"])
        check.equal(site.state(made["path"]), before)
        hook.unlink()
        check_landed(site, site.reply("done", cwd=made["path"]), made)


def all_land(site, made):
    """All at once, each from its own place: each lands exactly once and nothing is lost."""
    before = site.first_parents()
    for n, one in enumerate(made):
        site.write(Path(one["path"]) / "lines", START_FILES["lines"].replace(f"line {5 * n}\n", f"by {n}\n"))
        site.work(one, f"work-{n}", f"{n}\n")
    with ThreadPoolExecutor(len(made)) as pool:
        replies = list(pool.map(lambda n: site.run("done", "--json", cwd=made[n]["path"], agent=f"agent:{n}",
                                                   timeout=100), range(len(made))))
    check.equal([reply.code for reply in replies], [0] * len(made), "\n".join(map(repr, replies)))
    for n, one in enumerate(made):
        check_landed(site, replies[n].json(), one)
        check.equal(site.file_on_target(f"work-{n}"), str(n))
        check.true(set(replies[n].json()["notes"]) <= {"it landed together with others that waited"}, repr(replies[n]))
    landed = site.first_parents()
    check.equal(landed[len(made):], before, "what was there before")
    check.equal(set(landed[:len(made)]), {reply.json()["landed_commit"] for reply in replies})
    check.equal([line for line in site.file_on_target("lines").splitlines() if line.startswith("by")],
                [f"by {n}" for n in range(len(made))])
    check.equal(site.reply("claim", "list")["count"], 0)
    site.healthy()


@on_every_store
def eight_worktrees_landing_at_once_all_land(site):
    all_land(site, [site.start(f"item-{n}", agent=f"agent:{n}") for n in range(8)])
    check.equal(site.git("status", "--porcelain", cwd=site.root), "", "the user's checkout")
    check.equal(site.git("rev-parse", "main", cwd=site.root), site.target())
    check.equal(site.git("symbolic-ref", "--short", "HEAD", cwd=site.root), "main")


@case
def eight_clones_landing_at_once_all_land():
    with GitSite() as site:
        clones = [site.another_clone(f"clone-{n}") for n in range(8)]
        all_land(site, [clone.reply("start", f"item-{n}", agent=f"agent:{n}") for n, clone in enumerate(clones)])


if __name__ == "__main__":
    main()
