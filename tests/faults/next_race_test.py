"""`next --claim`, asked by many at once: each item goes to one, and none before what it depends on."""

from next_race import each_once

from harness import case, main


@case
def sixteen_agents_get_a_hundred_items_once_each():
    each_once(items=100, workers=16)


if __name__ == "__main__":
    main()
