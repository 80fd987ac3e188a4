"""`dibs done` killed at one system call after another: either it landed, with all that belongs to it, or nothing happened.

The next command needs no repair, and `done` again ends where it would have ended undisturbed. Three ways of dying:
  alone      dibs is killed; the git that it had started runs to its end
  together   dibs and everything that it had started
  git        the git that moves the target is killed, and dibs has to find out how far it got; the lock that it leaves is cleared by the
             next command. Only one that is still empty may stay, because it may be anybody's: it is named
"""

import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from harness import DIBS, HANG_SECS, Reply, check, check_chain, wait_until  # noqa: E402
from injection import calls_in, kill_at, needs_strace  # noqa: E402
from landing_site import START_FILES, GitSite, LocalSite, run_hint  # noqa: E402

CONTENDED = 12
DAY_SECS = "86400"

# What changes something on disk; the git that is killed at other calls has done nothing since.
GIT_CALLS = ("write", "rename", "unlink", "mkdir", "rmdir", "link", "close", "fsync", "exit_group")
KILLING_GIT = """#!/bin/sh
case " $* " in
*" update-ref -m dibs: "*)
  PATH={path} strace -f -qq {options} git "$@"
  code=$?
  test -e {dir}/too -a $code -gt 128 && kill -KILL $PPID
  exit $code ;;
esac
PATH={path} exec git "$@"
"""


def in_session(session):
    """The processes of a session that are still running."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(") ", 1)[1].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[3]) == session and fields[0] not in "ZX":
                found.append(int(entry.name))
    return found


class Stage:
    """A repository where one item is ready to land; put back as it was before every try."""

    def __init__(self, make=LocalSite):
        needs_strace()
        self.site, self.locks_left = make(), 0

    def __enter__(self):
        site = self.site
        # No lease may run out while a thousand tries go by.
        site.acquire("other", "--ttl", DAY_SECS, agent="agent:bystander")
        made = site.start("42", "--ttl", DAY_SECS)
        site.work(made, "README", "better\n")
        site.work(made)
        self.tree, self.words = Path(made["path"]), ["done", "42", "--json"]
        self.base = site.target()
        self.log = site.log_bytes()
        self.keep()
        self.before = site.state(self.tree)
        return self

    def __exit__(self, *why):
        self.site.__exit__(*why)

    def _places(self):
        return [self.site.root, self.tree.parent]

    def keep(self):
        """Restored is what there is now."""
        self._kept = self.site.dir / "kept"
        for path in self._places():
            shutil.copytree(path, self._kept / path.name, symlinks=True)

    def restore(self):
        for path in self._places():
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(self._kept / path.name, path, symlinks=True)

    def strace(self, options, env=None, reap=signal.SIGKILL):
        """The command under strace, and whatever it leaves behind ended (or waited for, without `reap`)."""
        process = self.site.spawn("strace", "-qq", *options, DIBS, *self.words, env=env, start_new_session=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        code = process.wait(timeout=HANG_SECS)
        for pid in in_session(process.pid) if reap else []:
            try:
                os.kill(pid, reap)
            except ProcessLookupError:
                pass
        wait_until(lambda: not in_session(process.pid), "what it had started to end")
        out, err = process.communicate(timeout=HANG_SECS)
        return Reply(self.words, code, out.decode(), err.decode("utf-8", "replace"))

    def calls(self):
        """(call, which one) of every system call that dibs itself makes undisturbed."""
        trace = self.site.dir / "trace"
        self.strace(["-o", str(trace)]).expect(0)
        self.restore()
        return calls_in(trace)

    def judge(self, reply):
        """After one try, however it ended."""
        site = self.site
        site.run("claim", "acquire", "next", agent="agent:two", timeout=20).expect(0)
        check.equal([str(lock) for lock in self.git_locks() if lock.stat().st_size > 0], [], "locks of the git that was killed")
        landed = site.target() != self.base
        check.equal(site.holder("42"), None if landed else "agent:one", f"landed: {landed}, and the lease")
        check.equal(site.holder("other"), "agent:bystander")
        if reply.code == 0:
            check.true(landed, "it was acknowledged and has not landed")
        if not landed:
            leases = [lease for lease in site.reply("claim", "list")["leases"] if lease["resource"] != "item:next"]
            check.equal({**site.state(self.tree), "leases": leases}, self.before, "nothing happened")
        again = self.again().json()
        check.equal((again["already_landed"], again["notes"], again["rescue"]), (landed, [], None))
        self.check_end(again)

    def git_locks(self):
        git = self.site.root / ".git"
        return [*git.glob("*.lock"), *(git / "refs").rglob("*.lock")]

    def again(self):
        """`done` once more. A git that was killed may have left an empty lock: then dibs says which, and what to do."""
        left = self.git_locks()
        reply = self.site.run(*self.words, timeout=20)
        if reply.code == CONTENDED and left:
            error = reply.error()
            check.contains(error["message"], f"{left[0]} exists")
            check.equal(run_hint(self.site, error["hint"], "rm "), 0)
            self.locks_left += 1
            reply = self.site.run(*self.words, timeout=20)
        return reply.expect(0)

    def check_end(self, again):
        site = self.site
        check.equal(site.first_parents()[1:], [self.base], "landed once")
        check.equal(site.target(), again["landed_commit"])
        check.equal((site.files_on_target(), site.file_on_target("README")), ({*START_FILES, "work"}, "better"))
        check.equal((site.holder("42"), site.branches(), self.tree.exists()), (None, {"main"}, False))
        check.equal(site.git("worktree", "list", cwd=site.root).count("\n"), 0)
        check.equal(site.git("status", "--porcelain", cwd=site.root), "", "the user's checkout")
        check.equal(site.git("symbolic-ref", "HEAD", cwd=site.root), "refs/heads/main")
        check.equal([op for op in site.ops("item:42") if op[0] == "land"], [("land", "agent:one")])
        check.true(site.log_bytes().startswith(self.log), "the log was rewritten")
        check_chain(site.log_bytes())
        check.true(not (site.store / "landing.json").exists(), "the landing is not finished")
        site.healthy()


class RemoteStage(Stage):
    """The same with leases and items on a git remote: one push moves all, and what is left is the clone's own."""

    def __init__(self):
        super().__init__(GitSite)

    def __enter__(self):
        site = self.site
        site.run("item", "add", "--batch", "-", stdin=b'{"id": "42", "title": "T"}').expect(0)
        return super().__enter__()

    def _places(self):
        return [*super()._places(), self.site.remote.path]

    def item_is_done(self, where):
        path = self.site.git("ls-tree", "-r", "--name-only", "refs/dibs/items", cwd=where)
        return json.loads(self.site.git("show", f"refs/dibs/items:{path}", cwd=where))["state"] == "done"

    def judge(self, reply):
        site = self.site
        landed = site.target() != self.base
        check.equal(self.item_is_done(site.remote.path), landed, f"landed: {landed}, and the item is done")
        check.equal(site.holder("42"), None if landed else "agent:one", f"landed: {landed}, and the lease")
        if reply.code == 0:
            check.true(landed, "it was acknowledged and has not landed")
        again = self.again().json()
        check.equal((again["already_landed"], again["notes"], again["rescue"]), (landed, [], None))
        check.equal(site.first_parents()[1], self.base, "landed once")
        check.equal((site.files_on_target(), site.file_on_target("README")), ({*START_FILES, "work"}, "better"))
        check.equal((site.holder("42"), site.branches(), self.tree.exists()), (None, {"main"}, False))
        check.true(self.item_is_done(site.remote.path), "the item on the remote")
        check.true(self.item_is_done(site.root), "the item in the clone")
        site.healthy()


def each(stage, tries, run):
    failed = []
    for name, number in tries:
        try:
            stage.restore()
            stage.judge(run(name, number))
        except AssertionError as error:
            failed.append(f"killed at {name} number {number}: {error}")
    check.true(not failed, f"{len(failed)} of {len(tries)}:\n" + "\n".join(failed[:5]))


def kill_dibs(every, together, stage=Stage):
    """At every `every`-th system call of dibs itself."""
    with stage() as stage:
        each(stage, stage.calls()[::every], lambda name, number: stage.strace(
            kill_at(name, number), reap=signal.SIGKILL if together else None))
        check.true(together or stage.locks_left == 0, f"{stage.locks_left} locks were left")


def kill_git(every, dibs_too):
    """At every `every`-th call that counts of the git that moves the target."""
    with Stage() as stage:
        place = stage.site.dir / "killing"
        place.mkdir()
        if dibs_too:
            (place / "too").touch()
        env = {"PATH": f"{place}:{stage.site.env['PATH']}"}

        def with_git(options):
            (place / "git").write_text(KILLING_GIT.format(dir=place, path=stage.site.env["PATH"], options=options))
            (place / "git").chmod(0o755)
            return stage.site.run(*stage.words, env=env)

        trace = stage.site.dir / "trace"
        with_git(f"-o {trace} -e trace=?{',?'.join(GIT_CALLS)}").expect(0)
        counts = collections.Counter(re.findall(r"^\d+ +(\w+)\(", trace.read_text(), re.M))
        check.true(counts["rename"] > 0, f"it moves no ref: {counts}")
        tries = [(name, number) for name in GIT_CALLS for number in range(1, counts[name] + 1)]
        # Those at which its lock is there and has its value must be among them, however few are tried.
        chosen = [one for at, one in enumerate(tries) if at % every == 0 or one[0] in ("rename", "fsync")]
        each(stage, chosen, lambda name, number: with_git(f"-o /dev/null -e inject={name}:signal=KILL:when={number}"))
