"""Kill -9 in the middle of `dibs done`; soak/landing_kill_test.py does it at every system call."""

from landing_kill import kill_dibs, kill_git

from harness import add_case, main

EVERY = 40  # of some 1,200 system calls
GIT_EVERY = 6  # of some 40

add_case("dibs is killed, and its git goes on", lambda: kill_dibs(EVERY, together=False))
add_case("dibs is killed, and its git with it", lambda: kill_dibs(EVERY, together=True))
add_case("the git that moves the target is killed", lambda: kill_git(GIT_EVERY, dibs_too=False))
add_case("the git that moves the target is killed, and dibs with it", lambda: kill_git(GIT_EVERY, dibs_too=True))

if __name__ == "__main__":
    main()
