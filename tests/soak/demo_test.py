#!/usr/bin/env python3
"""More of `dibs demo`, which takes its time."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

import demo_cases  # noqa: E402
from harness import case, main  # noqa: E402

case(demo_cases.one_worker_alone_will_do)
case(demo_cases.off_a_terminal_it_is_told_in_lines)
case(demo_cases.what_is_kept_says_the_same_as_the_proof)
case(demo_cases.without_a_compiler_it_says_so)
case(demo_cases.work_that_lands_behind_its_back_is_found)
case(demo_cases.a_branch_that_somebody_leaves_behind_is_found)
case(demo_cases.on_a_terminal_it_fits_80_by_24)

if __name__ == "__main__":
    main()
