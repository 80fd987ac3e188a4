"""Heartbeats: one beat, beats in a loop, and the daemon that ends when it has nobody to serve."""

import fcntl
import json
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from harness import DIBS, TIME, Repo, case, check, is_running, main, wait_until
from remote import Remote

FILE_FIELDS = {"agent_id", "worktree_id", "branch", "pid", "last_beat", "interval_secs"}


def heartbeat_files(repo):
    return [json.loads(path.read_text()) for path in (repo.store / "heartbeat").glob("*.json")]


def start_daemon(repo, *words, **more):
    answer = repo.reply("claim", "heartbeat", "--daemon", *words, **more)
    check.has_fields(answer, {"session", "started"})
    return answer


def stop(pid):
    """Ends one daemon that this test started."""
    if is_running(pid):
        subprocess.run(["kill", str(pid)], check=False)
        wait_until(lambda: not is_running(pid), "the daemon to end")


@case
def one_beat_extends_every_lease_of_the_session_in_one_line():
    with Repo() as repo:
        before = {r: repo.acquire(r, "--ttl", "600")["expires_at"] for r in ("1", "2", "lock:x")}
        other = repo.acquire("9", agent="agent:two")
        indefinite = repo.acquire("8", "--ttl", "0", "--reason", "x")
        entries = len(repo.log())
        time.sleep(0.01)
        beat = repo.reply("claim", "heartbeat")
        check.equal(beat["count"], 4)
        check.equal(beat["lost"], [])
        check.equal(beat["session"], indefinite["session"])
        for lease in beat["extended"]:
            if lease["ttl_secs"]:
                check.true(lease["expires_at"] > before[lease["resource"].replace("item:", "")], lease["resource"])
        check.equal(len(repo.log()), entries + 1, "one line")
        check.equal({event["op"] for event in repo.log()[-1]["events"]}, {"heartbeat"})
        check.equal(len(repo.log()[-1]["events"]), 4)
        check.equal(repo.reply("claim", "status", "9")["lease"]["expires_at"], other["expires_at"],
                    "another agent's lease")
        check.equal(repo.reply("claim", "verify", "1", "--fence", "1")["live"], True, "a beat keeps the fence")


@case
def a_beat_with_nothing_held_writes_no_line():
    with Repo() as repo:
        check.equal(repo.reply("claim", "heartbeat")["count"], 0)
        check.equal(repo.log_bytes(), b"")


@case
def a_beat_does_not_revive_what_ended():
    with Repo() as repo:
        repo.acquire("42", "--ttl", "1")
        repo.acquire("43")
        wait_until(lambda: repo.holder("42") is None, "the lease to end")
        reply = repo.run("claim", "heartbeat", "--json").expect(0)
        beat = reply.json()
        check.equal([lease["resource"] for lease in beat["extended"]], ["item:43"])
        check.equal([lease["resource"] for lease in beat["lost"]], ["item:42"])
        check.true(any("dibs claim acquire item:42" in warning for warning in reply.warnings()), reply.err)
        check.equal(repo.holder("42"), None)


@case
def a_beat_below_the_threshold_warns_with_the_command_that_renews():
    with Repo() as repo:
        lease = repo.acquire("42", "--ttl", "600")
        repo.run("config", "set", "coordination.lease_renewal_threshold_pct", "100").expect(0)
        time.sleep(0.01)
        check.contains(repo.run("claim", "heartbeat").expect(0).err, f"dibs claim renew {lease['lease_id']}")


@case
def the_heartbeat_file_is_as_the_design_says():
    with Repo() as repo:
        lease = repo.acquire("42")
        repo.reply("claim", "heartbeat")
        [beat] = heartbeat_files(repo)
        check.has_fields(beat, FILE_FIELDS)
        check.equal((beat["agent_id"], beat["worktree_id"], beat["branch"]),
                    ("agent:one", lease["worktree_id"], "main"))
        check.equal(beat["interval_secs"], 30)
        check.true(TIME.match(beat["last_beat"]), beat["last_beat"])
        process = repo.sleeper()
        repo.reply("claim", "heartbeat", "--pid", str(process.pid))
        check.equal(heartbeat_files(repo)[0]["pid"], process.pid)
        repo.reply("claim", "heartbeat", agent="ci:X.Y@z+1-a_b")
        check.equal({beat["agent_id"] for beat in heartbeat_files(repo)}, {"agent:one", "ci:X.Y@z+1-a_b"})


@case
def every_beats_until_the_process_ends():
    with Repo() as repo:
        owner = repo.sleeper()
        repo.acquire("42", "--ttl", "3")
        loop = repo.spawn(DIBS, "--json", "claim", "heartbeat", "--every", "1", "--pid", str(owner.pid),
                          stdout=subprocess.PIPE)
        first = json.loads(loop.stdout.readline())
        second = json.loads(loop.stdout.readline())
        check.equal((first["count"], second["count"]), (1, 1))
        for _ in range(4):  # together longer than the ttl
            json.loads(loop.stdout.readline())
        check.equal(repo.holder("42"), "agent:one")
        owner.kill()
        owner.wait()
        check.equal(loop.wait(timeout=30), 0)
        check.equal(heartbeat_files(repo)[0]["interval_secs"], 1)


@case
def every_ends_when_the_untied_session_holds_nothing():
    with Repo() as repo:
        done = repo.run("claim", "heartbeat", "--every", "1").expect(0)
        check.contains(done.out, "0 leases")


@case
def the_daemon_is_detached_and_one_per_session():
    with Repo() as repo:
        owner = repo.sleeper()
        repo.acquire("42", "--ttl", "3")
        daemon = start_daemon(repo, "--every", "1", "--pid", str(owner.pid))
        try:
            pid = daemon["pid"]
            stat = open(f"/proc/{pid}/stat").read().rsplit(") ", 1)[1].split()
            check.equal(int(stat[3]), pid, "its session id: it leads one of its own")
            check.equal(stat[4], "0", "controlling terminal")
            wait_until(lambda: heartbeat_files(repo), "the first beat")
            again = start_daemon(repo, "--every", "1", "--pid", str(owner.pid))
            check.equal(again["started"], False)
            check.absent(again, "pid")
            other = start_daemon(repo, "--every", "1", "--pid", str(owner.pid), env={"DIBS_SESSION": "run-2"})
            check.equal(other["started"], True, "another session has its own")
            time.sleep(3.5)  # longer than the ttl
            check.equal(repo.holder("42"), "agent:one")
        finally:
            owner.send_signal(signal.SIGKILL)
            owner.wait()
        wait_until(lambda: not is_running(pid) and not is_running(other["pid"]), "both daemons to end with the process")
        third = start_daemon(repo, "--every", "1")
        check.true(third["started"], "the lock of a daemon that ended is free")
        stop(third["pid"])


@case
def two_daemons_started_at_once_leave_one():
    with Repo() as repo:
        owner = repo.sleeper()
        repo.acquire("42")
        with ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(lambda _: start_daemon(repo, "--every", "1", "--pid", str(owner.pid)), range(6)))
        pids = [answer["pid"] for answer in answers if answer["started"]]
        wait_until(lambda: sum(map(is_running, pids)) == 1, "all daemons but one to end")
        owner.kill()
        owner.wait()
        wait_until(lambda: not any(map(is_running, pids)), "the last daemon to end")


@case
def the_daemon_of_an_untied_session_ends_when_it_holds_nothing():
    with Repo() as repo:
        repo.acquire("42", "--ttl", "3")
        reply = repo.run("claim", "heartbeat", "--daemon", "--every", "1", "--json").expect(0)
        pid = reply.json()["pid"]
        try:
            check.true(any("--pid" in warning for warning in reply.warnings()),
                       "it is said that nothing ties the session")
            wait_until(lambda: heartbeat_files(repo), "the first beat")
            check.true(is_running(pid))
            repo.run("claim", "release", "42").expect(0)
            wait_until(lambda: not is_running(pid), "the daemon to end")
        finally:
            stop(pid)


@case
def the_daemon_does_not_hold_the_callers_pipes_open():
    with Repo() as repo:
        owner = repo.sleeper()
        shell = subprocess.run(["bash", "-c", f'"{DIBS}" claim heartbeat --daemon --every 1 --pid {owner.pid}'],
                               cwd=repo.root, env=repo.env,
                               capture_output=True, timeout=30)  # would run into the timeout
        check.equal(shell.returncode, 0)
        pid = int(shell.stdout.split()[-1])
        owner.kill()
        owner.wait()
        wait_until(lambda: not is_running(pid), "the daemon to end")


@case
def the_daemon_keeps_no_lock_that_a_claim_needs():
    with Repo() as repo:
        owner = repo.sleeper()
        repo.acquire("42", "--pid", str(owner.pid))
        daemon = start_daemon(repo, "--every", "1", "--pid", str(owner.pid))
        for n in range(20):
            repo.acquire(f"x{n}", agent="agent:two")
        owner.kill()
        owner.wait()
        wait_until(lambda: not is_running(daemon["pid"]), "the daemon to end")
        repo.acquire("42", agent="agent:two")


class CountingRemote(Remote):
    """A remote with five sessions of one clone that each hold a lease and have a daemon; it counts pushes."""

    agents = [f"agent:{n}" for n in range(5)]

    def __enter__(self):
        self.clone = self.clones[0]
        self.clone.run("config", "set", "store.skew_margin_secs", "0").expect(0)
        self.pushes = self.dir / "pushes"
        hook = self.path / "hooks/post-receive"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f'#!/bin/sh\ncat >> "{self.pushes}"\necho push >> "{self.pushes}"\n')
        self.owner = self.sleeper()
        for agent in self.agents:
            self.clone.acquire(agent[-1], "--ttl", "12", agent=agent)
        hook.chmod(0o755)  # claims are not counted
        self.daemons = [start_daemon(self.clone, "--every", "3", "--pid", str(self.owner.pid), agent=agent)["pid"]
                        for agent in self.agents]
        return self

    def __exit__(self, *failure):
        self.owner.kill()
        self.owner.wait()
        wait_until(lambda: not any(map(is_running, self.daemons)), "the daemons to end")
        super().__exit__(*failure)

    def beats(self):
        """How many refs each push moved."""
        text = self.pushes.read_text() if self.pushes.exists() else ""
        return [len(push.splitlines()) for push in text.split("push\n")[:-1]]

    def sessions(self):
        return [path.name for path in (self.clone.store / "heartbeat").glob("*.session")]


@case
def on_a_git_remote_all_sessions_of_a_clone_beat_in_one_push():
    with CountingRemote(clones=1) as remote:
        wait_until(lambda: len(remote.sessions()) == 5, "all daemons to be there")
        wait_until(lambda: remote.beats(), "the first beat")
        started = len(remote.beats())
        # Five more intervals: longer than the ttl.
        wait_until(lambda: len(remote.beats()) >= started + 5, "five beats", timeout=60)
        check.equal(set(remote.beats()[started:]), {5}, "leases that each push extended")
        check.equal([remote.clone.holder(agent[-1]) for agent in remote.agents], remote.agents)
        # And not five such pushes an interval: nobody beats within half an interval of another's beat. A slow machine
        # only makes the gaps longer.
        events = remote.clone.reply("claim", "history", "0")["events"]
        times = [datetime.fromisoformat(event["time"].replace("Z", "+00:00")) for event in events
                 if event["op"] == "heartbeat"]
        gaps = [(late - early).total_seconds() for early, late in zip(times, times[1:])]
        check.true(len(gaps) >= 5 and min(gaps) >= 1.5, f"seconds between beats: {gaps}")
        remote.owner.kill()
        remote.owner.wait()
        wait_until(lambda: not remote.sessions(), "the daemons to take their names off")


@case
def when_the_daemon_that_beats_is_killed_another_takes_over():
    with CountingRemote(clones=1) as remote:
        wait_until(lambda: len(remote.sessions()) == 5, "all daemons to be there")
        for victim in range(2):  # whoever it was that beat, in two kills it is likely one of them
            before = len(remote.beats())
            wait_until(lambda: len(remote.beats()) > before, "a beat")
            subprocess.run(["kill", "-9", str(remote.daemons[victim])], check=True)
        wait_until(lambda: remote.clone.holder("0") is None and remote.clone.holder("1") is None,
                   "the leases of the two to end", timeout=60)
        check.equal([remote.clone.holder(agent[-1]) for agent in remote.agents[2:]], remote.agents[2:])
        check.equal(len(remote.sessions()), 3, "names of daemons that run")
        check.equal(remote.beats()[-1], 3, "leases that the last push extended")


@case
def a_paused_daemon_does_not_keep_the_others_from_beating():
    with CountingRemote(clones=1) as remote:
        wait_until(lambda: len(remote.sessions()) == 5, "all daemons to be there")
        with open(remote.clone.store / "locks/beat.lock", "a", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # as one that was paused in the middle of a beat
            since = len(remote.beats())
            wait_until(lambda: len(remote.beats()) >= since + 6, "each to beat alone", timeout=150)
            check.equal([remote.clone.holder(agent[-1]) for agent in remote.agents], remote.agents)


if __name__ == "__main__":
    main()
