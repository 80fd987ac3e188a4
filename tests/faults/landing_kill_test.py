"""Kill -9 in the middle of `dibs done`; soak/landing_kill_test.py does it at every system call."""

import os
import re
import signal
import subprocess
import time

from injection import needs_strace
from landing_kill import RemoteStage, kill_dibs, kill_git

from harness import DIBS, add_case, case, check, main, wait_until
from landing_site import LocalSite

EVERY = 80  # of some 1,200 system calls
GIT_EVERY = 6  # of some 40

add_case("dibs is killed, and its git goes on", lambda: kill_dibs(EVERY, together=False))
add_case("dibs is killed, and its git with it", lambda: kill_dibs(EVERY, together=True))
add_case("the git that moves the target is killed", lambda: kill_git(GIT_EVERY, dibs_too=False))
add_case("the git that moves the target is killed, and dibs with it", lambda: kill_git(GIT_EVERY, dibs_too=True))

add_case("on a remote: dibs is killed, and its git goes on", lambda: kill_dibs(2 * EVERY, together=False, stage=RemoteStage))
add_case("on a remote: dibs is killed, and its git with it", lambda: kill_dibs(2 * EVERY, together=True, stage=RemoteStage))

SLOW_SECS = 3


@case
def a_git_that_goes_on_alone_is_waited_for():
    """dibs is killed while its git is about to move the target. Whoever comes next must not judge before git is through."""
    needs_strace()
    with LocalSite() as site:
        site.work(site.start("42"))
        folder = site.dir / "slow"
        folder.mkdir()
        path = site.env["PATH"]
        (folder / "git").write_text(f"""#!/bin/sh
            case " $* " in *" update-ref -m dibs: "*)
              echo $PPID > {folder}/dibs
              PATH={path} exec strace -f -qq -o {folder}/trace -e inject=rename:delay_enter={SLOW_SECS * 1_000_000} git "$@";;
            esac
            PATH={path} exec git "$@"
            """)
        (folder / "git").chmod(0o755)
        site.spawn(DIBS, "done", "42", env={"PATH": f"{folder}:{path}"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # Killed before this line could be written, dibs would take git with it: nobody reads the pipe any more.
        trace = folder / "trace"
        prepared = re.compile(r'"prepare: ok\\n", 12\) += 12\n')
        wait_until(lambda: trace.exists() and prepared.search(trace.read_text()), "git is about to move the target")
        before = site.target()
        os.kill(int((folder / "dibs").read_text()), signal.SIGKILL)
        site.run("claim", "acquire", "next", agent="agent:two").expect(0)
        time.sleep(0.2)
        check.true(site.target() != before, "it did not land")
        check.equal(site.holder("42"), None)
        check.equal(site.reply("done", "42")["already_landed"], True)


if __name__ == "__main__":
    main()
