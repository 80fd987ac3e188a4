"""Commands to kill and fail at every system call, and how the store must look afterwards.

Whatever happens to the command: what it acknowledged is there, what others hold is untouched, the next command works without any
repair, the log only grew and its chain is whole, and doing the command again ends where it would have ended undisturbed.
"""

import contextlib

from injection import Bench, acknowledged, needs_strace

from harness import Repo, check, check_chain


class Scenario:
    """A command, the stage that `prepare` sets for it, and `judge(before, now, done)`, which compares the lease on
    item:42 (None: free). `done` is what the command said: True, False, or None when nobody knows."""

    def __init__(self, name, words, prepare, judge, again=(0,), calls=()):
        self.name, self.words, self.prepare, self.judge, self.again, self.calls = name, words, prepare, judge, again, calls

    @contextlib.contextmanager
    def stage(self):
        needs_strace()
        with Repo() as repo:
            repo.acquire("other", agent="agent:bystander")
            self.prepare(repo)
            bench = Bench(repo, self.words)
            check.true(set(self.calls) <= set(bench.system_calls()), f"it does not do what it is here for: {self.calls}")
            yield repo, bench


def held(repo):
    """Resource → lease."""
    return {lease["resource"]: lease for lease in repo.reply("claim", "list")["leases"]}


def check_aftermath(scenario, repo, before, log_before, reply, done):
    now = held(repo)
    check.equal(now.get("item:other"), before["item:other"], "what a bystander holds")
    ack = acknowledged(reply)
    if ack and done and ack.get("resource") == "item:42" and ("fence" in ack or ack.get("released")):
        seen = now.get("item:42")
        wanted = ack.get("lease_id") if not ack.get("released") else None
        check.equal(seen and seen["lease_id"], wanted, "the acknowledged lease")
        if wanted:
            check.equal((seen["fence"], seen["expires_at"]), (ack["fence"], ack["expires_at"]))
    scenario.judge(before.get("item:42"), now.get("item:42"), done)
    repo.run("claim", "acquire", "next", agent="agent:two", timeout=20).expect(0)
    again = repo.run(*scenario.words, timeout=20)
    check.true(again.code in scenario.again, f"doing it again: {again}")
    log = repo.log_bytes()
    check.true(log.startswith(log_before), "the log was rewritten")
    lines = log_before.splitlines()
    check_chain(log[len(log_before):], len(lines) + 1, int(lines[-1][-10:-2], 16))
    repo.healthy()


def all_resources_or_none(repo):
    seen = held(repo)
    check.equal("item:41" in seen, "item:43" in seen, "all or nothing")


def kill_everywhere(scenario):
    with scenario.stage() as (repo, bench):
        before, log_before = held(repo), repo.log_bytes()
        calls = bench.system_calls()
        killed = 0
        for call, count in sorted(calls.items()):
            for k in range(1, count + 1):
                try:
                    reply = bench.inject(f"{call}:signal=KILL:when={k}")
                    killed += reply.code == -9
                    if scenario.name == "acquire of three":
                        all_resources_or_none(repo)
                    check_aftermath(scenario, repo, before, log_before, reply, True if reply.code == 0 else None)
                except AssertionError as error:
                    raise AssertionError(f"killed at {call} number {k}: {error}") from None
        check.true(killed >= 0.9 * sum(calls.values()), f"only {killed} of {sum(calls.values())} runs were killed")


def judge_acquire(before, now, done):
    if done is False:
        check.equal(now, before, "after a refusal")
    else:
        check.true(now is None if not done and now is None else now["agent_id"] == "agent:one", f"on the board: {now}")


def judge_renew(before, now, done):
    check.true(now is not None and now["lease_id"] == before["lease_id"], f"on the board: {now}")
    check.true(now["expires_at"] >= before["expires_at"], "shortened")
    if done is False:
        check.equal(now, before, "after a refusal")
    if done:
        check.true(now["expires_at"] > before["expires_at"], "not extended")


def judge_release(before, now, done):
    if done:
        check.equal(now, None)
    elif done is False:
        check.equal(now, before, "after a refusal")
    else:
        check.true(now in (None, before), f"on the board: {now}")


def judge_transfer(before, now, done):
    if done is False or (done is None and now == before):
        check.equal(now, before, "after a refusal")
    else:
        check.true(now["agent_id"] == "agent:two" and now["fence"] > before["fence"], f"on the board: {now}")


def take_42(repo):
    repo.acquire("42")


def share_42(repo):
    repo.acquire("42", "--shared")


def judge_stays(before, now, done):
    """The lease stays what it is, whatever else happens."""
    check.equal(now and now["lease_id"], before and before["lease_id"], "the lease")


def judge_mode(mode):
    def judge(before, now, done):
        wanted = {True: {mode}, False: {before["mode"]}, None: {mode, before["mode"]}}[done]
        check.true(now["agent_id"] == "agent:one" and now["mode"] in wanted, f"on the board: {now}")
    return judge


def nothing(repo):
    pass


def forget_identity(repo):
    for name in ("worktree.json", "worktree.lock", "counters"):
        (repo.store / name).unlink()


def files_of(repo):
    return {path: path.read_bytes() for path in repo.store.iterdir() if path.name.startswith("claims")}


def just_before(repo, happened, *words):
    """Repeats a command until something happened, and goes back to just before: one line more makes it happen again."""
    while True:
        before = files_of(repo)
        repo.run(*words).expect(0)
        now = files_of(repo)
        if happened(before, now):
            for path in now:
                path.unlink()
            for path, data in before.items():
                path.write_bytes(data)
            return


def grow_tail(repo):
    """Makes the unindexed part of the log so long that the next commit writes the index."""
    repo.acquire("41")
    repo.run("recover").expect(0)
    index = repo.store / "claims.index.json"
    just_before(repo, lambda before, now: before[index] != now[index], "claim", "renew", "41")


def grow_segment(repo):
    """Makes the log so long that the next commit but one closes it and begins a new one."""
    for start in range(0, 192, 64):
        repo.run("claim", "acquire", *[f"bulk{n}" for n in range(start, start + 64)], "--ttl", "3600").expect(0)
    just_before(repo, lambda before, now: len(before) != len(now), "claim", "heartbeat")


SCENARIOS = [
    Scenario("acquire", ["claim", "acquire", "42"], nothing, judge_acquire),
    Scenario("the first acquire in a worktree", ["claim", "acquire", "42"], forget_identity, judge_acquire,
             calls={"rename", "fallocate"}),
    Scenario("acquire of three", ["claim", "acquire", "41", "42", "43"], nothing, judge_acquire),
    Scenario("acquire that writes the index", ["claim", "acquire", "42", "--reason", "long " * 80], grow_tail,
             judge_acquire, calls={"rename", "fsync"}),
    Scenario("renew", ["claim", "renew", "42"], take_42, judge_renew),
    Scenario("release", ["claim", "release", "42"], take_42, judge_release),
    Scenario("transfer", ["claim", "transfer", "42", "--to", "agent:two"], take_42, judge_transfer, again=(0, 5)),
]
# What is too long for every change: soak has them.
MORE = [
    Scenario("downgrade", ["claim", "downgrade", "42"], take_42, judge_mode("shared")),
    Scenario("upgrade", ["claim", "upgrade", "42"], share_42, judge_mode("exclusive")),
    Scenario("heartbeat", ["claim", "heartbeat"], take_42, judge_stays),
    Scenario("force-evict", ["claim", "force-evict", "42", "--reason", "x"], take_42, judge_release, again=(0, 4)),
    Scenario("recover", ["recover"], take_42, judge_stays),
    Scenario("config set", ["config", "set", "worktree.mode", "auto"], take_42, judge_stays),
    Scenario("cleanup", ["claim", "cleanup"], take_42, judge_stays),
    Scenario("worktree init", ["worktree", "init"], forget_identity, judge_stays),
]
