"""A wall clock that jumps either way, by seconds or by years, and a worker that sleeps through its own lease."""

import glob
import json
import os
import signal
import subprocess
import time

from injection import needs_strace
from remote import Remote

from harness import DIBS, Repo, Skip, add_case, case, check, check_chain, main, wait_until

# What libfaketime is told, and how many seconds that is. Before 1970 and after 2038 there are other surprises than between.
JUMPS = {"+1d": 86_400, "-1d": -86_400}
FURTHER = {"+5": 5, "-5": -5, "+600": 600, "+700": 700, "-700": -700, "+2y": 2 * 31_536_000, "-2y": -2 * 31_536_000,
           "+60y": 60 * 31_536_000, "-30y": -30 * 31_536_000}
READ_CLOCKS = "import time; print(time.time(), time.clock_gettime(time.CLOCK_BOOTTIME))"


def library():
    found = glob.glob("/usr/lib/*/faketime/libfaketime.so.1") + glob.glob("/usr/lib*/faketime/libfaketime.so.1")
    if not found:
        raise Skip("libfaketime is not installed")
    return found[0]


def shifted(by):
    """An environment in which the wall clock is off by one of the jumps, and only that one."""
    wanted = (JUMPS | FURTHER)[by]
    env = {"LD_PRELOAD": library(), "FAKETIME": by, "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_RESET": "1"}
    seen = subprocess.run(["python3", "-c", READ_CLOCKS], env=os.environ | env, capture_output=True, text=True,
                          check=True).stdout.split()
    wall, boot = map(float, seen)
    check.true(abs(wall - time.time() - wanted) < 3, f"the wall clock is not off by {by}: {wall}")
    if abs(boot - time.clock_gettime(time.CLOCK_BOOTTIME)) > 3:
        raise Skip("this libfaketime shifts the boot-time clock too")
    return env


def both_ways():
    return [shifted(by) for by in JUMPS]


@case
def a_jump_expires_nothing():
    for jumped in [*both_ways(), *map(shifted, FURTHER)]:
        with Repo() as repo:
            lease = repo.acquire("42")
            repo.acquire("43", "--ttl", "0", "--reason", "no limit")
            check.equal(repo.holder("42", env=jumped), "agent:one")
            error = repo.refusal(3, "claim", "acquire", "42", agent="agent:two", env=jumped)
            check.equal(error["holder"], "agent:one")
            repo.refusal(3, "claim", "acquire", "43", "--strategy", "steal-stale", agent="agent:two", env=jumped)
            check.equal(repo.reply("claim", "list", "--stale", env=jumped)["count"], 0)
            check.equal(repo.reply("claim", "cleanup", env=jumped)["count"], 0)
            repo.reply("claim", "verify", "42", "--fence", str(lease["fence"]), env=jumped)
            check.equal(repo.run("claim", "status", "42", "--json", env=jumped).expect(0).err, "", "no warning either")
            repo.reply("claim", "renew", "42", env=jumped)
            repo.reply("claim", "heartbeat", env=jumped)
            check.equal(repo.holder("42"), "agent:one", "and back again")
            repo.reply("claim", "release", "42", env=jumped)


@case
def a_jump_revives_nothing():
    for jumped in [*both_ways(), *map(shifted, FURTHER)]:
        with Repo() as repo:
            lease = repo.acquire("42", "--ttl", "1")
            wait_until(lambda: repo.holder("42") is None, "the lease to end")
            check.equal(repo.holder("42", env=jumped), None)
            repo.refusal(5, "claim", "renew", lease["lease_id"], env=jumped)
            repo.refusal(5, "claim", "verify", "42", "--fence", str(lease["fence"]), env=jumped)
            check.equal(repo.reply("claim", "heartbeat", env=jumped)["count"], 0)
            check.true(repo.acquire("42", agent="agent:two", env=jumped)["fence"] > lease["fence"])
            repo.refusal(5, "claim", "renew", lease["lease_id"])


@case
def a_lease_taken_under_a_wrong_clock_lasts_its_time():
    for jumped in both_ways():
        with Repo() as repo:
            repo.acquire("42", env=jumped)
            repo.acquire("43", "--ttl", "1", env=jumped)
            check.equal(repo.holder("42"), "agent:one")
            repo.refusal(3, "claim", "acquire", "42", agent="agent:two")
            wait_until(lambda: repo.holder("43") is None, "the short lease to end")
            repo.acquire("43", agent="agent:two")
            check.equal(repo.holder("42"), "agent:one")
            repo.reply("claim", "renew", "42")
            repo.reply("claim", "release", "42")


@case
def the_time_left_is_told_by_the_boot_time_clock():
    for jumped in both_ways():
        with Repo() as repo:
            repo.acquire("42", "--ttl", "600")
            text = repo.run("claim", "status", "42", env=jumped).expect(0).out
            check.true("9 min" in text or "10 min" in text, text)


@case
def the_log_stays_in_order_when_the_clock_goes_back():
    back = shifted("-1d")
    with Repo() as repo:
        fences = [repo.acquire(str(n), env=back if n % 2 else None)["fence"] for n in range(6)]
        check.equal(fences, [1, 2, 3, 4, 5, 6])
        check_chain(repo.log_bytes())
        check.equal([event["seq"] for event in repo.reply("claim", "history")["events"]], [1, 2, 3, 4, 5, 6])
        repo.run("recover").expect(0)
        repo.healthy()


@case
def a_process_tie_is_not_fooled_by_a_jump():
    for jumped in both_ways():
        with Repo() as repo:
            owner = repo.sleeper()
            repo.acquire("42", "--pid", str(owner.pid))
            repo.refusal(3, "claim", "acquire", "42", agent="agent:two", env=jumped)
            owner.kill()
            owner.wait()
            repo.acquire("42", agent="agent:two", env=jumped)


@case
def a_worker_stopped_past_its_ttl_has_lost_its_lease():
    with Repo() as repo:
        lease = repo.acquire("42", "--ttl", "3")
        worker = repo.spawn(DIBS, "--json", "claim", "heartbeat", "--every", "1", stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL)
        check.equal(json.loads(worker.stdout.readline())["count"], 1)
        os.kill(worker.pid, signal.SIGSTOP)
        taken = wait_until(lambda: (r := repo.run("claim", "acquire", "42", "--json",
                                                  agent="agent:two")).code == 0 and r.json(), "the lease to end")
        check.true(taken["fence"] > lease["fence"])
        os.kill(worker.pid, signal.SIGCONT)
        beats = [json.loads(line) for line in worker.stdout.read().splitlines()]
        check.equal(beats[-1]["count"], 0, "the beat after waking up extends nothing")
        check.equal(worker.wait(timeout=20), 0)
        repo.refusal(5, "claim", "renew", lease["lease_id"])
        repo.refusal(5, "claim", "release", lease["lease_id"])
        repo.refusal(5, "claim", "verify", "42", "--fence", str(lease["fence"]))
        repo.reply("claim", "verify", "42", "--fence", str(taken["fence"]))
        check.equal(repo.holder("42"), "agent:two")


def stopped_at(repo, call, *words):
    """dibs, stopped in its last `call`. Returns strace and the pid of dibs."""
    count = sum(f"{call}(" in line for line in subprocess.run(
        ["strace", "-qq", "-e", f"trace={call}", DIBS, "claim", "renew", "practice"], cwd=repo.root, env=repo.env,
                                                              capture_output=True,
        text=True, check=True).stderr.splitlines())
    tracer = repo.spawn("strace", "-f", "-qq", "-o", "/dev/null", f"--inject={call}:signal=STOP:when={count}", DIBS,
                        "--json", *words,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def child():
        pids = open(f"/proc/{tracer.pid}/task/{tracer.pid}/children").read().split()
        try:
            return pids and open(f"/proc/{pids[0]}/stat").read().rsplit(") ", 1)[1][0] in "tT" and int(pids[0])
        except (FileNotFoundError, ProcessLookupError):  # strace tries things out in a child of its own before it begins
            return False

    def settled():  # "t" is also what every traced call looks like for a moment
        first = child()
        time.sleep(0.1)
        return first and child()

    return tracer, wait_until(settled, f"dibs to stop at {call}")


@case
def a_renewal_stopped_before_the_lock_cannot_renew_what_was_taken():
    needs_strace()
    with Repo() as repo:
        repo.acquire("practice")
        lease = repo.acquire("42", "--ttl", "2")
        tracer, pid = stopped_at(repo, "getrandom", "claim", "renew",
                                 lease["lease_id"])  # for the nonce: it has decided, and not yet locked
        taken = wait_until(lambda: (r := repo.run("claim", "acquire", "42", "--json",
                                                  agent="agent:two")).code == 0 and r.json(), "the lease to end")
        os.kill(pid, signal.SIGCONT)
        out, err = tracer.communicate(timeout=30)
        check.equal((tracer.returncode, out), (5, b""), err.decode())
        check.equal(repo.holder("42"), "agent:two")
        repo.reply("claim", "verify", "42", "--fence", str(taken["fence"]))
        check.true(taken["fence"] > lease["fence"])
        check.equal([op for op, _ in repo.ops("item:42")], ["acquire", "auto-evict", "acquire"])


@case
def a_renewal_stopped_inside_the_lock_lets_nobody_in_early():
    needs_strace()
    with Repo() as repo:
        repo.acquire("practice")
        repo.acquire("42", "--ttl", "2")
        tracer, pid = stopped_at(repo, "fdatasync", "claim", "renew", "42")
        waiting = repo.spawn(DIBS, "--json", "claim", "acquire", "42", "--strategy", "retry", agent="agent:two",
                             stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        time.sleep(2.5)  # the lease's time is over, and the lock is still held
        check.equal(waiting.poll(), None, "it waits for the lock")
        check.equal(repo.run("claim", "list", timeout=20).code, 0, "looking needs no lock")
        os.kill(pid, signal.SIGCONT)
        renewed, _ = tracer.communicate(timeout=30)
        taken, _ = waiting.communicate(timeout=60)
        check.equal(waiting.returncode, 0)
        if tracer.returncode == 0:
            check.true(json.loads(renewed)["expires_at"] <= json.loads(taken)["acquired_at"],
                       "let in before the renewed lease ended")
        check.equal(repo.holder("42"), "agent:two")
        check_chain(repo.log_bytes())


def add_margin_case(layout):
    """The clocks of two machines: of the ttl of 600 s and the margin of 30 s, one is 600 s ahead, and then 700."""
    def a_clock_that_is_ahead():
        within, beyond = shifted("+600"), shifted("+700")
        with Remote(clones=2, layout=layout) as remote:
            holder, taker = remote.clones
            lease = holder.acquire("42", "--ttl", "600")
            taker.refusal(3, "claim", "acquire", "42", agent="agent:two", env=within)
            holder.reply("claim", "verify", "42", "--fence", str(lease["fence"]))
            taken = taker.acquire("42", agent="agent:two", env=beyond)
            check.true(taken["fence"] > lease["fence"])
            holder.refusal(5, "claim", "verify", "42", "--fence", str(lease["fence"]))
            holder.refusal(5, "claim", "renew", lease["lease_id"])

    add_case(f"on {layout} a clock that is ahead by more than the margin takes a lease, and its holder can do no more",
             a_clock_that_is_ahead)


for each in ("refs", "branches", "lock-branch"):
    add_margin_case(each)

if __name__ == "__main__":
    main()
