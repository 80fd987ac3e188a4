#!/usr/bin/env python3
"""`dibs run`: items go through workers to the target, and whatever goes wrong costs its own item one try and nobody else anything."""

import json
import os
import signal
import time
from pathlib import Path

from harness import ULID, case, check, is_running, main, wait_until
from run_site import CHAOS, WORK, GitRunSite, LocalRunSite, on_every_store


def kinds(events):
    return [event["event"] for event in events]


@on_every_store
def every_item_lands_and_nothing_is_left(site):
    names = {f"item-{n}" for n in range(6)}
    site.add(*sorted(names))
    summary = site.events("--workers", 3)[-1]
    check.equal(summary["landed"], 6)
    check.equal(site.landed(), names)
    check.equal({site.item(name)["state"] for name in names}, {"done"})
    site.check_nothing_left()


@case
def what_waits_for_others_comes_after_them():
    with LocalRunSite() as site:
        site.add("first")
        site.add("second", depends_on=["first"])
        site.add("third", depends_on=["second"])
        site.dibs_run("--workers", 3).expect(0)
        order = [line.split()[-1] for line in site.on_target("log", "--first-parent", "--format=%s", "main").splitlines()]
        check.equal(order[:3], ["item:third", "item:second", "item:first"])


@case
def a_command_is_told_what_to_do():
    with LocalRunSite() as site:
        site.add("a", body="the text")
        out = site.dir / "seen"
        site.dibs_run(script=f'env > {out}.env; cat > {out}.json; pwd > {out}.pwd; {WORK}').expect(0)
        item = json.loads(Path(f"{out}.json").read_text())
        check.equal((item["id"], item["body"]), ("a", "the text"))
        seen = dict(line.split("=", 1) for line in Path(f"{out}.env").read_text().splitlines() if "=" in line)
        check.equal(seen["DIBS_ITEM"], "a")
        check.equal(seen["DIBS_AGENT_ID"], "agent:one")
        check.equal(seen["DIBS_BRANCH"], "dibs/a")
        check.equal(seen["DIBS_WORKTREE"], Path(f"{out}.pwd").read_text().strip())
        check.true(ULID.match(seen["DIBS_LEASE"]), "a lease")
        check.true(int(seen["DIBS_FENCE"]) > 0, "a fence")
        check.true(seen["DIBS_SESSION"].startswith(seen["DIBS_RUN"] + "-"), "the session is the run's")


@case
def a_dibs_in_the_command_acts_for_its_item():
    with LocalRunSite() as site:
        site.add("a")
        dibs = os.environ.get("DIBS_BIN")
        events = site.events(script=f'{WORK} && {dibs} claim verify "item:$DIBS_ITEM" --fence "$DIBS_FENCE" && {dibs} item comment a seen')
        check.equal(events[-1]["landed"], 1)
        check.equal(site.item("a")["comments"][0]["text"], "seen")


@on_every_store
def a_command_that_fails_costs_its_item_a_try(site):
    site.add("bad", "good")
    script = f'[ "$DIBS_ITEM" = good ] || {{ echo "cannot do it" >&2; echo half > half; exit 3; }}; {WORK}'
    events = site.events("--max-tries", 2, script=script, code=8)
    check.equal(kinds(events).count("failed"), 1)
    check.equal(kinds(events).count("parked"), 1)
    check.equal(site.landed(), {"good"})
    bad = site.item("bad")
    check.equal((bad["state"], bad["tries"]), ("pending", 2))
    check.contains(bad["comments"][0]["text"], "exit code 3")
    check.contains(bad["comments"][1]["text"], "cannot do it")
    check.equal(len([r for r in site.rescues() if "bad" in r["name"]]), 2, "what was half done is kept")
    site.check_nothing_left()


@case
def an_item_that_was_parked_is_tried_again_once_somebody_took_it_up():
    with LocalRunSite() as site:
        site.add("a")
        site.dibs_run("--on-failure", "park", script="exit 1").expect(8)
        check.equal(site.item("a")["tries"], 1)
        site.dibs_run().expect(6)
        site.run("item", "update", "a", "--state", "ready").expect(0)
        check.true("tries" not in site.item("a"), "tries begin anew")
        site.dibs_run().expect(0)
        check.equal(site.landed(), {"a"})


@case
def tries_of_an_earlier_run_count():
    with LocalRunSite() as site:
        site.add("a")
        site.dibs_run("--max-items", 1, script="exit 1").expect(0)
        site.dibs_run("--max-items", 1, script="exit 1").expect(0)
        site.dibs_run(script="exit 1").expect(8)
        check.equal(site.item("a")["tries"], 3)
        check.equal(site.item("a")["state"], "pending")


@case
def a_command_that_crashes_costs_its_item_a_try():
    with LocalRunSite() as site:
        site.add("a")
        site.dibs_run(script=f'[ "$DIBS_TRIES" -gt 0 ] || kill -9 $$; {WORK}').expect(0)
        check.equal(site.landed(), {"a"})
        check.contains(site.item("a")["comments"][0]["text"], "exit code 137")
        site.check_nothing_left()


@case
def a_command_that_commits_nothing_has_failed():
    with LocalRunSite() as site:
        site.add("a")
        site.dibs_run("--max-tries", 1, script="true").expect(8)
        check.contains(site.item("a")["comments"][0]["text"], "nothing to land")
        site.check_nothing_left()


@case
def a_command_that_leaves_changes_uncommitted_has_failed_and_they_are_kept():
    with LocalRunSite() as site:
        site.add("a")
        site.dibs_run("--max-tries", 1, script="echo changed > README").expect(8)
        check.contains(site.item("a")["comments"][0]["text"], "not committed")
        check.equal(len(site.rescues()), 1)
        site.check_nothing_left()


@case
def exit_75_puts_an_item_back_without_counting():
    with LocalRunSite() as site:
        site.add("a")
        once = site.dir / "once"
        events = site.events(script=f'[ -e {once} ] || {{ touch {once}; exit 75; }}; {WORK}')
        check.equal(kinds(events).count("put_back"), 1)
        check.equal(site.landed(), {"a"})
        check.true("comments" not in site.item("a"), "nothing is written down")


@case
def exit_75_for_ever_comes_to_an_end():
    with LocalRunSite() as site:
        site.add("a")
        summary = site.events("--max-tries", 2, script="exit 75")[-1]
        check.equal(summary["commands"], 2)
        check.equal(site.item("a")["state"], "ready")
        site.check_nothing_left()


@case
def a_command_that_hangs_is_stopped_with_all_it_started():
    with LocalRunSite() as site:
        site.add("a")
        pids = site.dir / "pids"
        script = f'trap "" TERM; sleep 1000 & echo $! > {pids}; sh -c "trap \\"\\" TERM; while true; do sleep 1; done"'
        site.dibs_run("--timeout", 1, "--max-tries", 1, script=script).expect(8)
        check.contains(site.item("a")["comments"][0]["text"], "longer than 1 s")
        wait_until(lambda: not is_running(int(pids.read_text())), "what it started to be gone")
        site.check_nothing_left()


@case
def a_git_that_was_killed_in_its_commit_is_in_nobodys_way():
    with LocalRunSite() as site:
        site.add("a")
        locks = 'touch "$(git rev-parse --git-dir)/index.lock" "$(git rev-parse --git-common-dir)/refs/heads/$DIBS_BRANCH.lock"'
        reply = site.dibs_run(script=f'[ "$DIBS_TRIES" -gt 0 ] || {{ {locks}; kill -9 $$; }}; {WORK}').expect(0)
        check.absent(reply.err, "warning")
        check.equal(site.landed(), {"a"})
        site.check_nothing_left()


@case
def what_leaves_its_process_group_does_not_outlive_its_command():
    with LocalRunSite() as site:
        site.add("a", "b")
        pids = site.dir / "pids"
        site.dibs_run(script=f'setsid sleep 1000 >/dev/null 2>&1 & echo $! >> {pids}; {WORK}').expect(0)
        check.equal(len(pids.read_text().split()), 2)
        check.equal([pid for pid in pids.read_text().split() if is_running(int(pid))], [])


@on_every_store
def work_that_conflicts_is_done_again_from_the_fresh_target(site):
    site.add("a", "b")
    # Both begin from the same target and write the same line; the second finds it taken.
    script = (f'touch {site.dir}/$DIBS_ITEM; while [ ! -e {site.dir}/a ] || [ ! -e {site.dir}/b ]; do sleep 0.05; done; '
              f'echo "$DIBS_ITEM" >> README; {WORK}')
    summary = site.events("--workers", 2, script=script)[-1]
    check.equal(summary["conflicts"], 1)
    check.equal(summary["retries"], 1)
    check.equal(site.landed(), {"a", "b"})
    check.equal(sorted(site.file_on_target("README").split()[-2:]), ["a", "b"])
    check.equal(len(site.rescues()), 1)
    site.check_nothing_left()


@case
def leases_are_kept_alive_for_as_long_as_a_command_works():
    with LocalRunSite() as site:
        site.add("a")
        site.dibs_run("--ttl", 2, script=f"sleep 5; {WORK}").expect(0)
        check.equal(site.landed(), {"a"})
        ops = [op for op, _ in site.ops("item:a")]
        check.equal([op for op in ops if op not in ("heartbeat", "renew")], ["acquire", "land"], "it was one lease")


@on_every_store
def a_lost_lease_stops_the_command_and_keeps_its_work(site):
    site.add("a")
    run = site.begin_run("--max-items", 1, script=f'echo half > half; touch {site.dir}/up; sleep 1000')
    wait_until((site.dir / "up").exists, "the command")
    site.run("claim", "force-evict", "item:a", "--reason", "test", agent="human:two").expect(0)
    site.run("claim", "acquire", "item:a", agent="human:two").expect(0)
    check.equal(run.wait(timeout=60), 0)
    check.contains(run.stdout.read().decode(), "lost a")
    check.equal(site.holder("item:a"), "human:two")
    check.equal(len(site.rescues()), 1)
    check.equal(site.worktrees(), [str(site.root)])
    check.true("tries" not in site.item("a"), "no try is counted")


@case
def a_lease_that_ran_out_while_the_run_was_paused_stops_the_command():
    with LocalRunSite() as site:
        site.add("a")
        run = site.begin_run("--ttl", 2, "--max-items", 1, script=f'touch {site.dir}/up; sleep 1000')
        wait_until((site.dir / "up").exists, "the command")
        os.kill(run.pid, signal.SIGSTOP)
        time.sleep(3)
        os.kill(run.pid, signal.SIGCONT)
        check.equal(run.wait(timeout=60), 0)
        check.contains(run.stdout.read().decode(), "lost a")
        site.check_nothing_left()


@case
def ctrl_c_lets_what_runs_finish_and_takes_nothing_new():
    with LocalRunSite() as site:
        site.add("a", "b", "c")
        run = site.begin_run("--workers", 2, script=f'touch {site.dir}/up-$DIBS_ITEM; while [ ! -e {site.dir}/go ]; do sleep 0.05; done; {WORK}')
        wait_until(lambda: len(list(site.dir.glob("up-*"))) == 2, "two commands")
        run.send_signal(signal.SIGINT)
        time.sleep(0.3)
        (site.dir / "go").touch()
        check.equal(run.wait(timeout=60), 0)
        check.equal(len(site.landed()), 2)
        site.check_nothing_left()


@case
def ctrl_c_twice_stops_commands_keeps_their_work_and_puts_items_back():
    with LocalRunSite() as site:
        site.add("a")
        run = site.begin_run(script=f'echo half > half; touch {site.dir}/up; sleep 1000')
        wait_until((site.dir / "up").exists, "the command")
        run.send_signal(signal.SIGINT)
        time.sleep(0.3)
        run.send_signal(signal.SIGINT)
        check.equal(run.wait(timeout=60), 0)
        check.contains(run.stdout.read().decode(), "put back a")
        check.equal(site.item("a")["state"], "ready")
        check.true("tries" not in site.item("a"), "no try is counted")
        check.equal(len(site.rescues()), 1)
        site.check_nothing_left()


def kill_a_run(site):
    """A run of two workers, killed while both have something half done; the pids of what they started."""
    site.add("a", "b", "c")
    script = f'echo half > half; setsid sleep 1000 & echo $! > {site.dir}/pid-$DIBS_ITEM; touch {site.dir}/up-$DIBS_ITEM; wait'
    run = site.begin_run("--workers", 2, script=script)
    wait_until(lambda: len(list(site.dir.glob("up-*"))) == 2, "two commands")
    run.kill()
    run.wait()
    return [int(path.read_text()) for path in site.dir.glob("pid-*")]


@on_every_store
def what_a_killed_run_left_the_next_one_clears_up(site):
    pids = kill_a_run(site)
    site.dibs_run("--workers", 2).expect(0)
    check.equal([pid for pid in pids if is_running(pid)], [], "processes of the killed run")
    check.equal(site.landed(), {"a", "b", "c"})
    check.equal(len(site.rescues()), 2)
    site.check_nothing_left()


@case
def what_a_killed_run_left_is_cleared_up_by_recover():
    with LocalRunSite() as site:
        pids = kill_a_run(site)
        check.equal(site.reply("recover")["run_worktrees_cleared"], 2)
        check.equal([pid for pid in pids if is_running(pid)], [], "processes of the killed run")
        check.equal(len(site.rescues()), 2)
        check.equal({item["id"] for item in site.reply("ready")["items"]}, {"a", "b", "c"})
        site.check_nothing_left()


@case
def a_run_beside_it_is_not_taken_for_a_killed_one():
    with LocalRunSite() as site:
        site.add("a", "b")
        run = site.begin_run("--max-items", 1, script=f'touch {site.dir}/up; while [ ! -e {site.dir}/go ]; do sleep 0.05; done; {WORK}')
        wait_until((site.dir / "up").exists, "the first run")
        site.dibs_run().expect(0)
        check.equal(site.reply("recover")["run_worktrees_cleared"], 0)
        (site.dir / "go").touch()
        check.equal(run.wait(timeout=60), 0)
        check.equal(site.landed(), {"a", "b"})
        site.check_nothing_left()


@case
def what_another_clone_landed_is_not_done_again_before_its_item_is_heard_of():
    with GitRunSite() as site:
        site.add("a")
        site.run("item", "sync").expect(0)
        other = site.another_clone()
        other.run("item", "sync", agent="agent:two").expect(0)
        other.run("config", "set", "items.sync", "manual").expect(0)
        site.run("config", "set", "items.sync", "manual").expect(0)
        site.dibs_run().expect(0)
        check.equal(other.reply("item", "show", "a")["state"], "ready")
        other.run("next", "--start", agent="agent:two").expect(6)
        check.equal(other.reply("item", "show", "a")["state"], "done")
        other.run("item", "sync", agent="agent:two").expect(0)
        check.equal(other.reply("claim", "list")["leases"], [])


@case
def work_waits_for_a_remote_that_is_away():
    with GitRunSite() as site:
        site.add("a")
        site.run("item", "sync").expect(0)
        run = site.begin_run(script=f'touch {site.dir}/up; while [ ! -e {site.dir}/go ]; do sleep 0.05; done; {WORK}')
        wait_until((site.dir / "up").exists, "the command")
        away = site.remote.path.with_name("away.git")
        site.remote.path.rename(away)
        (site.dir / "go").touch()
        seen = b""
        while b"next try in" not in seen:
            line = run.stdout.readline()
            check.true(line, f"the run ended: {seen!r}")
            seen += line
        away.rename(site.remote.path)
        check.equal(run.wait(timeout=60), 0)
        check.equal(site.landed(), {"a"})
        check.true("tries" not in site.item("a"), "no try is counted")


@case
def every_line_of_json_is_an_event():
    with LocalRunSite() as site:
        site.add("a")
        reply = site.dibs_run("--json").expect(0)
        check.true(all(line.startswith('{"schema_version":1,"event":"') for line in reply.out.splitlines()), repr(reply))
        events = reply.lines()
        check.equal(kinds(events), ["begun", "started", "landed", "summary"])
        check.has_fields(events[1], {"item", "worker", "path", "at"})
        check.equal(events[2]["landed_commit"], site.target())
        check.has_fields(events[3], {"landed", "failed", "parked", "retries", "conflicts", "waiting_ms", "utilisation"})


@case
def only_items_with_the_label_are_taken():
    with LocalRunSite() as site:
        site.add("a", labels=["x"])
        site.add("b")
        site.dibs_run("--label", "x").expect(0)
        check.equal(site.landed(), {"a"})
        check.contains(site.dibs_run("--label", "x").expect(6).err, "dibs blocked")


@case
def worktrees_can_be_kept():
    with LocalRunSite() as site:
        site.add("a", "b")
        site.dibs_run("--keep-worktrees", "--max-tries", 1, script=f'[ $DIBS_ITEM = a ] || exit 1; {WORK}').expect(8)
        check.equal(len(site.worktrees()), 3)
        check.equal(site.reply("claim", "list")["leases"], [])


@case
def a_command_that_cannot_be_started_is_told_and_costs_no_try():
    with LocalRunSite() as site:
        site.add("a")
        reply = site.run("run", "--json", "--", "no-such-program").expect(1)
        check.contains(reply.error()["message"], "no-such-program")
        check.true("tries" not in site.item("a"), "no try is counted")
        check.equal(site.item("a")["state"], "ready")
        site.check_nothing_left()


@case
def a_run_without_a_command_says_how():
    with LocalRunSite() as site:
        check.contains(site.refusal(64, "run", "--workers", "2")["hint"], "--")


@case
def what_a_command_says_cannot_touch_the_terminal():
    with LocalRunSite() as site:
        site.add("a")
        site.dibs_run("--max-tries", 1, script=r"printf '\033]0;owned\007\033[2Jtext\n'; exit 1").expect(8)
        text = site.item("a")["comments"][0]["text"]
        check.contains(text, "text")
        check.absent(text, "\x1b")


@case
def workers_that_crash_hang_fail_and_conflict_lose_nothing():
    """A small version of tests/soak/run_test.py."""
    with LocalRunSite() as site:
        names = [f"item-{n:02}" for n in range(24)]
        site.add(*names)
        (site.dir / "marks").mkdir()
        reply = site.dibs_run("--workers", 8, "--timeout", 2, script=CHAOS + WORK,
                              env={"SEED": "1", "MARKS": site.dir / "marks"})
        check.true(reply.code in (0, 8), repr(reply))
        check.true(len(site.check_ends(names)) > 12, "most of them land")
        site.check_nothing_left()


if __name__ == "__main__":
    main()
