"""A command that is stopped (SIGSTOP) while it holds a lock of its clone: others wait, but not for ever, and are told who it is.

They wait for a minute; the cases run at once.
"""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from harness import DIBS, Repo, case, check, main, wait_until  # noqa: E402
from remote import Remote  # noqa: E402

UNREACHABLE = 11
PATIENCE_SECS = 200  # a hang guard
HOLD = """
import fcntl, sys, time
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(1000)
"""


def stopped_holder(repo, path):
    """A process that has the lock and does not go on."""
    holder = repo.spawn(sys.executable, "-c", HOLD, path, stdout=subprocess.PIPE)
    check.equal(holder.stdout.readline(), b"held\n")
    os.kill(holder.pid, signal.SIGSTOP)
    return holder


def others_are_told(repo, path):
    holder = stopped_holder(repo, path)
    error = repo.refusal(UNREACHABLE, "claim", "acquire", "42", timeout=PATIENCE_SECS)
    check.contains(error["message"], f"process {holder.pid} keeps {path} locked")
    check.contains(error["hint"], f"kill -CONT {holder.pid}")
    holder.kill()
    holder.wait()
    repo.acquire("42")


def on_a_git_store():
    with Remote(clones=1) as remote:
        clone = remote.clones[0]
        others_are_told(clone, clone.store / "locks/remote-origin.lock")


def on_a_local_store():
    with Repo() as repo:
        others_are_told(repo, repo.store / "locks/claims.lock")


def a_push_that_is_stopped():
    """dibs itself, stopped while its push is under way."""
    with Remote(clones=1) as remote:
        clone = remote.clones[0]
        hook = Path(remote.path) / "hooks/pre-receive"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {remote.dir}/pushing\nwhile test ! -e {remote.dir}/go; do sleep 0.05; done\n")
        hook.chmod(0o755)
        first = clone.spawn(DIBS, "claim", "acquire", "1", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_until((remote.dir / "pushing").exists, "the push")
        os.kill(first.pid, signal.SIGSTOP)
        (remote.dir / "go").touch()
        error = clone.refusal(UNREACHABLE, "claim", "status", "2", timeout=PATIENCE_SECS)
        check.contains(error["message"], f"process {first.pid} keeps ")
        os.kill(first.pid, signal.SIGCONT)
        check.equal(first.wait(timeout=60), 0)
        clone.acquire("2", agent="agent:two")


@case
def whoever_waits_for_a_stopped_process_is_told():
    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(each) for each in (on_a_git_store, on_a_local_store, a_push_that_is_stopped)]:
            done.result()


if __name__ == "__main__":
    main()
