"""Kill -9 of one who waits in line; soak/waiting_kill_test.py does it at every system call."""

from injection import kill_at
from waiting_kill import BEHIND, HOLDER, KILLED, RESOURCE, Line, answer_of, kill_in_line

from harness import add_case, case, check, main
from waiters import acquire_in_line, wait_for_line

EVERY = 9  # of some 200 system calls
ITS_ANSWER = 3  # of its writes; before it, the log is told that it waits, and that it was granted

add_case("killed in line and when it is served", lambda: kill_in_line(EVERY))


@case
def what_a_dead_waiter_was_granted_ends_by_its_ttl():
    with Line() as stage:
        repo = stage.repo
        first = acquire_in_line(repo, RESOURCE, KILLED, "--ttl", "1", prefix=["strace", "-qq", *kill_at("write", ITS_ANSWER)])
        wait_for_line(repo, RESOURCE, KILLED)
        behind = acquire_in_line(repo, RESOURCE, BEHIND)
        wait_for_line(repo, RESOURCE, KILLED, BEHIND)
        repo.reply("claim", "release", stage.held["lease_id"], agent=HOLDER)
        check.equal(answer_of(first).code, -9)
        behind.ends()
        check.equal([agent for op, agent in repo.ops(RESOURCE) if op == "acquire"], [HOLDER, KILLED, BEHIND])


if __name__ == "__main__":
    main()
