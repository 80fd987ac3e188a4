"""The remote is killed in the middle of a push, at one system call after another: what dibs says must be so.

git is told to reach the remote through a wrapper that runs receive-pack under strace, which kills it (or whichever child makes
the call) where we want. A claim that was acknowledged must be there; one that was not may be there or not, but whoever
looks must see which.
"""

import collections
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from harness import check  # noqa: E402
from injection import needs_strace  # noqa: E402
from remote import Remote  # noqa: E402

UNKNOWN, CONTENDED = 11, 12


class Wrapper:
    """Stands between the client's git and receive-pack."""

    def __init__(self, remote, clone):
        self.remote, self.script, self.trace = remote, remote.dir / "receive-pack", remote.dir / "trace"
        clone.git("config", "remote.origin.receivepack", self.script, cwd=clone.root)
        self.options("")

    def options(self, options):
        self.script.write_text(f"#!/bin/sh\nexec strace -f -qq {options} git-receive-pack \"$@\" 2>>{self.remote.dir}/said\n")
        self.script.chmod(0o755)

    def count(self, clone):
        """How often an undisturbed claim makes each call on the remote's side, in the process that makes most of them."""
        self.options(f"-o {self.trace}")
        clone.acquire("undisturbed")
        calls = collections.Counter(re.findall(r"^(\d+) +(\w+)\(", self.trace.read_text(), re.M))
        most = collections.Counter()
        for (_, name), count in calls.items():
            most[name] = max(most[name], count)
        return most


def remove_locks(remote):
    """What the message tells a person to do after a crash on the remote."""
    for lock in remote.path.rglob("*.lock"):
        lock.unlink()


def system_calls(layout):
    """Names of all that a push makes on the remote's side."""
    needs_strace()
    with Remote(clones=1, layout=layout) as remote:
        return sorted(Wrapper(remote, remote.clones[0]).count(remote.clones[0]))


def kill_at(call, layout="refs"):
    needs_strace()
    with Remote(clones=2, layout=layout) as remote:
        victim, onlooker = remote.clones
        wrapper = Wrapper(remote, victim)
        count = wrapper.count(victim)[call]
        check.true(count > 0, f"a push makes no {call}")
        for k in range(1, count + 1):
            kill_once(remote, wrapper, victim, onlooker, call, k)


def kill_once(remote, wrapper, victim, onlooker, call, k):
    name, where = f"{call}-{k}", f"killed at {call} number {k}"
    # The count goes by process, so the k-th call of any of them: each is hit at its own k-th.
    wrapper.options(f"-o /dev/null -e inject={call}:signal=KILL:when={k}")
    reply = victim.run("claim", "acquire", name, "--json", agent="agent:victim")
    check.true(reply.code in (0, UNKNOWN, CONTENDED, 8), f"{where}: {reply!r}")
    wrapper.options("-o /dev/null -e trace=none")
    holder = onlooker.holder(name)
    check.true(holder in (None, "agent:victim"), f"{where}: held by {holder}")
    check.true(reply.code != 0 or holder == "agent:victim", f"{where}: acknowledged, and not there")
    remove_locks(remote)
    # Whoever asks next gets a straight answer, and only one of the two.
    again = onlooker.run("claim", "acquire", name, "--json", agent="agent:other")
    check.equal(again.code, 3 if holder else 0, f"{where}: {again!r}")
    check.equal(subprocess.run(["git", "fsck", "--connectivity-only"], cwd=remote.path, env=remote.env,
                               capture_output=True, check=False).returncode, 0, where)
