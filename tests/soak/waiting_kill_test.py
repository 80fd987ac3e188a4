"""Kill -9 of one who waits in line, at every system call."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))

from waiting_kill import kill_in_line  # noqa: E402

from harness import add_case, main  # noqa: E402

add_case("killed at every system call of a wait, in line and when it is served", lambda: kill_in_line(1))

if __name__ == "__main__":
    main()
