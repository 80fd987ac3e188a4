"""A hundred zombies of every kind, and none of them lands."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))

from zombie import STOPS, show_many  # noqa: E402

from harness import add_case, main  # noqa: E402

ROUNDS = 100

for each_layout, stops in STOPS.items():
    for moment, each_stop in stops.items():
        add_case(f"{ROUNDS} workers stopped {moment} do not land ({each_layout})",
                 lambda layout=each_layout, stop=each_stop: show_many(layout, stop, ROUNDS))

if __name__ == "__main__":
    main()
