"""Kill -9 in the middle of commands that start git; soak/command_kill_test.py does it at every system call."""

from command_kill import ITEMS, SETTINGS, TREES, kill
from exchange_kill import EXCHANGE

from harness import add_case, main

EVERY = {True: 120, False: 60}  # of some 200 to 1,500 system calls; worktrees make most

for each in [*TREES, *ITEMS, *SETTINGS, *EXCHANGE]:
    add_case(f"killed in {each.name}, and its git with it",
             lambda command=each: kill(command, EVERY[command in TREES], together=True))
for each in [*TREES, ITEMS[0], *EXCHANGE]:
    add_case(f"killed in {each.name}, and its git goes on",
             lambda command=each: kill(command, EVERY[command in TREES], together=False))

if __name__ == "__main__":
    main()
