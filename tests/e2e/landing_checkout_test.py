"""Landing and the user's own checkout of the target branch: brought along where that loses nothing, else left alone."""

from harness import case, check, main
from landing_site import START_FILES, GitSite, LocalSite, check_landed, on_every_store, run_hint


@on_every_store
def a_clean_checkout_of_the_target_is_brought_along(site):
    made = site.start("42")
    site.work(made)
    site.work(made, "README", "better\n")
    site.git("rm", "-q", "other", cwd=made["path"])
    site.commit_all(made["path"])
    landed = site.reply("done", cwd=made["path"])
    check.equal(landed["notes"], [])
    check.equal(site.git("rev-parse", "HEAD", "main", cwd=site.root).split(), [landed["landed_commit"]] * 2)
    check.equal(site.git("status", "--porcelain", cwd=site.root), "")
    check.equal(((site.root / "README").read_text(), (site.root / "other").exists()), ("better\n", False))


@on_every_store
def changes_that_are_not_in_the_way_stay_where_they_are(site):
    made = site.start("42")
    site.work(made)
    site.write(site.root / "README", "mine\n")
    site.write(site.root / "other", "staged\n")
    site.git("add", "other", cwd=site.root)
    site.write(site.root / "untracked", "mine too\n")
    before = site.git("status", "--porcelain", cwd=site.root)
    landed = site.reply("done", cwd=made["path"])
    check.equal(landed["notes"], [])
    check.equal(site.git("rev-parse", "HEAD", cwd=site.root), landed["landed_commit"])
    check.equal(site.git("status", "--porcelain", cwd=site.root), before)
    check.equal([(site.root / name).read_text() for name in ("README", "other", "untracked", "work")],
                ["mine\n", "staged\n", "mine too\n", "work\n"])


@on_every_store
def changes_that_are_in_the_way_stay_and_the_note_says_what_to_do(site):
    made = site.start("42")
    site.work(made, "lines", START_FILES["lines"].replace("line 3\n", "landed\n"))
    mine = START_FILES["lines"].replace("line 30\n", "mine\n")
    site.write(site.root / "lines", mine)
    site.write(site.root / "README", "mine\n")
    before = site.git("status", "--porcelain", cwd=site.root)
    landed = site.reply("done", cwd=made["path"])
    check_landed(site, landed, made)
    check.equal((site.git("status", "--porcelain", cwd=site.root), (site.root / "lines").read_text()), (before, mine))
    check.equal(len(landed["notes"]), 1, f"{landed}")
    check.equal(run_hint(site, landed["notes"][0], "git -C"), 0, landed["notes"][0])
    check.equal((site.root / "lines").read_text(), mine.replace("line 3\n", "landed\n"))
    check.equal(site.git("rev-parse", "HEAD", cwd=site.root), landed["landed_commit"])
    check.equal(site.git("symbolic-ref", "--short", "HEAD", cwd=site.root), "main")
    check.equal(site.git("status", "--porcelain", cwd=site.root), before)


@on_every_store
def an_untracked_file_that_is_in_the_way_is_not_overwritten(site):
    made = site.start("42")
    site.work(made)
    site.write(site.root / "work", "precious\n")
    landed = site.reply("done", cwd=made["path"])
    check_landed(site, landed, made)
    check.equal((site.root / "work").read_text(), "precious\n")
    check.equal(len(landed["notes"]), 1, f"{landed}")
    check.equal(run_hint(site, landed["notes"][0], "git -C"), 0, landed["notes"][0])
    check.equal((site.git("symbolic-ref", "--short", "HEAD", cwd=site.root), (site.root / "work").read_text()), ("main", "work\n"))
    check.equal(site.git("rev-parse", "HEAD", cwd=site.root), landed["landed_commit"])
    check.contains(site.git("stash", "show", "--include-untracked", "-p", cwd=site.root), "+precious")


@on_every_store
def a_commit_in_a_checkout_left_behind_undoes_nothing(site):
    made = site.start("42")
    site.work(made, "lines", START_FILES["lines"].replace("line 3\n", "landed\n"))
    site.write(site.root / "lines", START_FILES["lines"].replace("line 30\n", "mine\n"))
    site.reply("done", cwd=made["path"])
    site.git("commit", "-q", "-a", "-m", "mine", cwd=site.root)
    check.contains(site.file_on_target("lines"), "landed")


@on_every_store
def a_target_that_is_checked_out_nowhere_just_moves(site):
    site.git("checkout", "-q", "--detach", cwd=site.root)
    made = site.start("42")
    head = site.git("rev-parse", "HEAD", cwd=site.root)
    site.work(made)
    landed = site.reply("done", cwd=made["path"])
    check_landed(site, landed, made)
    check.equal((landed["notes"], site.git("rev-parse", "HEAD", cwd=site.root)), ([], head))
    check.equal((site.git("status", "--porcelain", cwd=site.root), (site.root / "work").exists()), ("", False))
    check.equal(site.git("rev-parse", "main", cwd=site.root), landed["landed_commit"])


@on_every_store
def the_target_may_be_checked_out_in_another_worktree(site):
    site.git("checkout", "-q", "-b", "elsewhere", cwd=site.root)
    site.git("worktree", "add", "-q", site.dir / "on main", "main", cwd=site.root)
    made = site.start("42")
    site.work(made)
    landed = site.reply("done", cwd=made["path"])
    check.equal((landed["notes"], (site.dir / "on main/work").read_text()), ([], "work\n"))
    check.equal(site.git("status", "--porcelain", cwd=site.dir / "on main"), "")
    check.equal(site.git("symbolic-ref", "--short", "HEAD", cwd=site.root), "elsewhere")


@case
def a_target_of_ones_own_that_went_another_way_is_left_alone():
    with GitSite() as site:
        made = site.start("42")
        site.write(site.root / "mine", "mine\n")
        own = site.commit_all(site.root, "not pushed")
        site.work(made)
        check_landed(site, site.reply("done", cwd=made["path"]), made)
        check.equal(site.git("rev-parse", "main", "HEAD", cwd=site.root).split(), [own, own])


@case
def a_checkout_that_a_crash_left_behind_is_brought_along_by_done():
    with LocalSite() as site:
        made = site.start("42")
        site.work(made)
        site.work(made, "README", "better\n")
        site.reply("done", "--mode", "rebase", "--keep-worktree", cwd=made["path"])
        # As it is when the landing has happened and nothing after it.
        site.git("read-tree", "--reset", "-u", made["base"], cwd=site.root)
        site.write(site.root / "other", "mine\n")
        site.git("add", "other", cwd=site.root)
        again = site.reply("done", cwd=made["path"])
        check.equal((again["notes"], again["already_landed"]), ([], True))
        check.equal(site.git("status", "--porcelain", cwd=site.root), "M  other")
        check.equal((site.root / "README").read_text(), "better\n")


if __name__ == "__main__":
    main()
