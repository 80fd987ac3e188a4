"""`claim acquire --wait` killed at one system call after another: on its way into the line, in it, and when it is served.

A resource is held, the one who is killed is first in line, and another is behind. However the first died, it leaves the line, and whoever
is behind is served in the end. What it was granted before it died is its session's: nobody else has it until that gives it back.
"""

from injection import Bench, acknowledged, calls_in, kill_at, needs_strace

from harness import Repo, Reply, check, check_chain, wait_until
from waiters import acquire_in_line, line, wait_for_line

RESOURCE = "lock:x"
HOLDER, KILLED, BEHIND = "agent:holder", "agent:killed", "agent:behind"


class Line:
    """One try after the other on the same store, which is put back before each."""

    def __init__(self):
        needs_strace()
        self.repo = Repo()

    def __enter__(self):
        self.held = self.repo.acquire(RESOURCE, agent=HOLDER)
        self.bench = Bench(self.repo, [])
        return self

    def __exit__(self, *why):
        self.repo.__exit__(*why)

    def try_once(self, options):
        """The whole course, with strace told so about the first in line; what that one said."""
        repo = self.repo
        self.bench.restore()
        first = acquire_in_line(repo, RESOURCE, KILLED, prefix=["strace", "-qq", *options])
        wait_until(lambda: not first.waits() or line(repo, RESOURCE) == [KILLED], "it is in line or dead")
        behind = acquire_in_line(repo, RESOURCE, BEHIND)
        # Its coming wakes who is before it, who may die of that.
        wait_until(lambda: line(repo, RESOURCE) in ([BEHIND], [KILLED, BEHIND]), "both are in line, or one is dead")
        repo.reply("claim", "release", self.held["lease_id"], agent=HOLDER)
        reply = answer_of(first)
        fences = [self.held["fence"], *self.served_first(reply, behind), self.served_last(behind)]
        check.equal(fences, sorted(set(fences)), "fences rise")
        check.equal([agent for op, agent in repo.ops(RESOURCE) if op == "acquire"].count(BEHIND), 1, "grants")
        check_chain(repo.log_bytes())
        repo.healthy()
        return reply

    def served_first(self, reply, behind):
        """The fence of the one who was first in line, if it was granted anything; it is given back then."""
        repo, answer = self.repo, acknowledged(reply)
        holder = wait_until(lambda: repo.holder(RESOURCE), "the next in line is served", timeout=60)
        if holder == BEHIND:
            check.true(not answer, f"granted to both: {reply!r}")
            return []
        check.equal(holder, KILLED)
        check.true(behind.waits(), "granted to both")
        again = repo.acquire(RESOURCE, agent=KILLED)
        check.true(again["already_held"], f"granted twice: {again}")
        check.true(not answer or answer["lease_id"] == again["lease_id"], f"another lease than {reply!r}")
        repo.reply("claim", "release", again["lease_id"], agent=KILLED)
        return [again["fence"]]

    def served_last(self, behind):
        lease = behind.ends()
        check.equal(self.repo.holder(RESOURCE), BEHIND)
        wait_for_line(self.repo, RESOURCE)
        return lease["fence"]


def answer_of(waiter):
    out, err = waiter.process.communicate(timeout=60)
    return Reply(["claim", "acquire", RESOURCE, "--wait"], waiter.process.returncode, out.decode(), err.decode())


def kill_in_line(every):
    with Line() as stage:
        trace = stage.repo.dir / "trace"
        check.true(acknowledged(stage.try_once(["-o", str(trace)])), "undisturbed, it is served")
        tries = calls_in(trace)[::every]
        died = 0
        for name, number in tries:
            try:
                died += stage.try_once(kill_at(name, number)).code == -9
            except AssertionError as error:
                raise AssertionError(f"killed at {name} number {number}: {error}") from None
        check.true(died >= 0.9 * len(tries), f"only {died} of {len(tries)} were killed")
