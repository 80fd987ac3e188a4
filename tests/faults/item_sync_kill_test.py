"""`item sync` killed at any moment, with the git that it runs or without: the next one goes on, and no item is lost or there twice."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from harness import DIBS, case, check, main  # noqa: E402
from item_clones import Clones, add  # noqa: E402

ROUNDS = 20
LONGEST_SECS = 0.25  # a sync takes about as long


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def children_of(process):
    out = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True).stdout
    return [int(pid) for pid in out.split()]


@case
def a_sync_that_is_killed_with_its_git_loses_nothing():
    chance = random.Random(1)
    with Clones(clones=2) as remote:
        titles = []
        for number in range(ROUNDS):
            for clone in remote.clones:
                titles.append(f"{clone.root.name} {number}")
                add(clone, titles[-1])
            syncing = [remote.spawn(DIBS, "item", "sync", cwd=clone.root, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL) for clone in remote.clones]
            time.sleep(chance.random() * LONGEST_SECS)
            for process in syncing:
                running = children_of(process) if number % 2 else []
                process.kill()
                for pid in running:
                    kill(pid)
            for process in syncing:
                process.wait()
            for clone in remote.clones:
                # For the fraction of a millisecond in which it is empty, whose it is only a person can tell.
                lock = clone.root / ".git/refs/dibs/items.lock"
                if lock.exists() and lock.stat().st_size == 0:
                    lock.unlink()
        remote.sync_twice()
        check.equal(sorted(item["title"] for item in remote.all_alike().values()), sorted(titles))


if __name__ == "__main__":
    main()
