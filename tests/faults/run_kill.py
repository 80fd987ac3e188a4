"""`dibs run` killed at one system call after another: the dispatcher alone, while its steps and its commands go on.

Whoever comes next needs to know nothing of it. Another run, or `recover` and then a run, lands each item exactly once and leaves no worktree,
branch, process or lease of either. The same holds for a run, or a `recover`, that is killed while it clears up after a run that was.
"""

import contextlib
import os
import signal
import subprocess

from injection import kill_at
from landing_kill import Stage, each

from harness import DIBS, HANG_SECS, Reply, check, check_chain, wait_until
from run_site import WORK, LocalRunSite

NAMES = ("a", "b", "c")
NOTHING_READY = 6
# Does what it should, and leaves a process that is out of its group.
LEAVING = f"setsid sleep 1000 > /dev/null 2>&1 & {WORK}"
RUN = ["run", "--json", "--workers", "2", "--", "sh", "-c", LEAVING]
RECOVER = ["recover", "--json"]


def end_processes(site):
    for pid in site.processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not site.processes(), "its processes to be gone")


class RunStage(Stage):
    """A repository with a few items. `killed` is the command that is killed, `after` what is given then: a run in the end."""

    def __init__(self, killed=RUN, after=(RUN,)):
        super().__init__(LocalRunSite)
        self.words, self.after, self.kills = killed, after, 0

    def __enter__(self):
        site = self.site
        site.add(*NAMES)
        (site.dir / "repo.worktrees").mkdir()
        self.prepare(site)
        self.log = site.log_bytes()
        self.keep()
        return self

    def prepare(self, site):
        pass

    def _places(self):
        return [self.site.root, self.site.dir / "repo.worktrees"]

    def restore(self):
        end_processes(self.site)  # of a try that went wrong
        super().restore()

    def __exit__(self, *why):
        end_processes(self.site)
        super().__exit__(*why)

    def strace(self, options):
        """Nothing that it leaves behind is waited for: the next command meets it."""
        process = self.site.spawn("strace", "-qq", *options, DIBS, *self.words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = process.communicate(timeout=HANG_SECS)
        self.kills += process.returncode == -signal.SIGKILL
        return Reply(self.words, process.returncode, out.decode(), err.decode("utf-8", "replace"))

    def judge(self, reply):
        site = self.site
        site.reply("claim", "acquire", "lock:next", agent="agent:two")
        site.reply("claim", "release", "lock:next", agent="agent:two")
        for words in self.after:
            again = site.run(*words)
            check.true(again.code in (0, NOTHING_READY), f"what came next: {again!r}")
            check.absent(again.err, "warning", "what came next")
            site.check_nothing_left()
        check.equal(site.check_ends(NAMES), set(NAMES), "landed")
        check.true(site.log_bytes().startswith(self.log), "the log was rewritten")
        check_chain(site.log_bytes())
        check.equal(site.git("status", "--porcelain", cwd=site.root), "", "the user's checkout")
        site.git("fsck", "--connectivity-only", cwd=site.root)
        site.healthy()


class RemainsStage(RunStage):
    """There was a run before, killed while two commands had something half done."""

    def prepare(self, site):
        run = site.begin_run("--workers", 2, script=f"echo half > half; touch {site.dir}/up-$DIBS_ITEM; sleep 1000")
        wait_until(lambda: len(list(site.dir.glob("up-*"))) == 2, "two commands")
        run.kill()
        run.wait()
        end_processes(site)  # what is put back has none

    def judge(self, reply):
        super().judge(reply)
        site = self.site
        kept = [rescue["name"] for rescue in site.rescues()
                if "half" in site.git("ls-tree", "--name-only", rescue["commit"], cwd=site.root).split()]
        check.equal(len(kept), 2, f"work that is kept: {kept}")


def kill(stage, every):
    """At every `every`-th system call of the command itself."""
    with stage:
        tries = stage.calls()[::every]
        each(stage, tries, lambda name, number: stage.strace(kill_at(name, number)))
        # How often it looks depends on how long its children take, and how much there is to see on how many processes the machine has:
        # it may be through before the last.
        check.true(stage.kills >= 0.5 * len(tries), f"only {stage.kills} of {len(tries)} were killed")


KILLS = {
    "a run, and the next run goes on": lambda: RunStage(),
    "a run, and recover clears up": lambda: RunStage(after=(RECOVER, RUN)),
    "a run that clears up after another": lambda: RemainsStage(),
    "recover after a run": lambda: RemainsStage(killed=RECOVER),
}
