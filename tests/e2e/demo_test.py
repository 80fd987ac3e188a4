#!/usr/bin/env python3
"""`dibs demo`: a whole project done by workers, and a proof that would have noticed."""

import demo_cases
from harness import case, main

case(demo_cases.a_demo_is_proven_and_leaves_nothing)
case(demo_cases.one_item_will_do)
case(demo_cases.a_demo_that_is_interrupted_leaves_nothing)

if __name__ == "__main__":
    main()
