"""`next --claim`, asked by 64 processes at once over 1,000 items with dependencies."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))

from next_race import each_once  # noqa: E402

from harness import case, main  # noqa: E402


@case
def sixty_four_agents_get_a_thousand_items_once_each():
    each_once(items=1000, workers=64)


if __name__ == "__main__":
    main()
