"""A hundred processes, ten thousand operations each, on a few hundred items; and 32 clones of a git remote, five hundred each, on layout
refs, a tenth of that on the others: no violation, no lost increment.

The million takes about 25 minutes on two cores with the release build.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))

from races import local_race, remote_race  # noqa: E402

from harness import add_case, main  # noqa: E402

CLONES = 32

add_case("a hundred processes, ten thousand times each", lambda: local_race(workers=100, operations=10_000, items=256))
for each, times in {"refs": 500, "branches": 50, "lock-branch": 50}.items():
    add_case(f"{CLONES} clones of a remote, {times} times each, on {each}",
             lambda layout=each, count=times: remote_race(CLONES, CLONES, count, items=16, layout=layout))

if __name__ == "__main__":
    main()
