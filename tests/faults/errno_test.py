"""EIO, ENOSPC and EINTR at every system call that can fail, writes that are cut short, and too few descriptors; soak/errno_test.py has
the commands that are not here."""

import injection  # noqa: F401  (puts the harness on the path)
from failing_calls import add_failures, add_limits, outcome
from kill_scenarios import SCENARIOS, check_aftermath, held

from harness import case, check, main

CHOSEN = {"acquire", "the first acquire in a worktree", "acquire that writes the index", "renew", "release", "transfer"}
for one in SCENARIOS:
    if one.name in CHOSEN:
        add_failures(one)
    if one.name in CHOSEN - {"acquire that writes the index"}:
        add_limits(one)


@case
def a_flush_that_fails_is_never_called_success():
    for scenario in (one for one in SCENARIOS if one.name in {"acquire", "renew", "release", "transfer"}):
        with scenario.stage() as (repo, bench):
            for error in ("EIO", "ENOSPC", "EDQUOT", "EINTR"):
                reply = bench.inject(f"fdatasync:error={error}:when=1")
                check.true(reply.code in (1, 11), f"{scenario.name}, {error}: {reply}")
                check.equal(reply.out, "")


@case
def a_flush_and_its_undo_that_fail_are_an_unknown_outcome():
    for scenario in (one for one in SCENARIOS if one.name in {"acquire", "renew", "release", "transfer"}):
        with scenario.stage() as (repo, bench):
            before, log_before = held(repo), repo.log_bytes()
            reply = bench.inject("fdatasync,fsync:error=EIO")
            check.equal(reply.code, 11, f"{scenario.name}: {reply}")
            check.equal(reply.error()["code"], "unreachable")
            check_aftermath(scenario, repo, before, log_before, reply, None)


@case
def a_write_and_its_undo_that_fail_leave_a_store_that_works():
    for scenario in (one for one in SCENARIOS if one.name in {"acquire", "renew", "release", "transfer"}):
        with scenario.stage() as (repo, bench):
            before, log_before = held(repo), repo.log_bytes()
            reply = bench.inject("write:error=ENOSPC:when=1", "ftruncate:error=EIO", "unlink:error=EIO")
            check.true(reply.code != 0, str(reply))
            check_aftermath(scenario, repo, before, log_before, reply, outcome(reply))


if __name__ == "__main__":
    main()
