"""Items as folders on the target branch: docs/work/{category}/{state}/{item}/, moved by commits there."""

import subprocess

from harness import DIBS, Repo, case, check, main
from remote import Remote

WAY = ["inanalysis", "readyfordevelopment", "indevelopment", "readyfortesting", "intesting", "signedoff", "archive/production"]


class Folders(Repo):
    def __init__(self, files):
        super().__init__(commit=True)
        for name, text in files.items():
            self.put(name, text)
        self.git("add", "-A", cwd=self.root)
        self.git("commit", "-q", "-m", "work", cwd=self.root)
        self.run("config", "set", "items.source", "folders").expect(0)

    def put(self, name, text, at=None):
        path = (at or self.root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    def on_main(self):
        """The files that the target branch has."""
        return self.git("ls-tree", "-r", "--name-only", "main", cwd=self.root).splitlines()

    def objects(self, ref="main"):
        """Mode and object of every file by its name, without its folders."""
        lines = self.git("ls-tree", "-r", ref, cwd=self.root).splitlines()
        return {line.rsplit("/", 1)[-1]: line.split("\t")[0] for line in lines}

    def clean(self, cwd=None):
        return self.git("status", "--porcelain", cwd=cwd or self.root) == ""

    def ids(self, *command):
        return [item["id"] for item in self.reply(*command)["items"]]


@case
def work_goes_all_the_way_from_new_to_the_archive():
    files = {"docs/work/new/lostmypassword/notes.md": "I lost it\r\n", "docs/work/new/lostmypassword/shot.png": b"\0\xff",
             "docs/work/newfeatures/next/.gitkeep": "", "docs/work/README.md": "how we work\n"}
    with Folders(files) as repo:
        before = repo.objects()
        check.equal(repo.reply("item", "show", "lostmypassword")["state"], "new")
        stamped = repo.reply("item", "stamp")
        check.equal(stamped["count"], 1)
        item = stamped["stamped"][0]["id"]
        check.true(item.startswith("lostmypassword-") and len(item) == len("lostmypassword-") + 8, item)
        check.true(f"docs/work/stamped/{item}/shot.png" in repo.on_main(), repo.on_main())
        repo.reply("item", "update", item, "--state", "next", "--type", "newfeatures")
        for state in WAY:
            check.equal(repo.reply("item", "update", item, "--state", state)["state"], state)
            check.true(f"docs/work/newfeatures/{state}/{item}/notes.md" in repo.on_main(), repo.on_main())
            check.true(repo.clean(), "the checkout follows")
        check.equal(repo.objects(), before, "no file changed on the way")
        check.true((repo.root / f"docs/work/newfeatures/archive/production/{item}/shot.png").is_file(), "in the checkout")
        check.equal(repo.git("log", "-1", "--format=%an %s", "main", cwd=repo.root),
                    f"agent:one becomes archive/production: {item}")
        check.equal(repo.ids("item", "list"), [])
        check.equal(len(repo.reply("item", "history", item)["revisions"]), len(WAY) + 3)


@case
def an_illegal_move_names_the_legal_ones():
    with Folders({"docs/work/bugs/next/a-1/README.md": "# A\n"}) as repo:
        tip = repo.git("rev-parse", "main", cwd=repo.root)
        error = repo.refusal(8, "item", "update", "a-1", "--state", "signedoff")
        check.contains(error["hint"], "readyforanalysis, inanalysis, pending")
        check.equal(repo.git("rev-parse", "main", cwd=repo.root), tip)


@case
def only_the_holder_moves_it():
    with Folders({"docs/work/bugs/next/a-1/README.md": "# A\n"}) as repo:
        repo.acquire("a-1")
        error = repo.refusal(3, "item", "update", "a-1", "--state", "inanalysis", agent="agent:two")
        check.contains(error["message"], "a-1 is held by agent:one")
        repo.reply("item", "update", "a-1", "--state", "inanalysis")
        check.equal(repo.on_main(), ["docs/work/bugs/inanalysis/a-1/README.md"])


@case
def what_has_waited_goes_back_to_where_it_was():
    with Folders({"docs/work/bugs/intesting/a-1/README.md": "# A\n"}) as repo:
        repo.reply("item", "update", "a-1", "--state", "pending")
        check.equal(repo.on_main(), ["docs/work/bugs/pending/a-1/README.md"])
        repo.reply("item", "update", "a-1", "--state", "intesting")
        check.equal(repo.on_main(), ["docs/work/bugs/intesting/a-1/README.md"])
        check.equal((repo.root / "docs/work/bugs/intesting/a-1/README.md").read_text(), "# A\n")


@case
def every_worktree_sees_a_move_at_once_and_unfinished_edits_stay():
    with Folders({"docs/work/bugs/next/a-1/README.md": "# A\n", "docs/work/bugs/next/b-1/README.md": "# B\n",
                  "code.c": "int x;\n"}) as repo:
        other = repo.worktree("other")
        repo.put("code.c", "int y;\n")
        repo.put("scratch", "mine")
        repo.reply("item", "update", "a-1", "--state", "inanalysis", cwd=other)
        check.equal(repo.reply("item", "show", "a-1")["state"], "inanalysis")
        check.equal(repo.git("status", "--porcelain", cwd=repo.root).split(), ["M", "code.c", "??", "scratch"])
        check.equal((repo.root / "code.c").read_text(), "int y;\n")
        check.true((repo.root / "docs/work/bugs/inanalysis/a-1/README.md").is_file(), "the checkout of main follows")
        check.true((other / "docs/work/bugs/next/a-1/README.md").is_file(), "a branch of its own stays")
        check.true(repo.clean(other), "and is clean")


@case
def many_agents_move_at_once_and_no_move_is_lost():
    count = 6
    files = {f"docs/work/bugs/next/i-{n}/README.md": f"# {n}\n" for n in range(count)}
    with Folders(files) as repo:
        running = [repo.spawn(DIBS, "item", "update", f"i-{n}", "--state", "inanalysis", "--json", agent=f"agent:{n}",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) for n in range(count)]
        for process in running:
            out, err = process.communicate()
            check.equal(process.returncode, 0, f"{out} {err}")
        check.equal(repo.on_main(), sorted(f"docs/work/bugs/inanalysis/i-{n}/README.md" for n in range(count)))
        check.equal(repo.git("rev-list", "--count", "main", cwd=repo.root), str(2 + count))
        check.true(repo.clean(), "the checkout follows all of them")


@case
def two_agents_that_move_the_same_item_do_not_both_win():
    with Folders({"docs/work/bugs/readyfortesting/a-1/README.md": "# A\n"}) as repo:
        running = [repo.spawn(DIBS, "item", "update", "a-1", "--state", state, "--json", agent=f"agent:{state}",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) for state in ("intesting", "pending")]
        for process in running:
            process.communicate()
        codes = sorted(process.returncode for process in running)
        # One after the other: pending is reached by way of intesting, or first, and then intesting is out of reach.
        check.true(codes in ([0, 8], [0, 0]), codes)
        check.equal(repo.on_main(), ["docs/work/bugs/pending/a-1/README.md"])


@case
def done_moves_the_folder_in_the_step_that_lands_the_work():
    with Folders({"docs/work/bugs/readyfordevelopment/a-1/README.md": "# A\n"}) as repo:
        started = repo.reply("start", "a-1")
        place = started["path"]
        repo.put("code.c", "int x;\n", at=repo.dir / place)
        repo.put("docs/work/bugs/readyfordevelopment/a-1/report.md", "went well\n", at=repo.dir / place)
        repo.git("add", "-A", cwd=place)
        repo.git("commit", "-q", "-m", "the work", cwd=place)
        landed = repo.reply("done", cwd=place)
        check.equal(landed["item_state"], "readyfortesting")
        check.equal(landed["landed_commit"], repo.git("rev-parse", "main", cwd=repo.root))
        check.equal(repo.on_main(), ["code.c", "docs/work/bugs/readyfortesting/a-1/README.md",
                                     "docs/work/bugs/readyfortesting/a-1/report.md"])
        check.equal(repo.git("reflog", "show", "--format=%gs", "main", cwd=repo.root).count("dibs: "), 1, "one move of main")
        check.true(repo.clean(), "the checkout follows")
        check.equal(repo.holder("a-1"), None)
        check.equal(repo.reply("item", "show", "a-1")["state"], "readyfortesting")


@case
def work_that_moved_its_own_folder_is_not_moved_on():
    with Folders({"docs/work/bugs/readyfordevelopment/a-1/README.md": "# A\n"}) as repo:
        place = repo.reply("start", "a-1")["path"]
        repo.git("mv", "docs/work/bugs/readyfordevelopment", "docs/work/bugs/readyfortesting", cwd=place)
        repo.git("commit", "-q", "-m", "the work", cwd=place)
        check.equal(repo.reply("done", cwd=place)["item_state"], "readyfortesting")
        check.equal(repo.on_main(), ["docs/work/bugs/readyfortesting/a-1/README.md"])
        check.equal(repo.git("log", "-1", "--format=%s", "main", cwd=repo.root), "Land item:a-1")


@case
def what_the_work_put_where_the_item_lay_before_goes_along():
    old = "docs/work/bugs/readyfordevelopment/a-1"
    for mode in ("merge", "rebase", "squash"):
        with Folders({f"{old}/README.md": "# A\n\nText.\n", f"{old}/notes.md": "1\n2\n3\n"}) as repo:
            place = repo.dir / repo.reply("start", "a-1")["path"]
            repo.reply("item", "update", "a-1", "--state", "indevelopment", cwd=place)
            repo.put(f"{old}/report.md", "went well\n", at=place)
            repo.put(f"{old}/notes.md", "1\n2\n3\n4\n", at=place)
            repo.git("add", "-A", cwd=place)
            repo.git("commit", "-q", "-m", "the work", cwd=place)
            check.equal(repo.reply("done", "--mode", mode, cwd=place)["item_state"], "readyfortesting")
            new = "docs/work/bugs/readyfortesting/a-1"
            check.equal(repo.on_main(), [f"{new}/README.md", f"{new}/notes.md", f"{new}/report.md"], mode)
            check.equal((repo.root / f"{new}/notes.md").read_text(), "1\n2\n3\n4\n")
            check.true(repo.clean(), "the checkout follows")


@case
def stamp_takes_what_it_is_told_and_dependencies_follow():
    with Folders({"docs/work/new/one.md": "# One\n", "docs/work/new/two/README.md": "# Two\n",
                  "docs/work/new/known-b5c6d7e8/README.md": "# Known\n", "docs/work/bugs/next/a-1/README.md": "# A\n"}) as repo:
        error = repo.refusal(8, "item", "stamp", "a-1")
        check.contains(error["message"], "a-1 is next, and only what is new is stamped")
        repo.reply("item", "dep", "add", "known", "one")
        repo.acquire("two", agent="agent:two")
        repo.refusal(3, "item", "stamp", "two")
        one = repo.reply("item", "stamp", "one")["stamped"][0]["id"]
        check.equal(repo.reply("item", "show", "known")["depends_on"], [one])
        repo.reply("claim", "release", "two", agent="agent:two")
        rest = {entry["was"]: entry["id"] for entry in repo.reply("item", "stamp")["stamped"]}
        check.equal(sorted(rest), ["known-b5c6d7e8", "two"])
        check.equal(rest["known-b5c6d7e8"], "known-b5c6d7e8")
        check.equal([name for name in repo.on_main() if "/new/" in name], [])
        check.equal(repo.reply("item", "stamp")["count"], 0)
        check.true(repo.clean(), "the checkout follows")


@case
def stamp_is_for_folders_alone():
    with Repo(commit=True) as repo:
        error = repo.refusal(8, "item", "stamp")
        check.contains(error["hint"], "dibs config set items.source folders")


@case
def what_is_broken_is_named_and_everything_else_goes_on():
    files = {"docs/work/bugs/next/good/README.md": "# Good\n", "docs/work/bugs/nxet/lost/README.md": "# Lost\n",
             "docs/work/bugs/next/open/README.md": "---\npriority: high\n",
             "docs/work/bugs/next/twice/README.md": "# 1\n", "docs/work/features/next/twice/README.md": "# 2\n"}
    with Folders(files) as repo:
        listing = repo.reply("item", "list")
        check.equal([item["id"] for item in listing["items"]], ["good"])
        broken = {entry["file"]: entry["line"] for entry in listing["broken"]}
        check.equal(broken, {"docs/work/bugs/nxet/lost": 0, "docs/work/bugs/next/open/README.md": 1,
                             "docs/work/bugs/next/twice/README.md": 0, "docs/work/features/next/twice/README.md": 0})
        check.equal(repo.reply("next", "--claim")["item"]["id"], "good")
        repo.reply("item", "update", "good", "--state", "inanalysis")
        check.equal(sorted(set(files) - set(repo.on_main())), ["docs/work/bugs/next/good/README.md"])


class FoldersOnRemote(Remote):
    """Clones of one remote, whose target branch has the work."""

    def __init__(self, files, clones=2):
        super().__init__(clones)
        first = self.clones[0]
        for name, text in files.items():
            Folders.put(first, name, text)
        first.git("add", "-A", cwd=first.root)
        first.git("commit", "-q", "-m", "work", cwd=first.root)
        first.git("push", "-q", "origin", "main", cwd=first.root)
        for clone in self.clones:
            clone.run("config", "set", "items.source", "folders").expect(0)
            clone.git("pull", "-q", cwd=clone.root)

    def on_main(self):
        return self.git("ls-tree", "-r", "--name-only", "main", cwd=self.path).splitlines()


@case
def on_a_git_store_a_move_is_made_on_the_remote_and_seen_by_all():
    with FoldersOnRemote({"docs/work/bugs/next/a-1/README.md": "# A\n", "docs/work/new/b.md": "# B\n"}) as remote:
        one, two = remote.clones
        one.reply("item", "update", "a-1", "--state", "inanalysis")
        check.equal(remote.on_main(), ["docs/work/bugs/inanalysis/a-1/README.md", "docs/work/new/b.md"])
        check.true((one.root / "docs/work/bugs/inanalysis/a-1/README.md").is_file(), "its checkout follows")
        check.equal(one.git("status", "--porcelain", "--branch", cwd=one.root), "## main...origin/main")
        # The other has not looked since: what it writes comes after, and by then it knows.
        stamped = two.reply("item", "stamp")["stamped"][0]["id"]
        check.equal(remote.on_main(), ["docs/work/bugs/inanalysis/a-1/README.md", f"docs/work/stamped/{stamped}.md"])
        check.equal(two.reply("item", "show", "a-1")["state"], "inanalysis")
        seen = one.reply("ready", env={"DIBS_ITEMS_SYNC_SECS": "0"})["items"]
        check.equal([item["id"] for item in seen], [stamped])


@case
def on_a_git_store_a_move_that_became_illegal_meanwhile_is_refused():
    with FoldersOnRemote({"docs/work/bugs/next/a-1/README.md": "# A\n"}) as remote:
        one, two = remote.clones
        one.reply("item", "update", "a-1", "--state", "pending")
        check.equal(two.reply("item", "show", "a-1")["state"], "next", "it has not looked since")
        two.refusal(8, "item", "update", "a-1", "--state", "inanalysis")
        check.equal(remote.on_main(), ["docs/work/bugs/pending/a-1/README.md"])


@case
def on_a_git_store_done_moves_the_folder_in_the_push_that_lands_the_work():
    with FoldersOnRemote({"docs/work/bugs/readyfordevelopment/a-1/README.md": "# A\n"}) as remote:
        one, two = remote.clones
        place = one.reply("start", "a-1")["path"]
        Folders.put(one, "code.c", "int x;\n", at=one.dir / place)
        one.git("add", "-A", cwd=place)
        one.git("commit", "-q", "-m", "the work", cwd=place)
        landed = one.reply("done", cwd=place)
        check.equal(landed["item_state"], "readyfortesting")
        check.equal(landed["landed_commit"], remote.git("rev-parse", "main", cwd=remote.path))
        check.equal(remote.on_main(), ["code.c", "docs/work/bugs/readyfortesting/a-1/README.md"])
        check.equal(one.reply("item", "show", "a-1")["state"], "readyfortesting")
        check.equal(one.git("status", "--porcelain", "--branch", cwd=one.root), "## main...origin/main")


@case
def on_a_git_store_clones_that_move_at_once_all_get_through():
    count = 4
    files = {f"docs/work/bugs/next/i-{n}/README.md": f"# {n}\n" for n in range(count)}
    with FoldersOnRemote(files, clones=count) as remote:
        running = [clone.spawn(DIBS, "item", "update", f"i-{n}", "--state", "inanalysis", "--json", agent=f"agent:{n}",
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE) for n, clone in enumerate(remote.clones)]
        for process in running:
            out, err = process.communicate()
            check.equal(process.returncode, 0, f"{out} {err}")
        check.equal(remote.on_main(), sorted(f"docs/work/bugs/inanalysis/i-{n}/README.md" for n in range(count)))


@case
def on_a_git_store_nothing_changes_when_the_remote_is_away():
    with FoldersOnRemote({"docs/work/bugs/next/a-1/README.md": "# A\n"}) as remote:
        one = remote.clones[0]
        tip = one.git("rev-parse", "main", "origin/main", cwd=one.root)
        remote.path.rename(remote.dir / "away.git")
        error = one.refusal(11, "item", "update", "a-1", "--state", "inanalysis")
        check.contains(error["message"], "origin cannot be read")
        check.equal(one.git("rev-parse", "main", "origin/main", cwd=one.root), tip)


@case
def on_a_git_store_a_branch_that_is_protected_says_so():
    with FoldersOnRemote({"docs/work/bugs/next/a-1/README.md": "# A\n"}) as remote:
        hook = remote.path / "hooks/update"
        hook.write_text("#!/bin/sh\ncase $1 in refs/heads/main) echo protected >&2; exit 1;; esac\n")
        hook.chmod(0o755)
        error = remote.clones[0].refusal(8, "item", "update", "a-1", "--state", "inanalysis")
        check.contains(error["message"], "main of origin did not move")
        check.equal(remote.on_main(), ["docs/work/bugs/next/a-1/README.md"])


@case
def items_go_there_and_back_again():
    files = {"docs/work/bugs/next/a-1/README.md": "---\npriority: high # now\nodd: {a: 1}\n---\n# A\n\nText.\n",
             "docs/work/new/b.md": "no heading"}
    with Folders(files) as repo:
        repo.reply("item", "export", "--to", "json", str(repo.dir / "all.jsonl"))
        repo.run("config", "set", "items.source", "native").expect(0)
        work = repo.root / "docs/work"
        check.equal(repo.reply("item", "import", "--from", "folders", str(work))["added"], 2)
        repo.reply("item", "export", "--to", "folders", str(repo.dir / "out"))
        for name, text in files.items():
            check.equal((repo.dir / "out" / name.removeprefix("docs/work/")).read_text(), text)
        made = repo.reply("item", "add", "Fix login", "--type", "bug")["id"]
        repo.reply("item", "export", "--to", "json", str(repo.dir / "more.jsonl"))
        repo.run("config", "set", "items.source", "folders").expect(0)
        repo.reply("item", "import", "--from", "json", str(repo.dir / "more.jsonl"))
        check.equal(repo.reply("item", "show", made)["title"], "Fix login")
        check.equal(repo.reply("item", "show", "b")["body"], "no heading")
        check.equal(repo.git("rev-list", "--count", "main", cwd=repo.root), "3", "all in one commit")


if __name__ == "__main__":
    main()
