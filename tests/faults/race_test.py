"""Many processes race for a few items, on one machine and from clones of a git remote; two checkers of their history decide, and a
counter that only the holder may touch agrees. soak/race_test.py has the large numbers."""

import dataclasses
import fcntl
import subprocess
from pathlib import Path

import injection  # noqa: F401  (puts the harness on the path)
from history import Grant, disagreements, violations
from race import race
from races import local_race, remote_race

from harness import DIBS, Repo, add_case, case, check, check_chain, main, wait_until

FIRST = Grant("item:1", "agent:a", 1, "A", asked=0.0, answered=1.0, release_asked=2.0, release_answered=3.0)
SECOND = Grant("item:1", "agent:b", 2, "B", asked=2.5, answered=3.5, release_asked=4.0, release_answered=5.0)


def planted(**changes):
    return violations([FIRST, dataclasses.replace(SECOND, **changes)])


@case
def the_checker_accepts_what_could_have_been():
    check.equal(violations([]), [])
    check.equal(violations([FIRST, SECOND]), [])
    check.equal(violations([SECOND, FIRST]), [], "the order of the list says nothing")
    check.equal(planted(asked=0.5, answered=2.1), [],
                "granted just after the release took effect, answered before it was answered")
    check.equal(planted(resource="item:2", asked=0.5, answered=1.5), [])
    endless = dataclasses.replace(FIRST, release_asked=float("inf"), release_answered=float("inf"), ends=2.0)
    check.equal(violations([endless, SECOND]), [], "it ended by its ttl")


@case
def the_checker_rejects_planted_violations():
    check.true(planted(asked=0.5, answered=1.5), "two holders at once")
    check.true(planted(fence=1), "a fence given twice")
    check.true(planted(fence=0), "a fence that went back")
    check.true(planted(release_asked=1.0, release_answered=2.0), "released before it was granted")
    endless = dataclasses.replace(FIRST, release_asked=float("inf"), release_answered=float("inf"))
    check.true(violations([endless, SECOND]), "granted although nobody let go")
    check.true(violations([dataclasses.replace(endless, ends=9.0), SECOND]), "granted before the ttl was over")
    log = [{"seq": 1, "events": [{"op": "acquire", "lease_id": "A", "resource": "item:1", "agent_id": "agent:a"}]}]
    check.true(disagreements([FIRST], log), "an acknowledged release that the log lacks")
    check.true(disagreements([SECOND], log), "an acknowledged grant that the log lacks, and one that nobody was told")


def whole_chain(repo):
    check_chain(repo.log_bytes())


@case
def without_a_lease_the_counter_loses_increments():
    """Or else the races below would prove nothing."""
    with Repo() as repo:
        _, counted, problems = race(repo, workers=8, operations=2000, items=1, dibs=DIBS, guard=False)
        check.equal(problems, [])
        check.true(counted < 8 * 2000, "not one increment was lost")


add_case("forty processes on sixteen items", lambda: local_race(workers=40, operations=40, items=16, also=whole_chain))
add_case("twelve processes on one item", lambda: local_race(workers=12, operations=40, items=1, also=whole_chain))
add_case("processes that are killed at random",
         lambda: local_race(workers=10, operations=50, items=4, kill_share=0.4, also=whole_chain))
for each in ("refs", "branches", "lock-branch"):
    add_case(f"four clones of a remote, two processes each, on {each}",
             lambda layout=each: remote_race(clones=4, workers=8, operations=6, items=2, layout=layout))


def blocked_on(path):
    """How many processes wait for the lock on a file, as the kernel lists them."""
    inode = path.stat().st_ino
    return sum("->" in line and f":{inode} " in line for line in Path("/proc/locks").read_text().splitlines())


@case
def who_waits_for_the_claims_lock_is_served_in_the_order_of_coming():
    with Repo() as repo:
        repo.acquire("first")
        lock = repo.store / "locks/claims.lock"
        for _ in range(3):
            before = len(repo.log())
            with open(lock, "rb") as held:
                fcntl.flock(held, fcntl.LOCK_EX)
                waiting = []
                for n in range(12):
                    waiting.append(repo.spawn(DIBS, "claim", "acquire", f"round-{before}-{n}", stdout=subprocess.DEVNULL))
                    wait_until(lambda: blocked_on(lock) == len(waiting), "the next to wait")
            for process in waiting:
                check.equal(process.wait(timeout=60), 0)
            seen = [event["resource"] for line in repo.log()[before:] for event in line["events"]]
            check.equal(seen, [f"item:round-{before}-{n}" for n in range(12)])


if __name__ == "__main__":
    main()
