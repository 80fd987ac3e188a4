"""A thousand power cuts in the middle of everything. Takes about an hour."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))

from power_loss import cut_the_power  # noqa: E402

from harness import add_case, main  # noqa: E402

add_case("what was acknowledged is there after a thousand power cuts", lambda: cut_the_power(cycles=1000, seed=2))

if __name__ == "__main__":
    main()
