"""Twenty power cuts in the middle of everything; soak/power_loss_test.py has a thousand."""

from power_loss import cut_the_power

from harness import add_case, main

add_case("what was acknowledged is there after twenty power cuts", lambda: cut_the_power(cycles=20, seed=1))

if __name__ == "__main__":
    main()
