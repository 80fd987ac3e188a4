"""Kill -9 of a run, at every system call of its dispatcher."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))

from run_kill import KILLS, kill  # noqa: E402

from harness import add_case, main  # noqa: E402

for name, stage in KILLS.items():
    add_case(f"killed at every system call: {name}", lambda make=stage: kill(make(), 1))

if __name__ == "__main__":
    main()
