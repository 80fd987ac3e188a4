"""A counter that a lease guards, with holders that are paused past their ttl, on every layout; faults/guarded_counter_test.py has the
short one."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))

from guarded_counter import with_and_without_fencing  # noqa: E402
from zombie import STOPS  # noqa: E402

from harness import add_case, main  # noqa: E402

ROUNDS = 50

for each in STOPS:
    add_case(f"no acknowledged increment is lost in {ROUNDS} rounds, and without fencing some are ({each})",
             lambda layout=each: with_and_without_fencing(layout, ROUNDS))

if __name__ == "__main__":
    main()
