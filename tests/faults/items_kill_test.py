"""Whoever moves refs/dibs/items killed: dibs itself, or for many items its git, with dibs or without. The next change goes on, and a git that is
alive is left alone."""

import os
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from harness import DIBS, Repo, case, check, main, wait_until  # noqa: E402
from injection import needs_strace  # noqa: E402
from item_clones import Clones, add, items_of  # noqa: E402

CONTENDED = 12
SLOW_SECS = 3
MANY = 40
KILL_AT_RENAME = "-e inject=rename:signal=KILL -P {lock}"
SLOW_RENAME = f"-e inject=rename:delay_enter={SLOW_SECS * 1_000_000} -P {{lock}}"


def killed_at_rename(lock):
    """What dibs is run under to be killed when the lock is about to become the ref."""
    return ["strace", "-f", "-qq", "-o", "/dev/null", *KILL_AT_RENAME.format(lock=lock).split()]


class Site(Repo):
    """A repository with one item, and a git that does as told when it moves the items."""

    def __init__(self):
        needs_strace()
        super().__init__(commit=True)
        self.first = self.reply("item", "add", "first")["id"]
        self.folder = self.dir / "bad"
        self.folder.mkdir()
        self.lock = self.root / ".git/refs/dibs/items.lock"
        self.many = self.dir / "many"  # so many that git writes them
        self.many.write_text("".join(f'{{"title":"many {n}"}}\n' for n in range(MANY)))

    def bad_git(self, options, dibs_too=False, command="fast-import"):
        """The environment in which that command of git is traced with these options."""
        path = self.env["PATH"]
        (self.folder / "git").write_text(f"""#!/bin/sh
            case " $* " in *" {command} "*)
              echo $PPID > {self.folder}/dibs
              PATH={path} strace -f -qq -o {self.folder}/trace {options.format(lock=self.lock)} git "$@"
              code=$?
              test {int(dibs_too)} = 1 -a $code -gt 128 && kill -KILL $PPID
              exit $code;;
            esac
            PATH={path} exec git "$@"
            """)
        (self.folder / "git").chmod(0o755)
        return {"PATH": f"{self.folder}:{path}"}

    def worked_on(self):
        """The first item started, with work to land; its worktree."""
        tree = Path(self.reply("start", self.first)["path"])
        (tree / "f").write_text("work\n")
        self.git("add", "-A", cwd=tree)
        self.git("commit", "-q", "-m", "work", cwd=tree)
        return tree

    def titles(self):
        return sorted(item["title"] for item in items_of(self).values())


@case
def the_lock_of_a_killed_git_is_cleared_by_the_next_change():
    for dibs_too in (False, True):
        for change in (("item", "add", "third"), ("item", "close", None), ("done", None)):
            with Site() as repo:
                killed = repo.run("item", "add", "--batch", repo.many, env=repo.bad_git(KILL_AT_RENAME, dibs_too))
                check.true(killed.code != 0, str(killed))
                check.true(repo.lock.stat().st_size > 0, "git left its lock")
                if change[0] == "done":
                    repo.reply("done", cwd=repo.worked_on())
                else:
                    repo.reply(*(word or repo.first for word in change))
                check.true(not repo.lock.exists(), "the lock is still there")
                check.equal(repo.titles(), ["first", "third"] if change[1] == "add" else ["first"])
                repo.git("fsck", "--strict", cwd=repo.root)


@case
def the_lock_of_a_killed_dibs_is_cleared_by_the_next_change():
    with Site() as repo:
        killed = repo.run("item", "add", "second", prefix=killed_at_rename(repo.lock))
        check.true(killed.code != 0, str(killed))
        check.true(repo.lock.stat().st_size > 0, "dibs left its lock")
        repo.reply("item", "add", "third")
        check.true(not repo.lock.exists(), "the lock is still there")
        check.equal(repo.titles(), ["first", "third"])
        repo.git("fsck", "--strict", cwd=repo.root)


@case
def a_landing_that_was_killed_does_not_keep_the_items_locked():
    for dibs_too in (False, True):
        with Site() as repo:
            tree = repo.worked_on()
            repo.run("done", cwd=tree, env=repo.bad_git("-e inject=rename:signal=KILL", dibs_too, "update-ref -m dibs:"))
            check.true(not dibs_too or repo.lock.stat().st_size > 0, "git left its lock")
            repo.reply("item", "add", "second")
            check.equal(repo.titles(), ["first", "second"])
            repo.reply("done", cwd=tree)
            check.equal({item["title"]: item["state"] for item in items_of(repo).values()}, {"first": "done", "second": "ready"})


@case
def a_lock_that_may_be_a_living_gits_stays_and_is_named():
    with Site() as repo:
        repo.spawn("git", "cat-file", "--batch", stdin=subprocess.PIPE)
        tip = repo.git("rev-parse", "refs/dibs/items", cwd=repo.root).strip()
        follows = repo.git("commit-tree", f"{tip}^{{tree}}", "-p", tip, "-m", "by hand", cwd=repo.root).strip()
        for text in (f"{follows}\n", "no commit\n", ""):
            repo.lock.write_text(text)
            error = repo.refusal(CONTENDED, "item", "add", "second")
            check.contains(error["message"], f"{repo.lock} exists")
            check.contains(error["hint"], f"rm {repo.lock}")
            check.equal(repo.lock.read_text(), text)
        repo.lock.unlink()
        repo.reply("item", "add", "second")


@case
def a_git_that_goes_on_alone_is_waited_for():
    """dibs is killed while its git is about to move the items. The next change finds the lock, and must not take it for a dead one."""
    with Site() as repo:
        env = repo.bad_git(SLOW_RENAME)
        adding = repo.spawn(DIBS, "item", "add", "--batch", repo.many, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_until(lambda: repo.lock.exists() and repo.lock.stat().st_size > 0, "git is about to move the items")
        os.kill(int((repo.folder / "dibs").read_text()), signal.SIGKILL)
        adding.wait()
        repo.reply("item", "add", "third")
        check.equal(repo.titles(), sorted(["first", "third", *(f"many {n}" for n in range(MANY))]))


@case
def a_sync_goes_on_after_whoever_moved_the_items_was_killed():
    """Without items of its own a clone moves to what it fetched, which dibs does itself; otherwise git makes the merge."""
    needs_strace()
    for own_change in (False, True):
        with Clones(clones=2) as remote:
            one, two = remote.clones
            add(one, "first")
            one.reply("item", "sync")
            two.reply("item", "sync")
            add(one, "second")
            one.reply("item", "sync")
            if own_change:
                add(two, "third")
            lock = two.root / ".git/refs/dibs/items.lock"
            two.run("item", "sync", prefix=killed_at_rename(lock))
            check.true(lock.exists() and lock.stat().st_size > 0, "the lock was left")
            two.reply("item", "sync")
            check.true(not lock.exists(), "the lock is still there")
            remote.sync_twice()
            check.equal(len(remote.all_alike()), 3 if own_change else 2)


if __name__ == "__main__":
    main()
