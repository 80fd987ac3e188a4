"""Kill -9 at every system call of `dibs done` that faults/landing_kill_test.py leaves out."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))

from landing_kill import RemoteStage, kill_dibs, kill_git  # noqa: E402

from harness import add_case, main  # noqa: E402

add_case("dibs is killed at every system call, and its git goes on", lambda: kill_dibs(1, together=False))
add_case("dibs is killed at every system call, and its git with it", lambda: kill_dibs(1, together=True))
add_case("the git that moves the target is killed at every call", lambda: kill_git(1, dibs_too=False))
add_case("the git that moves the target is killed at every call, and dibs with it", lambda: kill_git(1, dibs_too=True))
add_case("on a remote: dibs is killed at every system call, and its git goes on",
         lambda: kill_dibs(1, together=False, stage=RemoteStage))
add_case("on a remote: dibs is killed at every system call, and its git with it",
         lambda: kill_dibs(1, together=True, stage=RemoteStage))

if __name__ == "__main__":
    main()
