"""EIO, ENOSPC and EINTR at every system call, writes that are cut short and too few descriptors, for the commands that
faults/errno_test.py leaves out."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))

import injection  # noqa: E402,F401  (puts the harness on the path)
from failing_calls import add_failures, add_limits  # noqa: E402
from kill_scenarios import MORE, SCENARIOS  # noqa: E402

from harness import main  # noqa: E402

WRITERS = {"downgrade", "upgrade", "heartbeat", "force-evict", "acquire of three"}  # of a line, which can be cut short

for one in [*SCENARIOS, *MORE]:
    if one.name == "acquire of three" or one in MORE:
        add_failures(one)
    if one.name in WRITERS:
        add_limits(one)

if __name__ == "__main__":
    main()
