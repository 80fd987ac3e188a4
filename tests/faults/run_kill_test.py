"""Kill -9 of a run; soak/run_kill_test.py does it at every system call."""

import subprocess
import time

from run_kill import KILLS, RECOVER, RemainsStage, kill

from harness import DIBS, add_case, case, check, main, wait_until

EVERY = 120  # of some 700 to 1,400 system calls

for name, stage in KILLS.items():
    add_case(f"killed: {name}", lambda make=stage: kill(make(), EVERY))

# A git that stops when somebody looks what is not committed, until it may go on.
SLOW_GIT = """#!/bin/sh
case " $* " in *" status --porcelain"*)
  touch {dir}/looking
  while [ ! -e {dir}/go ]; do sleep 0.05; done;;
esac
PATH={path} exec git "$@"
"""


@case
def what_a_killed_recover_had_begun_is_waited_for():
    """recover is killed while it gives a worktree back. Whoever comes next must not do the same beside it."""
    with RemainsStage() as stage:
        site = stage.site
        folder = site.dir / "slow"
        folder.mkdir()
        path = site.env["PATH"]
        (folder / "git").write_text(SLOW_GIT.format(dir=folder, path=path))
        (folder / "git").chmod(0o755)
        first = site.spawn(DIBS, *RECOVER, env={"PATH": f"{folder}:{path}"}, stdout=subprocess.DEVNULL)
        wait_until((folder / "looking").exists, "a worktree is being given back")
        first.kill()
        first.wait()
        second = site.spawn(DIBS, *RECOVER, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.5)
        check.true(second.poll() is None, "it did not wait")
        (folder / "go").touch()
        _, err = second.communicate(timeout=60)
        check.equal((second.returncode, err), (0, b""))
        check.equal(len(site.rescues()), 2, "work that is kept")
        site.check_nothing_left()


if __name__ == "__main__":
    main()
