"""Items that several clones have: sync with a remote, the merge of what two of them changed, and git's merges by field."""

import json
import re
import shutil
import subprocess

from harness import DIBS, Repo, case, check, main
from item_clones import Clones, add, items_of

UNREACHABLE = 11
NOT_SET_UP = 10


def listed(clone):
    return {item["id"] for item in clone.reply("item", "list", "--limit", "1000")["items"]}


@case
def an_empty_remote_gets_the_items_and_other_clones_get_them_from_there():
    with Clones(clones=2) as remote:
        one, two = remote.clones
        check.equal(one.reply("item", "sync"), {"schema_version": 1, "remote": "origin", "pulled": 0, "pushed": 0,
                                                "merged": 0})
        first = add(one, "First")
        check.equal(one.reply("item", "sync")["pushed"], 1)
        check.equal(two.reply("item", "sync")["pulled"], 1)
        check.equal(listed(two), {first})
        check.contains(two.run("item", "sync").expect(0).out, "synced with origin: 0 items pulled, 0 items pushed")


@case
def changes_of_one_item_in_two_clones_come_together():
    with Clones(clones=2) as remote:
        one, two = remote.clones
        name = add(one, "Fix login", "--label", "a", "--label", "b", "--body", "how\nwhat\nwhy")
        remote.sync_twice()
        one.reply("item", "update", name, "--label", "c", "--remove-label", "a", "--body", "HOW\nwhat\nwhy")
        one.reply("item", "comment", name, "from one")
        two.reply("item", "update", name, "--label", "d", "--priority", "0", "--body", "how\nwhat\nwhy not")
        two.reply("item", "comment", name, "from two")
        check.equal(sum(end["merged"] for end in remote.sync()), 1)
        remote.sync()
        item = remote.all_alike()[name]
        check.equal(item["labels"], ["b", "c", "d"])
        check.equal(item["body"], "HOW\nwhat\nwhy not")
        check.equal(item["priority"], 0)
        check.equal([comment["text"] for comment in item["comments"]], ["from one", "from two"])
        check.equal(one.reply("item", "show", name)["labels"], ["b", "c", "d"])
        revisions = one.reply("item", "history", name)["revisions"]
        check.true(len(revisions) >= 5, f"the history of both is there: {revisions}")


@case
def clones_that_both_began_have_the_items_of_both():
    with Clones(clones=2) as remote:
        one, two = remote.clones
        names = {add(one, "Of one"), add(two, "Of two")}
        for clone in remote.clones:
            clone.run("item", "add", "--batch", "-", stdin=json.dumps(
                {"id": "same", "title": "Same", "labels": [clone.root.name]}).encode()).expect(0)
        remote.sync_twice()
        items = remote.all_alike()
        check.equal(set(items), names | {"same"})
        check.equal(sorted(items["same"]["labels"]), ["clone-0", "clone-1"])


@case
def a_remote_that_is_gone_is_exit_11_and_nothing_is_lost():
    with Clones(clones=1) as remote:
        (one,) = remote.clones
        name = add(one, "Still here")
        shutil.move(remote.path, remote.dir / "away")
        error = one.refusal(UNREACHABLE, "item", "sync")
        check.contains(error["message"], "the remote origin cannot be read")
        check.equal(error["hint"], "see whether git reaches it: git ls-remote origin")
        check.equal(set(items_of(one)), {name})
        shutil.move(remote.dir / "away", remote.path)
        check.equal(one.reply("item", "sync")["pushed"], 1)


@case
def a_remote_that_is_not_configured_is_said_to_be():
    with Repo(commit=True) as repo:
        error = repo.refusal(NOT_SET_UP, "item", "sync", "--remote", "nowhere")
        check.equal(error["message"], "this repository has no remote nowhere")


@case
def with_the_local_store_items_are_synced_when_told_to():
    with Clones(clones=0, sync="auto") as remote:
        one, two = (remote.clone(name, init=False) for name in ("one", "two"))
        for clone in (one, two):
            clone.run("init").expect(0)
        name = add(one, "By hand")
        check.absent(remote.refs(), "refs/dibs/items")
        one.reply("item", "sync")
        check.equal(listed(two), set())
        two.reply("item", "sync")
        check.equal(listed(two), {name})


@case
def another_prefix_is_where_the_items_are():
    with Clones(clones=0) as remote:
        one, two = (remote.clone(name, init=False) for name in ("one", "two"))
        for clone in (one, two):
            clone.run("init").expect(0)
            clone.run("config", "set", "store.ref_prefix", "refs/heads/dibs/").expect(0)
        name = add(one, "On a branch")
        one.reply("item", "sync")
        two.reply("item", "sync")
        check.equal(listed(two), {name})
        check.contains(remote.git("for-each-ref", "--format=%(refname)", cwd=remote.path), "refs/heads/dibs/items")
        check.absent(two.git("for-each-ref", "--format=%(refname)", "refs/remotes", cwd=two.root), "dibs")


@case
def by_itself_a_change_is_sent_and_a_look_is_taken():
    with Clones(clones=2, sync="auto") as remote:
        one, two = remote.clones
        now = {"DIBS_ITEMS_SYNC_SECS": "0"}
        name = add(one, "Seen at once")
        check.contains(remote.refs(), "refs/dibs/items")
        check.equal({item["id"] for item in two.reply("ready", env=now)["items"]}, {name})
        two.reply("item", "comment", name, "seen")
        listing = one.reply("item", "list", env=now)["items"]
        check.equal([comment["text"] for comment in items_of(one)[name]["comments"]], ["seen"])
        check.equal(len(listing), 1)
        other = add(two, "Taken there", "--priority", "0")
        urgent = now | {"DIBS_SCHEDULE_OLDEST_EVERY": "0"}  # one pick in sixteen would be the oldest
        check.equal(one.reply("next", "--claim", env=urgent)["item"]["id"], other)


@case
def a_look_is_not_taken_again_while_the_last_is_recent():
    with Clones(clones=2, sync="auto") as remote:
        one, two = remote.clones
        check.equal(listed(two), set())
        add(one, "Later")
        check.equal(listed(two), set(), "within items.sync_secs")
        check.equal(len(two.reply("item", "list", env={"DIBS_ITEMS_SYNC_SECS": "0"})["items"]), 1)


@case
def a_change_that_cannot_be_sent_is_made_and_sent_later():
    with Clones(clones=2, sync="auto") as remote:
        one, two = remote.clones
        first = add(one, "First")
        shutil.move(remote.path, remote.dir / "away")
        reply = one.run("item", "comment", first, "offline", "--json").expect(0)
        check.true(any("not on origin yet" in warning for warning in reply.warnings()), repr(reply))
        check.equal([c["text"] for c in items_of(one)[first]["comments"]], ["offline"])
        shutil.move(remote.dir / "away", remote.path)
        second = add(one, "Second")
        check.equal(listed(two), {first, second})
        check.equal([c["text"] for c in items_of(two)[first]["comments"]], ["offline"])


def race(remote, each):
    """`each` makes the commands of the n-th clone; all clones run theirs at once, one after the other."""
    running = [subprocess.Popen(["sh", "-ec", "\n".join(each(n))], cwd=clone.root, env=remote.environment(agent=f"agent:{n}"),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
               for n, clone in enumerate(remote.clones)]
    for process in running:
        out, err = process.communicate(timeout=300)
        check.equal(process.returncode, 0, f"{out!r} {err!r}")


@case
def of_three_clones_that_change_and_sync_at_once_nothing_is_lost_or_there_twice():
    rounds = 4
    with Clones(clones=3) as remote:
        shared = add(remote.clones[0], "Shared")
        remote.sync_twice()

        def each(n):
            for i in range(rounds):
                yield f"{DIBS} item add 'new {n} {i}' --quiet"
                yield f"{DIBS} item update {shared} --label l-{n}-{i} --quiet"
                yield f"{DIBS} item comment {shared} 'said {n} {i}' --quiet"
                yield f"{DIBS} item sync --quiet"

        race(remote, each)
        remote.sync_twice()
        items = remote.all_alike()
        wanted = [(n, i) for n in range(3) for i in range(rounds)]
        check.equal(sorted(item["title"] for item in items.values()),
                    sorted(["Shared", *(f"new {n} {i}" for n, i in wanted)]))
        check.equal(sorted(items[shared]["labels"]), sorted(f"l-{n}-{i}" for n, i in wanted))
        said = [comment["text"] for comment in items[shared]["comments"]]
        check.equal(sorted(said), sorted(f"said {n} {i}" for n, i in wanted))
        for clone in remote.clones:
            check.equal(listed(clone), set(items))


@case
def many_processes_of_two_clones_that_sync_by_themselves_lose_nothing():
    workers, rounds = 4, 3
    with Clones(clones=2, sync="auto") as remote:
        shared = add(remote.clones[0], "Shared")

        def each(n):
            for worker in range(workers):
                steps = "; ".join(f"{DIBS} item add 'new {n} {worker} {i}' --quiet && "
                                  f"{DIBS} item list --quiet && "
                                  f"{DIBS} item comment {shared} 'said {n} {worker} {i}' --quiet" for i in range(rounds))
                yield f"({steps}) & pids=\"$pids $!\""
            yield "for pid in $pids; do wait $pid; done"

        remote.clones[1].reply("item", "sync")
        remote.env["DIBS_ITEMS_SYNC_SECS"] = "0"
        race(remote, each)
        remote.sync_twice()
        items = remote.all_alike()
        wanted = [f"{n} {worker} {i}" for n in range(2) for worker in range(workers) for i in range(rounds)]
        check.equal(sorted(item["title"] for item in items.values()), sorted(["Shared", *(f"new {w}" for w in wanted)]))
        check.equal(sorted(comment["text"] for comment in items[shared]["comments"]), sorted(f"said {w}" for w in wanted))


class Tree(Repo):
    """A repository with one file of items in its tree, and the merge driver installed as the help says."""

    def __init__(self, path=".dibs/items/a.json"):
        super().__init__(init=False, commit=True)
        self.path = path
        self.git("config", "merge.dibs.name", "items, by field", cwd=self.root)
        self.git("config", "merge.dibs.driver", f"{DIBS} merge-driver %O %A %B %P", cwd=self.root)
        help_text = self.run("merge-driver", "--help").expect(0).out
        attributes = re.findall(r"echo '(.*)' >> .gitattributes", help_text)
        (self.root / ".gitattributes").write_text("".join(f"{line}\n" for line in attributes))
        (self.root / path).parent.mkdir(parents=True)

    def change(self, text, message):
        (self.root / self.path).write_text(text)
        self.git("add", "-A", cwd=self.root)
        self.git("commit", "-q", "-m", message, cwd=self.root)

    def item(self, **members):
        base = {"schema_version": 1, "id": "a", "title": "A", "labels": ["x"], "updated_at": "2026-01-01T00:00:00Z"}
        return "{\n" + ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in (base | members).items()) + "\n}\n"

    def merge(self, ours, theirs, base=None):
        """Both versions on a branch each, merged: git's exit code."""
        self.change(self.item() if base is None else base, "base")
        self.git("checkout", "-q", "-b", "theirs", cwd=self.root)
        self.change(theirs, "theirs")
        self.git("checkout", "-q", "main", cwd=self.root)
        self.change(ours, "ours")
        return subprocess.run(["git", "merge", "-q", "--no-edit", "theirs"], cwd=self.root, env=self.env,
                              capture_output=True, text=True, timeout=60)


@case
def git_merges_items_in_the_tree_by_field():
    with Tree() as repo:
        done = repo.merge(repo.item(labels=["x", "o"], title="Ours", updated_at="2026-01-02T00:00:00Z"),
                          repo.item(labels=["t"], title="Theirs", updated_at="2026-01-03T00:00:00Z", extra=[1]))
        check.equal(done.returncode, 0, done.stdout + done.stderr)
        item = json.loads((repo.root / repo.path).read_text())
        check.equal((item["labels"], item["title"], item["extra"]), (["o", "t"], "Theirs", [1]))
        check.equal(repo.git("status", "--porcelain", cwd=repo.root), "")


@case
def what_cannot_be_merged_by_field_is_a_conflict_as_git_leaves_it():
    with Tree() as repo:
        done = repo.merge("{ broken\n", repo.item(title="Theirs"))
        check.equal(done.returncode, 1, done.stdout + done.stderr)
        check.contains(done.stderr, "our version cannot be read")
        text = (repo.root / repo.path).read_text()
        for part in ("<<<<<<< ours", "{ broken", "=======", '"Theirs"', ">>>>>>> theirs"):
            check.contains(text, part)
        check.equal(repo.git("ls-files", "-u", "--", repo.path, cwd=repo.root).count("\n"), 2, "stages 1 to 3")


def issue(number, **members):
    base = {"id": f"bd-{number}", "title": f"T{number}", "status": "open", "priority": 2, "issue_type": "task",
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}
    return json.dumps(base | members, separators=(",", ":")) + "\n"


@case
def git_merges_issues_of_beads_line_by_line():
    with Tree(".beads/issues.jsonl") as repo:
        base = "".join(issue(n, labels=["x"]) for n in range(1, 4))
        ours = (issue(1, labels=["x", "o"], updated_at="2026-01-02T00:00:00Z") + issue(2, labels=["x"], assignee="bo")
                + issue(3, labels=["x"]) + issue(4))
        theirs = (issue(1, labels=["x", "t"], updated_at="2026-01-03T00:00:00Z", design="d") + issue(2, labels=["x"], notes="n")
                  + issue(3, labels=["x"]) + issue(5))
        done = repo.merge(ours, theirs, base)
        check.equal(done.returncode, 0, done.stdout + done.stderr)
        check.equal((repo.root / repo.path).read_text(),
                    issue(1, updated_at="2026-01-03T00:00:00Z", labels=["x", "o", "t"], design="d")
                    + issue(2, labels=["x"], assignee="bo", notes="n") + issue(3, labels=["x"]) + issue(4) + issue(5))
        check.equal(repo.git("status", "--porcelain", cwd=repo.root), "")


@case
def issues_that_clash_are_both_kept_and_told():
    with Tree(".beads/issues.jsonl") as repo:
        done = repo.merge(issue(1, design="ours") + issue(2), issue(1, design="theirs", notes="n") + issue(3),
                          issue(1, design="d"))
        check.equal(done.returncode, 1, done.stdout + done.stderr)
        check.contains(done.stderr, "bd-1 (design)")
        check.equal((repo.root / repo.path).read_text(),
                    "<<<<<<< ours\n" + issue(1, design="ours", notes="n") + "=======\n" + issue(1, design="theirs", notes="n")
                    + ">>>>>>> theirs\n" + issue(2) + issue(3))
        check.equal(repo.git("ls-files", "-u", "--", repo.path, cwd=repo.root).count("\n"), 2, "stages 1 to 3")


@case
def git_merges_tasks_of_aitasks_by_key_and_line():
    with Tree("aitasks/t1/t1_2_fix.md") as repo:
        text = "---\nstatus: Ready\n{}created_at: 2026-01-01 10:00\n---\n\n{}One\nTwo\n{}".format
        done = repo.merge(text("labels: [x, o] # l\nassigned_to: al\n", "Zero\n", ""),
                          text("labels: [x, t]\nassigned_to: bo\n", "", "Three\n"),
                          text("labels: [x]\nassigned_to: al\n", "", ""))
        check.equal(done.returncode, 0, done.stdout + done.stderr)
        check.equal((repo.root / repo.path).read_text(), text("labels: [x, o, t] # l\nassigned_to: bo\n", "Zero\n", "Three\n"))


if __name__ == "__main__":
    main()
