"""Commands whose system calls fail, or that have too little of something: success means it is done and flushed, a refusal means nothing
happened."""

import resource

from kill_scenarios import check_aftermath, held

from harness import add_case, check

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


def limit_everywhere(scenario, limit, amounts):
    """What a limit stops is refused with a word, or has happened."""
    with scenario.stage() as (repo, bench):
        before, log_before = held(repo), repo.log_bytes()
        codes = set()
        for most in amounts(len(log_before)):
            reply = bench.limited(limit, most)
            codes.add(reply.code)
            try:
                check.true(reply.code == 0 or reply.code in NOT_DIBS or '"error"' in reply.err, f"no error was given: {reply}")
                check_aftermath(scenario, repo, before, log_before, reply, outcome(reply))
            except AssertionError as wrong:
                raise AssertionError(f"limited to {most} (exit {reply.code} {reply.err[:200]!r}): {wrong}") from None
        check.true(0 in codes and len(codes) > 1, f"the limit was never in the way, or always: {codes}")


def around_a_line(size):
    """The log ends in the middle of the new line, anywhere in it: the kernel writes a part, and the rest is an error."""
    return [size + extra for extra in (0, 1, 7, 60, 200, 350, 450, 4096)]


def few(_):
    return range(3, 13)


def add_failures(scenario):
    """Every call that changes something or looks fails once."""
    add_case(f"{scenario.name}: EIO, ENOSPC, EINTR at every call that changes something",
             lambda: fail_everywhere(scenario, WRITING, ("EIO", "ENOSPC", "EINTR")))
    add_case(f"{scenario.name}: EIO at every call that looks", lambda: fail_everywhere(scenario, READING, ("EIO",)))


def add_limits(scenario):
    add_case(f"{scenario.name}: a write that is cut short", lambda: limit_everywhere(scenario, resource.RLIMIT_FSIZE, around_a_line))
    add_case(f"{scenario.name}: out of descriptors", lambda: limit_everywhere(scenario, resource.RLIMIT_NOFILE, few))
