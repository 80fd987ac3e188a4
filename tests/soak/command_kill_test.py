"""Kill -9 at every system call of the commands that start git."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))

from command_kill import ITEMS, SETTINGS, TREES, kill  # noqa: E402
from exchange_kill import EXCHANGE  # noqa: E402

from harness import add_case, main  # noqa: E402

for each in [*TREES, *ITEMS, *SETTINGS, *EXCHANGE]:
    for together in (False, True):
        add_case(f"killed at every system call of {each.name}, and its git {'with it' if together else 'goes on'}",
                 lambda command=each, both=together: kill(command, 1, both))

if __name__ == "__main__":
    main()
