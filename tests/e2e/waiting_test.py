"""Standing in line for what is held, on every store: the order, who wakes, who leaves, and deadlocks."""

import signal
import subprocess
import time

from harness import DIBS, Repo, add_case, case, check, main, wait_until
from remote import Remote
from waiters import Waiter, acquire_in_line, line, wait_for_line

HELD, TIMED_OUT, VICTIM = 3, 7, 9


def serves_in_order(repo):
    first = repo.acquire("lock:x")
    two = acquire_in_line(repo, "lock:x", "agent:two")
    wait_for_line(repo, "lock:x", "agent:two")
    three = acquire_in_line(repo, "lock:x", "agent:three")
    wait_for_line(repo, "lock:x", "agent:two", "agent:three")
    urgent = acquire_in_line(repo, "lock:x", "agent:urgent", "--priority", "0")
    wait_for_line(repo, "lock:x", "agent:urgent", "agent:two", "agent:three")
    repo.reply("claim", "release", first["lease_id"])
    fences = [first["fence"]]
    for waiter in (urgent, two, three):
        lease = waiter.ends()
        fences.append(lease["fence"])
        check.equal(repo.holder("lock:x"), waiter.agent)
        repo.reply("claim", "release", lease["lease_id"], agent=waiter.agent)
    check.equal(fences, sorted(set(fences)), "fences rise along the line")
    check.equal(repo.reply("queue", "list")["queues"], [])


def on_every_store(name, function):
    def locally():
        with Repo() as repo:
            function(repo)

    def remotely(layout):
        with Remote(clones=1, layout=layout) as remote:
            function(remote.clones[0])

    add_case(f"{name} (local)", locally)
    for layout in ("refs", "branches", "lock-branch"):
        add_case(f"{name} ({layout})", lambda layout=layout: remotely(layout))


on_every_store("those in line are served in order", serves_in_order)


def gives_up(repo):
    repo.acquire("42")
    error = repo.refusal(TIMED_OUT, "claim", "acquire", "42", "--wait", "1", agent="agent:two")
    check.equal(error["code"], "timed_out")
    check.equal(error["holder"], "agent:one")
    check.true(error["message"].startswith("waited 1 s, and item:42 is held by agent:one"), error["message"])
    check.equal(error["hint"], "see who waits, and how long it takes: dibs queue list item:42")
    check.equal(line(repo, "42"), [])


on_every_store("who waited in vain leaves the line", gives_up)


def breaks_deadlock(repo):
    repo.acquire("lock:x", agent="agent:one")
    repo.acquire("lock:y", agent="agent:two")
    one = acquire_in_line(repo, "lock:y", "agent:one")
    wait_for_line(repo, "lock:y", "agent:one")
    two = acquire_in_line(repo, "lock:x", "agent:two")
    # Both began within a minute with the same priority, so it is who started last that gives way.
    error = two.ends(VICTIM)
    check.equal(error["code"], "deadlock_victim")
    check.true("agent:two@" in error["message"] and "which agent:one@" in error["message"], error["message"])
    check.true(one.waits(), "the other goes on waiting")
    check.equal(line(repo, "lock:x"), [])
    repo.reply("claim", "release", "lock:y", agent="agent:two")
    one.ends()


on_every_store("a wait that closes a circle ends at once", breaks_deadlock)


@case
def who_waits_already_may_have_to_give_way():
    with Repo() as repo:
        repo.acquire("lock:y", agent="agent:two")
        repo.acquire("lock:x", agent="agent:one")
        one = acquire_in_line(repo, "lock:y", "agent:one")
        wait_for_line(repo, "lock:y", "agent:one")
        two = acquire_in_line(repo, "lock:x", "agent:two")
        one.ends(VICTIM)
        check.true(two.waits())
        check.equal(repo.holder("lock:x"), "agent:one", "it keeps what it holds")
        repo.reply("claim", "release", "lock:x", agent="agent:one")
        two.ends()


@case
def with_resolve_evict_it_loses_what_it_holds():
    with Repo() as repo:
        repo.acquire("lock:y", agent="agent:two")
        repo.acquire("lock:x", agent="agent:one")
        one = acquire_in_line(repo, "lock:y", "agent:one")
        wait_for_line(repo, "lock:y", "agent:one")
        two = acquire_in_line(repo, "lock:x", "agent:two", "--resolve", "evict")
        check.equal(two.ends()["resource"], "lock:x")
        one.ends(VICTIM)
        check.equal(repo.holder("lock:x"), "agent:two")
        lost = [e for e in repo.reply("claim", "history", "lock:x")["events"] if e["op"] == "force-evict"]
        check.equal([e["reason"] for e in lost], ["it gives way in a deadlock"])


@case
def an_item_that_was_lost_in_a_deadlock_has_one_try_more():
    with Repo(commit=True) as repo:
        item = repo.reply("item", "add", "Fix login")["id"]
        repo.acquire("lock:y", agent="agent:two")
        repo.acquire(item, agent="agent:one")
        one = acquire_in_line(repo, "lock:y", "agent:one")
        wait_for_line(repo, "lock:y", "agent:one")
        acquire_in_line(repo, item, "agent:two", "--resolve", "evict").ends()
        one.ends(VICTIM)
        shown = repo.reply("item", "show", item)
        check.equal(shown["tries"], 1)
        check.true("agent:one gave way in a deadlock" in shown["comments"][-1]["text"], shown["comments"])


@case
def a_killed_waiter_leaves_the_line():
    with Repo() as repo:
        lease = repo.acquire("42")
        two = acquire_in_line(repo, "42", "agent:two")
        wait_for_line(repo, "42", "agent:two")
        three = acquire_in_line(repo, "42", "agent:three")
        wait_for_line(repo, "42", "agent:two", "agent:three")
        two.process.kill()
        two.process.wait()
        check.equal(line(repo, "42"), ["agent:three"])
        repo.reply("claim", "release", lease["lease_id"])
        three.ends()
        left = [(e["agent_id"], e["reason"]) for e in repo.reply("claim", "history", "42")["events"]
                if e["op"] == "leave"]
        check.equal(left, [("agent:two", f"process {two.process.pid} is gone")])


@case
def a_stopped_waiter_is_passed_over():
    with Repo() as repo:
        lease = repo.acquire("42")
        two = acquire_in_line(repo, "42", "agent:two")
        wait_for_line(repo, "42", "agent:two")
        three = acquire_in_line(repo, "42", "agent:three")
        wait_for_line(repo, "42", "agent:two", "agent:three")
        two.process.send_signal(signal.SIGSTOP)
        repo.reply("claim", "release", lease["lease_id"])
        lease = three.ends()
        two.process.send_signal(signal.SIGCONT)
        time.sleep(0.2)
        check.true(two.waits(), "it goes on waiting, outside or as the last")
        repo.reply("claim", "release", lease["lease_id"], agent="agent:three")
        two.ends()


@case
def what_nobody_gives_back_is_taken_when_it_ends():
    with Repo() as repo:
        repo.acquire("42", "--ttl", "1")
        check.equal(acquire_in_line(repo, "42", "agent:two").ends()["agent_id"], "agent:two")
        holder = repo.sleeper()
        repo.acquire("43", "--pid", str(holder.pid))
        two = acquire_in_line(repo, "43", "agent:two")
        wait_for_line(repo, "43", "agent:two")
        holder.kill()
        holder.wait()
        two.ends()


@case
def nobody_from_outside_comes_before_the_line():
    with Repo() as repo:
        lease = repo.acquire("42")
        two = acquire_in_line(repo, "42", "agent:two")
        wait_for_line(repo, "42", "agent:two")
        two.process.send_signal(signal.SIGSTOP)
        repo.reply("claim", "release", lease["lease_id"])
        error = repo.refusal(HELD, "claim", "acquire", "42", agent="agent:three")
        check.equal(error["next_in_line"], "agent:two")
        two.process.send_signal(signal.SIGCONT)
        two.ends()


@case
def several_are_taken_together_or_not_at_all():
    with Repo() as repo:
        x, y = repo.acquire("lock:x"), repo.acquire("lock:y")
        two = Waiter(repo, "claim", "acquire", "lock:x", "lock:y", "--wait", "60", agent="agent:two")
        wait_for_line(repo, "lock:y", "agent:two")
        repo.reply("claim", "release", x["lease_id"])
        wait_until(lambda: repo.holder("lock:x") is None, "a free lock:x")
        time.sleep(0.3)
        check.equal(repo.holder("lock:x"), None, "it does not take one of the two")
        repo.reply("claim", "release", y["lease_id"])
        check.equal(two.ends()["count"], 2)


@case
def an_upgrade_waits_for_the_other_readers():
    with Repo() as repo:
        one = repo.acquire("lock:x", "--shared", agent="agent:one")
        two = repo.acquire("lock:x", "--shared", agent="agent:two")
        repo.refusal(HELD, "claim", "upgrade", one["lease_id"], agent="agent:one")
        upgrade = Waiter(repo, "claim", "upgrade", one["lease_id"], "--wait", "60", agent="agent:one")
        wait_for_line(repo, "lock:x", "agent:one")
        repo.refusal(HELD, "claim", "acquire", "lock:x", "--shared", agent="agent:three")
        repo.reply("claim", "release", two["lease_id"], agent="agent:two")
        lease = upgrade.ends()
        check.equal(lease["mode"], "exclusive")
        check.equal(lease["lease_id"], one["lease_id"])
        check.true(lease["fence"] > two["fence"])


@case
def of_two_readers_upgrading_one_is_told_at_once():
    with Repo() as repo:
        repo.acquire("lock:x", "--shared", agent="agent:one")
        repo.acquire("lock:x", "--shared", agent="agent:two")
        one = Waiter(repo, "claim", "upgrade", "lock:x", "--wait", "60", agent="agent:one")
        wait_for_line(repo, "lock:x", "agent:one")
        Waiter(repo, "claim", "upgrade", "lock:x", "--wait", "60", agent="agent:two").ends(VICTIM)
        repo.reply("claim", "release", "lock:x", agent="agent:two")
        one.ends()


@case
def what_the_waiting_session_holds_is_kept_alive():
    with Repo() as repo:
        held = repo.acquire("lock:y", agent="agent:one")
        repo.acquire("lock:x", "--ttl", "2", agent="agent:two")
        two = acquire_in_line(repo, "lock:y", "agent:two")
        wait_for_line(repo, "lock:y", "agent:two")
        time.sleep(3)
        check.equal(repo.holder("lock:x"), "agent:two")
        repo.reply("claim", "release", held["lease_id"], agent="agent:one")
        two.ends()


@case
def the_line_says_how_long_it_takes():
    with Repo() as repo:
        for _ in range(3):
            repo.acquire("branch:main")
            repo.reply("claim", "release", "branch:main")
        repo.acquire("branch:main")
        two = acquire_in_line(repo, "branch:main", "agent:two")
        wait_for_line(repo, "branch:main", "agent:two")
        queue = repo.reply("queue", "list", "branch:main")
        check.equal(queue["holders"][0]["agent_id"], "agent:one")
        check.equal([w["position"] for w in queue["waiters"]], [1])
        check.true(isinstance(queue["waiters"][0]["eta_secs"], int), queue)
        text = repo.run("queue", "list").expect(0).out
        check.true("held by agent:one" in text and "   1. agent:two" in text, text)
        repo.reply("claim", "release", "branch:main")
        two.ends()
        check.equal(repo.run("queue", "list", "lock:none").expect(0).out,
                    "lock:none\n  nobody holds it\n  nobody waits for it\n")
        check.equal(repo.run("queue", "list").expect(0).out, "nobody waits for anything\n")


@case
def deadlock_shows_who_waits_for_whom():
    with Repo() as repo:
        check.equal(repo.run("deadlock").expect(0).out, "nobody waits for anyone\n")
        repo.acquire("lock:x")
        two = acquire_in_line(repo, "lock:x", "agent:two")
        wait_for_line(repo, "lock:x", "agent:two")
        reply = repo.reply("deadlock")
        check.equal(reply["deadlocks"], [])
        check.equal([(w["resource"], w["because"]) for w in reply["waits"]], [("lock:x", "holds")])
        dot = repo.run("deadlock", "--format", "dot").expect(0).out
        check.true(dot.startswith("digraph waits {") and '[label="lock:x"]' in dot, dot)
        check.true("no deadlock" in repo.run("deadlock").expect(0).out)
        repo.reply("claim", "release", "lock:x")
        two.ends()


@case
def thirty_go_through_one_after_the_other():
    with Repo() as repo:
        lease = repo.acquire("lock:x")
        script = (f'n=$({DIBS} claim acquire lock:x --wait 300 --json) && echo in >> {repo.dir}/order && '
                  f'sleep 0.001 && echo out >> {repo.dir}/order && {DIBS} claim release lock:x --json > /dev/null')
        crowd = [repo.spawn("sh", "-c", script, agent=f"agent:{n}", env={"DIBS_SESSION": f"s{n}"},
                            stdout=subprocess.DEVNULL) for n in range(30)]
        wait_until(lambda: len(line(repo, "lock:x")) == 30, "all in line", timeout=120)
        queue = [w["agent_id"] for w in repo.reply("queue", "list", "lock:x")["waiters"]]
        repo.reply("claim", "release", lease["lease_id"])
        for process in crowd:
            check.equal(process.wait(timeout=300), 0)
        check.equal((repo.dir / "order").read_text(), "in\nout\n" * 30, "one at a time")
        served = [e["agent_id"] for e in repo.reply("claim", "history", "lock:x", "--limit", "1000")["events"]
                  if e["op"] == "acquire"]
        check.equal(served[1:], queue, "in the order of the line")
        repo.healthy()


@case
def waiting_in_two_clones_is_one_line():
    with Remote(clones=2) as remote:
        here, there = remote.clones
        lease = here.acquire("42")
        two = acquire_in_line(there, "42", "agent:two")
        wait_for_line(here, "42", "agent:two")
        here.reply("claim", "release", lease["lease_id"])
        two.ends()
        check.equal(here.holder("42"), "agent:two")


if __name__ == "__main__":
    main()
