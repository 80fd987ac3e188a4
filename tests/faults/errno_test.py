"""EIO, ENOSPC and EINTR at every system call that can fail: success means it is done and flushed, a refusal means nothing happened."""

import injection  # noqa: F401  (puts the harness on the path)
from kill_scenarios import SCENARIOS, check_aftermath, held

from harness import add_case, case, check, main

WRITING = {"write", "pwrite64", "fdatasync", "fsync", "openat", "ftruncate", "rename", "renameat", "renameat2", "flock",
           "mkdir", "unlink", "fallocate"}
READING = {"read", "pread64", "newfstatat", "statfs", "mmap", "fchmod", "chmod"}
NOT_DIBS = {127}  # the loader could not read a library


def outcome(reply):
    """Whether the command says that it is done; None when it says that it cannot know."""
    if reply.code == 0:
        return True
    return None if reply.code == 11 else False


def fail_everywhere(scenario, calls, errors):
    with scenario.stage() as (repo, bench):
        before, log_before = held(repo), repo.log_bytes()
        counts = bench.system_calls()
        for call in sorted(calls & set(counts)):
            # All of mmap but the last is the loader's, which would crash before dibs begins.
            for k in range(counts[call] if call == "mmap" else 1, counts[call] + 1):
                for error in errors:
                    reply = bench.inject(f"{call}:error={error}:when={k}")
                    try:
                        check.true(reply.code == 0 or reply.code in NOT_DIBS or '"error"' in reply.err,
                                   f"no error was given: {reply}")
                        check_aftermath(scenario, repo, before, log_before, reply, outcome(reply))
                    except AssertionError as wrong:
                        raise AssertionError(f"{error} at {call} number {k} (exit {reply.code} {reply.err[:200]!r}): {wrong}") from None


CHOSEN = {"acquire", "the first acquire in a worktree", "acquire that writes the index", "renew", "release", "transfer"}
for one in SCENARIOS:
    if one.name in CHOSEN:
        add_case(f"{one.name}: EIO, ENOSPC, EINTR at every call that changes something",
                 lambda scenario=one: fail_everywhere(scenario, WRITING, ("EIO", "ENOSPC", "EINTR")))
        add_case(f"{one.name}: EIO at every call that looks",
                 lambda scenario=one: fail_everywhere(scenario, READING, ("EIO",)))


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
            reply = bench.inject("fdatasync:error=EIO:when=1", "ftruncate:error=EIO")
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
