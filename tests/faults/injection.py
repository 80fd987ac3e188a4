"""Runs one dibs command under strace, which kills it or fails a system call of our choice, and restores the store before each run."""

import collections
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from harness import DIBS, HANG_SECS, Reply, Skip, needs  # noqa: E402


def needs_strace():
    needs("strace")
    if subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True).returncode != 0:
        raise Skip("processes cannot be traced here")


class Bench:
    """A repository whose store can be put back as it was, and one command to ill-treat."""

    def __init__(self, repo, words, agent="agent:one"):
        self.repo, self.words, self.agent = repo, words, agent
        self._kept = repo.dir / "kept"
        shutil.rmtree(self._kept, ignore_errors=True)
        shutil.copytree(repo.store, self._kept)

    def restore(self):
        shutil.rmtree(self.repo.store)
        shutil.copytree(self._kept, self.repo.store)

    def keep_nothing(self):
        """From now on the store is put back as it is before `init`."""
        shutil.rmtree(self._kept)
        self._kept.mkdir()

    def system_calls(self):
        """How often the undisturbed command makes each system call."""
        trace = self.repo.dir / "trace"
        self.restore()
        self._strace(["-o", str(trace)]).expect(0)
        lines = [re.sub(r"^\d+ +", "", line) for line in trace.read_text().splitlines()]
        counts = collections.Counter(line.split("(")[0] for line in lines if "(" in line)
        del counts["execve"], counts["exit_group"]  # before the one there is no dibs, after the other none any more
        self.restore()
        return counts

    def inject(self, *faults):
        """The command, with each of `faults` as in `write:error=EIO:when=2`."""
        self.restore()
        return self._strace(["-o", "/dev/null", *[f"--inject={fault}" for fault in faults]])

    def limited(self, limit, most):
        """The command with no more than so much of a resource; writing more is an error then, and no signal."""
        self.restore()
        done = subprocess.run([DIBS, *self.words, "--json"], cwd=self.repo.root, env=self.repo.environment(self.agent),
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=HANG_SECS, restore_signals=False,
                              preexec_fn=lambda: resource.setrlimit(limit, (most, most)))
        return Reply(self.words, done.returncode, done.stdout.decode(), done.stderr.decode("utf-8", "replace"))

    def _strace(self, options):
        done = subprocess.run(["strace", "-f", "-qq", *options, DIBS, *self.words, "--json"], cwd=self.repo.root,
                              env=self.repo.environment(self.agent), stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=HANG_SECS)
        return Reply(self.words, done.returncode, done.stdout.decode(), done.stderr.decode("utf-8", "replace"))


def acknowledged(reply):
    """The answer, if the whole of it came through."""
    return reply.json() if reply.out.endswith("}\n") else None


def calls_in(trace):
    """(call, which one of its kind) of every system call in the trace of one process, in order."""
    seen, numbers = [], collections.Counter()
    for name in re.findall(r"^(\w+)\(", trace.read_text(), re.M):
        numbers[name] += 1
        if name not in ("execve", "exit_group"):  # before the one there is no dibs, after the other none any more
            seen.append((name, numbers[name]))
    return seen


def kill_at(name, number):
    """What strace is told for it."""
    return ["-o", "/dev/null", f"--inject={name}:signal=KILL:when={number}"]
