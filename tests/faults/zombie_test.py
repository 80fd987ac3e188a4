"""Zombies are refused: five of each kind here, a hundred in soak/zombie_test.py."""

import os
from pathlib import Path

from zombie import STOPS, check_landed_all_the_same, show, show_many

from harness import Skip, add_case, main

ROUNDS = 5
UNFENCED = Path(os.environ.get("DIBS_TOOLS", "")).resolve() / "unfenced_dibs"


def without_the_fence(layout, stop):
    """The same worker, the same moment, and no comparison of the lease: it lands. If it did not, the cases above would show nothing."""
    if not UNFENCED.is_file():
        raise Skip(f"there is no {UNFENCED}: set DIBS_TOOLS")
    show(layout, stop, taker_lands=False, program=str(UNFENCED), judge=check_landed_all_the_same)


for each_layout, stops in STOPS.items():
    for moment, each_stop in stops.items():
        add_case(f"a worker stopped {moment} does not land ({each_layout})",
                 lambda layout=each_layout, stop=each_stop: show_many(layout, stop, ROUNDS))
        if moment != "before done":  # there the rule refuses it, before any step that counts
            add_case(f"without the fence a worker stopped {moment} lands ({each_layout})",
                     lambda layout=each_layout, stop=each_stop: without_the_fence(layout, stop))

if __name__ == "__main__":
    main()
