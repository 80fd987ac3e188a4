"""A counter that a lease guards, with holders that are paused past their ttl: with fencing no acknowledged increment is lost, without it
some are. soak/guarded_counter_test.py counts further."""

from guarded_counter import with_and_without_fencing

from harness import add_case, main

for each in ("local", "refs"):
    add_case(f"no acknowledged increment is lost, and without fencing some are ({each})",
             lambda layout=each: with_and_without_fencing(layout, rounds=2))

if __name__ == "__main__":
    main()
