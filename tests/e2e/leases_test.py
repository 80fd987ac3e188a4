"""Every `claim` command on the real binary: what it answers, with which exit code, and what the log says afterwards."""

import json
import os
import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from harness import DIBS, LEASE_FIELDS, TIME, ULID, Repo, case, check, is_running, main, wait_until


def check_lease(lease, **wanted):
    check.has_fields(lease, LEASE_FIELDS, "a lease")
    check.true(ULID.match(lease["lease_id"]), f"not a ULID: {lease['lease_id']}")
    check.true(re.match(r"^wt:[0-9a-f]{8}$", lease["worktree_id"]), lease["worktree_id"])
    check.true(TIME.match(lease["acquired_at"]), lease["acquired_at"])
    for name, value in wanted.items():
        check.equal(lease[name], value, name)


@case
def acquire_answers_with_the_whole_lease():
    with Repo() as repo:
        lease = repo.acquire("42")
        check_lease(lease, resource="item:42", agent_id="agent:one", branch="main", mode="exclusive", ttl_secs=600,
                    fence=1,
                    session=f"agent:one@{lease['worktree_id']}", already_held=False)
        check.true(TIME.match(lease["expires_at"]))
        check.equal(repo.acquire("lock:schema", "--ttl", "1800")["ttl_secs"], 1800)
        check.equal(repo.acquire("branch:release")["resource"], "branch:release")
        check.equal(repo.acquire("item:7")["resource"], "item:7")
        check.equal(len(repo.log()), 4, "one line a claim")


@case
def options_may_stand_before_the_resource():
    with Repo() as repo:
        for words in (["--agent-id", "agent:two", "claim", "acquire", "1"],
                      ["claim", "--agent-id", "agent:two", "acquire", "2"],
                      ["claim", "acquire", "--ttl", "60", "3"],
                      ["claim", "acquire", "--reason", "why", "--ttl=60", "4"],
                      ["-C", str(repo.root), "claim", "acquire", "5"],
                      ["--store", "local", "--color", "never", "claim", "acquire", "6"],
                      ["claim", "acquire", "--strategy", "fail-fast", "7", "--ttl", "60"]):
            repo.reply(*words)
        repo.reply("claim", "verify", "--fence", "1", "1")
        repo.reply("claim", "history", "--limit", "1", "1")


@case
def the_same_session_gets_its_lease_back():
    with Repo() as repo:
        first = repo.acquire("42")
        again = repo.acquire("42", "--ttl", "5")
        check.true(again.pop("already_held") and not first.pop("already_held"))
        check.equal(again, first)
        check.equal(len(repo.log()), 1, "asking again writes nothing")


@case
def another_session_of_the_same_agent_is_refused():
    with Repo() as repo:
        mine = repo.acquire("42", env={"DIBS_SESSION": "run-1"})
        check.equal(mine["session"], "run-1")
        error = repo.refusal(3, "claim", "acquire", "42", env={"DIBS_SESSION": "run-2"})
        check.equal((error["holder"], error["fence"]), ("agent:one", mine["fence"]))
        repo.refusal(3, "claim", "acquire", "42")
        check.true(repo.acquire("42", env={"DIBS_SESSION": "run-1"})["already_held"])
        for command in (["renew", "42"], ["release", "42"], ["transfer", "42", "--to", "agent:two"],
                        ["downgrade", "42"]):
            repo.refusal(3, "claim", *command, env={"DIBS_SESSION": "run-2"})


@case
def one_of_ten_agents_in_ten_worktrees_wins():
    with Repo(commit=True) as repo:
        trees = [repo.worktree(f"wt{n}") for n in range(10)]

        def race(n):
            return repo.run("claim", "acquire", "42", "--json", agent=f"agent:a{n}", cwd=trees[n])

        with ThreadPoolExecutor(10) as pool:
            replies = list(pool.map(race, range(10)))
        codes = sorted(reply.code for reply in replies)
        check.equal(codes, [0] + [3] * 9, "exit codes")
        lease = next(reply for reply in replies if reply.code == 0).json()
        for reply in replies:
            if reply.code != 3:
                continue
            check.equal(reply.out, "")
            error = reply.error()
            check.has_fields(error, {"code", "message", "hint", "holder", "expires_at", "fence"})
            check.equal((error["code"], error["holder"], error["expires_at"], error["fence"]),
                        ("held", lease["agent_id"], lease["expires_at"], lease["fence"]))
        check.equal(repo.ops("item:42"), [("acquire", lease["agent_id"])])
        worktrees = repo.reply("worktree", "list")["worktrees"]
        check.equal(len({tree["worktree_id"] for tree in worktrees if tree["worktree_id"]}), 10, "worktree names")


@case
def a_refusal_says_who_until_when_and_what_to_type():
    with Repo() as repo:
        lease = repo.acquire("42")
        reply = repo.run("claim", "acquire", "42", agent="agent:two").expect(3)
        check.equal(reply.out, "")
        lines = reply.err.splitlines()
        check.equal(len(lines), 2, "lines on stderr")
        for part in ("error: ", "item:42", "agent:one", lease["expires_at"]):
            check.contains(lines[0], part)
        check.true(lines[1].startswith("hint: ") and "dibs claim acquire" in lines[1], lines[1])
        command = lines[1][lines[1].index("dibs "):].split()[1:]
        repo.run("claim", "release", "42").expect(0)
        repo.run(*command, agent="agent:two").expect(0)


@case
def the_lease_outlives_the_shell_that_ran_the_command():
    with Repo() as repo:
        shell = subprocess.run(["bash", "-c", f'"{DIBS}" claim acquire 42'], cwd=repo.root, env=repo.env,
                               capture_output=True)
        check.equal(shell.returncode, 0)
        repo.refusal(3, "claim", "acquire", "42", agent="agent:two")
        subprocess.run(["bash", "-c", f'"{DIBS}" claim renew 42 && "{DIBS}" claim release 42'], cwd=repo.root,
                       env=repo.env, check=True,
                       capture_output=True)
        check.equal(repo.acquire("42", agent="agent:two")["already_held"], False)


@case
def several_resources_are_taken_all_or_none():
    with Repo() as repo:
        answer = repo.reply("claim", "acquire", "1", "2", "lock:x")
        check.equal(answer["count"], 3)
        check.equal(sorted(lease["resource"] for lease in answer["leases"]), ["item:1", "item:2", "lock:x"])
        for lease in answer["leases"]:
            check_lease(lease, agent_id="agent:one")
        check.equal(len(repo.log()), 1, "one transaction")
        before = repo.log_bytes()
        error = repo.refusal(3, "claim", "acquire", "9", "2", "8", agent="agent:two")
        check.equal((error["holder"], error["resource"]), ("agent:one", "item:2"))
        check.equal(repo.log_bytes(), before)
        check.equal([repo.holder(r) for r in ("9", "8")], [None, None])
        mixed = repo.reply("claim", "acquire", "2", "3")
        check.equal({lease["resource"]: lease["already_held"] for lease in mixed["leases"]},
                    {"item:2": True, "item:3": False})
        twice = repo.reply("claim", "acquire", "5", "item:5")
        check.equal([lease["resource"] for lease in twice["leases"]], ["item:5"], "named twice, taken once")


@case
def two_who_want_the_same_two_never_get_one_each():
    with Repo() as repo:
        for n in range(12):
            with ThreadPoolExecutor(2) as pool:
                one = pool.submit(repo.run, "claim", "acquire", f"a{n}", f"b{n}", agent="agent:one")
                two = pool.submit(repo.run, "claim", "acquire", f"b{n}", f"a{n}", agent="agent:two")
                check.equal(sorted([one.result().code, two.result().code]), [0, 3])
            check.equal(repo.holder(f"a{n}"), repo.holder(f"b{n}"))


@case
def renew_extends_and_never_shortens():
    with Repo() as repo:
        lease = repo.acquire("42", "--ttl", "600")
        time.sleep(0.01)
        renewed = repo.reply("claim", "renew", lease["lease_id"])
        check.true(renewed["expires_at"] > lease["expires_at"], "later than before")
        check.equal((renewed["lease_id"], renewed["fence"]), (lease["lease_id"], lease["fence"]))
        shorter = repo.reply("claim", "renew", "42", "--ttl", "5")
        check.true(shorter["expires_at"] >= renewed["expires_at"], f"shortened: {shorter}")
        longer = repo.reply("claim", "renew", "item:42", "--ttl", "7200")
        check.true(longer["expires_at"] > shorter["expires_at"])
        check.equal(repo.refusal(3, "claim", "renew", "42", agent="agent:two")["holder"], "agent:one")
        check.equal(repo.refusal(4, "claim", "renew", "43")["code"], "not_found")
        check.equal(repo.refusal(4, "claim", "renew", "01ARZ3NDEKTSV4RRFFQ69G5FAV")["code"], "not_found")
        check.equal(repo.reply("claim", "renew", lease["lease_id"].lower())["lease_id"], lease["lease_id"])


@case
def renewing_an_expired_lease_does_not_revive_it():
    with Repo() as repo:
        lease = repo.acquire("42", "--ttl", "1")
        wait_until(lambda: repo.holder("42") is None, "the lease to end")
        error = repo.refusal(5, "claim", "renew", lease["lease_id"])
        check.equal(error["code"], "lease_lost")
        check.contains(error["hint"], "dibs claim acquire item:42")
        repo.refusal(5, "claim", "renew", "42")
        check.equal(repo.reply("claim", "status", "42")["is_locked"], False)


@case
def release_is_idempotent():
    with Repo() as repo:
        lease = repo.acquire("42")
        first = repo.reply("claim", "release", lease["lease_id"])
        check.equal((first["resource"], first["released"], first["already_released"]), ("item:42", True, False))
        entries = len(repo.log())
        for name in (lease["lease_id"], "42", "item:42"):
            again = repo.reply("claim", "release", name)
            check.equal((again["released"], again["already_released"], again["lease_id"]),
                        (True, True, lease["lease_id"]))
        check.equal(len(repo.log()), entries)
        later = repo.acquire("42", agent="agent:two")
        check.true(later["fence"] > lease["fence"], "fences grow through a release")
        check.true(repo.reply("claim", "release", lease["lease_id"])["already_released"],
                   "by id, after another took it")
        check.equal(repo.holder("42"), "agent:two")
        repo.refusal(3, "claim", "release", "42")
        check.equal(repo.refusal(4, "claim", "release", "never-held")["code"], "not_found")


@case
def releasing_what_expired_and_was_taken_says_so():
    with Repo() as repo:
        lease = repo.acquire("42", "--ttl", "1")
        taken = wait_until(lambda: (r := repo.run("claim", "acquire", "42", "--json",
                                                  agent="agent:two")).code == 0 and r.json(),
                           "the lease to end")
        check.true(taken["fence"] > lease["fence"])
        check.equal(repo.refusal(5, "claim", "release", lease["lease_id"])["code"], "lease_lost")
        check.equal(repo.ops("item:42"), [("acquire", "agent:one"), ("auto-evict", "agent:one"),
                                          ("acquire", "agent:two")])
        evicted = [e for line in repo.log() for e in line["events"] if e["op"] == "auto-evict"][0]
        check.contains(evicted["reason"], "expired")
        check.equal(repo.holder("42"), "agent:two")


@case
def transfer_hands_over_with_a_higher_fence():
    with Repo(commit=True) as repo:
        tree = repo.worktree("side")
        side = repo.reply("worktree", "init", cwd=tree)["worktree_id"]
        lease = repo.acquire("42")
        moved = repo.reply("claim", "transfer", "42", "--to", "agent:two", "--to-worktree", side)
        check_lease(moved, agent_id="agent:two", worktree_id=side, session=f"agent:two@{side}")
        check.true(moved["fence"] > lease["fence"] and moved["lease_id"] != lease["lease_id"])
        for command in ("renew", "release"):
            check.equal(repo.refusal(5, "claim", command, lease["lease_id"])["code"], "lease_lost")
            check.equal(repo.refusal(5, "claim", command, "42")["code"], "lease_lost")
        repo.reply("claim", "renew", "42", agent="agent:two", cwd=tree)
        repo.run("claim", "verify", "42", "--fence", str(lease["fence"])).expect(5)
        repo.run("claim", "verify", "42", "--fence", str(moved["fence"])).expect(0)
        back = repo.reply("claim", "transfer", moved["lease_id"], "--to", "agent:one", "--to-session", "run-9",
                          agent="agent:two", cwd=tree)
        check.equal(back["session"], "run-9")
        event = repo.reply("claim", "history", "42")["events"][-1]
        check.equal((event["op"], event["agent_id"]), ("transfer", "agent:two"))
        repo.refusal(64, "claim", "transfer", "42")
        repo.refusal(64, "claim", "transfer", "42", "--to", "nobody")
        repo.refusal(64, "claim", "transfer", "42", "--to", "agent:two", "--to-worktree", "../side")


@case
def a_transferred_lease_does_not_die_with_the_old_process():
    with Repo() as repo:
        process = repo.sleeper()
        repo.acquire("42", "--pid", str(process.pid))
        repo.reply("claim", "transfer", "42", "--to", "agent:two")
        process.kill()
        process.wait()
        check.equal(repo.holder("42"), "agent:two")


@case
def force_evict_needs_a_reason_and_keeps_it():
    with Repo() as repo:
        lease = repo.acquire("42")
        repo.refusal(64, "claim", "force-evict", "42", agent="human:boss")
        repo.refusal(64, "claim", "force-evict", "42", "--reason", "", agent="human:boss")
        gone = repo.reply("claim", "force-evict", "42", "--reason", "its agent crashed", agent="human:boss")
        check.equal((gone["evicted"], gone["lease_id"]), (True, lease["lease_id"]))
        event = repo.reply("claim", "history", "42")["events"][-1]
        check.equal((event["op"], event["by"], event["reason"]), ("force-evict", "human:boss", "its agent crashed"))
        error = repo.refusal(5, "claim", "renew", "42")
        check.contains(error["message"], "human:boss")
        check.contains(error["message"], "its agent crashed")
        check.true(repo.acquire("42", agent="agent:two")["fence"] > lease["fence"])
        repo.refusal(4, "claim", "force-evict", "nothing-here", "--reason", "x")


@case
def evicting_a_resource_ends_every_shared_lease_on_it():
    with Repo() as repo:
        for agent in ("agent:one", "agent:two"):
            repo.acquire("lock:doc", "--shared", agent=agent)
        check.equal(len(repo.reply("claim", "force-evict", "lock:doc", "--reason", "x")["leases"]), 2)
        check.equal(repo.holder("lock:doc"), None)


@case
def shared_leases_upgrade_and_downgrade():
    with Repo() as repo:
        one = repo.acquire("lock:doc", "--shared")
        check.equal(one["mode"], "shared")
        repo.acquire("lock:doc", "--shared", agent="agent:two")
        status = repo.reply("claim", "status", "lock:doc")
        check.equal([lease["agent_id"] for lease in status["leases"]], ["agent:one", "agent:two"])
        repo.refusal(3, "claim", "acquire", "lock:doc", agent="agent:three")
        check.equal(repo.refusal(3, "claim", "upgrade", "lock:doc")["holder"], "agent:two")
        repo.run("claim", "release", "lock:doc", agent="agent:two").expect(0)
        check.equal(repo.refusal(8, "claim", "acquire", "lock:doc")["code"], "refused")
        up = repo.reply("claim", "upgrade", "lock:doc")
        check.equal((up["mode"], up["lease_id"]), ("exclusive", one["lease_id"]))
        check.true(up["fence"] > one["fence"])
        check.true(repo.reply("claim", "upgrade", "lock:doc")["already_held"])
        repo.refusal(3, "claim", "acquire", "lock:doc", "--shared", agent="agent:two")
        check.equal(repo.reply("claim", "downgrade", "lock:doc")["mode"], "shared")
        repo.acquire("lock:doc", "--shared", agent="agent:two")
        repo.refusal(4, "claim", "upgrade", "lock:other")
        repo.refusal(3, "claim", "upgrade", "lock:doc", agent="agent:three")


@case
def status_and_list_show_what_is_held():
    with Repo() as repo:
        free = repo.reply("claim", "status", "42")
        check.equal((free["resource"], free["is_locked"]), ("item:42", False))
        check.absent(free, "lease")
        lease = repo.acquire("42")
        held = repo.reply("claim", "status", "--item", "42")
        check.true(held["is_locked"])
        check_lease(held["lease"], lease_id=lease["lease_id"], condition="live")
        repo.acquire("43", agent="agent:two")
        check.equal(repo.reply("claim", "list")["count"], 2)
        only = repo.reply("claim", "list", "--agent-id", "agent:two")
        check.equal([entry["resource"] for entry in only["leases"]], ["item:43"])
        check.equal([entry["resource"] for entry in repo.reply("claim", "status")["leases"]], ["item:42"])
        check.equal(repo.reply("claim", "list", "--stale")["count"], 0)
        for words in (["claim", "status", "42"], ["claim", "list"]):
            check.contains(repo.run(*words).expect(0).out, "agent:one")
        check.contains(repo.run("claim", "status", "99").expect(0).out, "free")
        repo.reply("claim", "list", env={"DIBS_AGENT_ID": None})  # looking needs no identity
        repo.refusal(64, "claim", "status", "42", "--item", "42")


@case
def an_expired_lease_is_stale_until_cleaned_up():
    with Repo() as repo:
        lease = repo.acquire("42", "--ttl", "1")
        repo.acquire("43")
        stale = wait_until(lambda: repo.reply("claim", "list", "--stale")["leases"], "the lease to end")
        check.equal([(entry["resource"], entry["condition"]) for entry in stale], [("item:42", "lapsed")])
        check.contains(stale[0]["why"], "expired")
        check.equal([entry["resource"] for entry in repo.reply("claim", "list")["leases"]], ["item:43"])
        before = repo.log_bytes()
        check.equal(repo.reply("claim", "cleanup", "--older-than", "3600")["removed"], [])
        would = repo.reply("claim", "cleanup", "--dry-run")
        check.equal((would["dry_run"], would["count"]), (True, 1))
        check.equal(repo.log_bytes(), before)
        did = repo.reply("claim", "cleanup")
        check.equal([(r["resource"], r["lease_id"]) for r in did["removed"]], [("item:42", lease["lease_id"])])
        check.contains(did["removed"][0]["why"], "expired")
        check.equal(repo.ops()[-1], ("auto-evict", "agent:one"))
        check.equal(repo.reply("claim", "cleanup")["count"], 0)
        check.equal(repo.holder("43"), "agent:one")


@case
def history_is_in_order_and_limited():
    with Repo() as repo:
        for n in range(3):
            repo.acquire("42")
            repo.run("claim", "release", "42").expect(0)
        repo.acquire("43")
        events = repo.reply("claim", "history")["events"]
        check.equal([event["seq"] for event in events], list(range(1, 8)))
        for event in events:
            check.has_fields(event, {"seq", "time", "op", "resource", "lease_id", "agent_id", "session", "worktree_id"})
        check.equal({event["resource"] for event in repo.reply("claim", "history", "42")["events"]}, {"item:42"})
        last = repo.reply("claim", "history", "42", "--limit", "2")
        check.equal([(event["seq"], event["op"]) for event in last["events"]], [(5, "acquire"), (6, "release")])
        check.equal(repo.reply("claim", "history", "none")["events"], [])


@case
def verify_knows_the_live_fence():
    with Repo() as repo:
        fence = repo.acquire("42")["fence"]
        check.equal(repo.reply("claim", "verify", "42", "--fence", str(fence))["live"], True)
        repo.reply("claim", "verify", "42", "--fence", str(fence), agent="agent:two")
        for wrong in (0, fence + 1, 2**62):
            check.equal(repo.refusal(5, "claim", "verify", "42", "--fence", str(wrong))["code"], "lease_lost")
        repo.run("claim", "release", "42").expect(0)
        repo.refusal(5, "claim", "verify", "42", "--fence", str(fence))
        repo.refusal(64, "claim", "verify", "42")


@case
def a_lease_tied_to_a_process_ends_with_it():
    with Repo() as repo:
        process = repo.sleeper()
        lease = repo.acquire("42", "--pid", str(process.pid), "--ttl", "3600")
        repo.refusal(3, "claim", "acquire", "42", agent="agent:two")
        process.kill()
        process.wait()
        taken = repo.acquire("42", agent="agent:two")
        check.true(taken["fence"] > lease["fence"])
        evicted = [e for line in repo.log() for e in line["events"] if e["op"] == "auto-evict"]
        check.contains(evicted[0]["reason"], str(process.pid))


@case
def a_zombie_counts_as_gone():
    with Repo() as repo:
        process = repo.sleeper()
        repo.acquire("42", "--pid", str(process.pid))
        os.kill(process.pid, 9)  # and nobody waits for it
        wait_until(lambda: not is_running(process.pid), "the process to be a zombie")
        check.true(os.path.exists(f"/proc/{process.pid}"), "it is still in the process table")
        check.equal(repo.acquire("42", agent="agent:two")["agent_id"], "agent:two")
        check.equal(repo.refusal(4, "claim", "acquire", "43", "--pid", str(process.pid))["code"], "not_found")


@case
def the_holder_of_a_dead_tie_has_lost_it_too():
    with Repo() as repo:
        process = repo.sleeper()
        fence = repo.acquire("42", "--pid", str(process.pid))["fence"]
        process.kill()
        process.wait()
        repo.refusal(5, "claim", "renew", "42")
        repo.refusal(5, "claim", "verify", "42", "--fence", str(fence))
        check.equal(repo.reply("claim", "list", "--stale")["leases"][0]["condition"], "dead")
        check.true(not repo.acquire("42")["already_held"], "a new grant, not the dead one")


@case
def retry_gets_it_once_it_is_free():
    with Repo() as repo:
        process = repo.sleeper()
        repo.acquire("42", "--pid", str(process.pid))
        waiting = repo.spawn(DIBS, "--json", "claim", "acquire", "42", "--strategy", "retry", agent="agent:two",
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.3)
        check.equal(waiting.poll(), None, "still trying")
        process.kill()
        process.wait()
        out, _ = waiting.communicate(timeout=60)
        check.equal(waiting.returncode, 0)
        check.equal(json.loads(out)["agent_id"], "agent:two")


@case
def retries_used_up_are_a_refusal_with_the_holder():
    with Repo() as repo:
        repo.acquire("42")
        error = repo.refusal(3, "claim", "acquire", "42", "--strategy", "retry", "--max-retries", "1",
                             agent="agent:two")
        check.equal(error["holder"], "agent:one")
        repo.refusal(3, "claim", "acquire", "42", "--strategy", "retry", "--max-retries", "0", agent="agent:two")


@case
def steal_stale_takes_only_what_has_gone_silent():
    with Repo() as repo:
        repo.run("config", "set", "coordination.stale_after_secs", "1").expect(0)
        repo.acquire("42", "--ttl", "0", "--reason", "waiting for the vendor")
        repo.acquire("43")
        repo.refusal(3, "claim", "acquire", "43", "--strategy", "steal-stale", agent="agent:two")
        wait_until(lambda: [x["condition"] for x in repo.reply("claim", "list", "--stale")["leases"]] == ["stale"],
                   "it to go stale")
        check.equal(repo.refusal(3, "claim", "acquire", "42", agent="agent:two")["holder"], "agent:one")
        check.equal(repo.holder("42"), "agent:one", "stale is still held")
        taken = repo.acquire("42", "--strategy", "steal-stale", agent="agent:two")
        check.equal(taken["agent_id"], "agent:two")
        check.equal(repo.ops("item:42")[1], ("auto-evict", "agent:one"))
        repo.refusal(3, "claim", "acquire", "43", "--strategy", "steal-stale", agent="agent:two")


@case
def force_takes_a_live_lease_and_says_who_and_why():
    with Repo() as repo:
        lease = repo.acquire("42")
        repo.refusal(64, "claim", "acquire", "42", "--strategy", "force", agent="human:boss")
        taken = repo.acquire("42", "--strategy", "force", "--reason", "demo at noon", agent="human:boss")
        check.true(taken["fence"] > lease["fence"])
        event = next(e for line in repo.log() for e in line["events"] if e["op"] == "force-evict")
        check.equal((event["by"], event["reason"]), ("human:boss", "demo at noon"))
        repo.refusal(5, "claim", "renew", lease["lease_id"])


@case
def indefinite_leases_need_a_reason_and_are_few():
    with Repo() as repo:
        repo.refusal(64, "claim", "acquire", "1", "--ttl", "0")
        lease = repo.acquire("1", "--ttl", "0", "--reason", "waiting for the vendor")
        check_lease(lease, ttl_secs=0)
        check.equal(lease["expires_at"], None)
        repo.acquire("2", "--ttl", "0", "--reason", "x")
        error = repo.refusal(8, "claim", "acquire", "3", "--ttl", "0", "--reason", "x")
        check.contains(error["hint"], "max_indefinite_per_agent")
        repo.run("config", "set", "coordination.max_indefinite_per_repository", "3").expect(0)
        repo.acquire("3", "--ttl", "0", "--reason", "x", agent="agent:two")
        error = repo.refusal(8, "claim", "acquire", "4", "--ttl", "0", "--reason", "x", agent="agent:three")
        check.contains(error["hint"], "max_indefinite_per_repository")
        repo.run("claim", "release", "1").expect(0)
        repo.acquire("4", "--ttl", "0", "--reason", "x", agent="agent:three")
        repo.refusal(8, "claim", "renew", "2", "--ttl", "60")
        refusal = repo.refusal(3, "claim", "acquire", "2", agent="agent:nine")
        check.equal(refusal.get("expires_at"), None)


@case
def indefinite_limits_hold_in_a_race():
    with Repo() as repo:
        with ThreadPoolExecutor(8) as pool:
            codes = list(pool.map(lambda n: repo.run("claim", "acquire", str(n), "--ttl", "0", "--reason", "x").code,
                                  range(8)))
        check.equal(sorted(codes), [0] * 2 + [8] * 6)


@case
def the_holder_is_warned_before_the_end():
    with Repo() as repo:
        repo.run("config", "set", "coordination.lease_renewal_threshold_pct", "100").expect(0)
        lease = repo.acquire("42", "--ttl", "600")
        time.sleep(0.01)
        mine = repo.run("claim", "status", "42").expect(0)
        check.contains(mine.err, f"dibs claim renew {lease['lease_id']}")
        check.true(mine.err.startswith("warning: "), mine.err)
        check.equal(repo.run("claim", "status", "42", agent="agent:two").expect(0).err, "", "nobody else is warned")
        check.equal(len(repo.run("claim", "list", "--json").expect(0).warnings()), 1)
        repo.run("config", "set", "coordination.lease_renewal_threshold_pct", "10").expect(0)
        check.equal(repo.run("claim", "status", "42").expect(0).err, "")


@case
def what_comes_later_is_refused_by_name():
    with Repo() as repo:
        error = repo.refusal(64, "claim", "acquire", "42", "--files", "src/**")
        check.contains(error["message"], "--files is not available")
        check.contains(repo.refusal(64, "claim", "acquire", "file:src/**")["message"], "file:")
        check.equal(repo.log_bytes(), b"")


@case
def a_removed_worktree_leaves_its_lease_to_its_ttl():
    with Repo(commit=True) as repo:
        tree = repo.worktree("side")
        lease = repo.acquire("42", cwd=tree)
        repo.git("worktree", "remove", "--force", tree, cwd=repo.root)
        check.equal(repo.holder("42"), "agent:one")
        repo.refusal(3, "claim", "acquire", "42")
        repo.reply("claim", "force-evict", lease["lease_id"], "--reason", "its worktree is gone")


@case
def quiet_says_nothing_but_errors():
    with Repo() as repo:
        done = repo.run("--quiet", "claim", "acquire", "42").expect(0)
        check.equal((done.out, done.err), ("", ""))
        check.contains(repo.run("--quiet", "claim", "acquire", "42", agent="agent:two").expect(3).err, "error: ")


if __name__ == "__main__":
    main()
