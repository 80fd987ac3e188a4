"""The remote is killed at every system call of a push, on every layout."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))

from remote_kill import kill_at, system_calls

from harness import add_case, main


def kill_everywhere(layout):
    for call in system_calls(layout):
        kill_at(call, layout)


for each in ("refs", "branches", "lock-branch"):
    add_case(f"the remote is killed at every system call on {each}", lambda layout=each: kill_everywhere(layout))

if __name__ == "__main__":
    main()
