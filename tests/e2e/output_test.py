"""What dibs prints, and where: JSON, colour, pipes, streams, completions, manual pages, metrics."""

import json
import os
import pty
import re
import select
import subprocess

from harness import DIBS, Repo, Scratch, Skip, case, check, main, needs, wait_until

EVERY_COMMAND = [["claim", "acquire", "42"], ["claim", "acquire", "1", "2"], ["claim", "renew", "42"],
                 ["claim", "heartbeat"],
                 ["claim", "status", "42"], ["claim", "status"], ["claim", "list"], ["claim", "list", "--stale"],
                 ["claim", "history"],
                 ["claim", "verify", "42", "--fence", "1"], ["claim", "cleanup", "--dry-run"],
                 ["claim", "downgrade", "42"],
                 ["claim", "upgrade", "42"], ["claim", "transfer", "42", "--to", "agent:two"],
                 ["claim", "force-evict", "42", "--reason", "x"], ["claim", "release", "1"], ["metrics"],
                 ["metrics", "--format", "json"],
                 ["init"], ["worktree", "info"], ["worktree", "list"], ["worktree", "init"], ["config", "list"],
                 ["config", "get", "worktree.mode"], ["config", "set", "worktree.mode", "auto"], ["doctor"],
                 ["doctor", "--fix"], ["recover"],
                 ["promises"], ["--version"]]


def on_terminal(repo, *words, env=None):
    """What dibs writes when stdout and stderr are a terminal."""
    master, slave = pty.openpty()
    process = repo.spawn(DIBS, *words, stdout=slave, stderr=slave, env=env)
    os.close(slave)
    seen = b""
    while True:
        try:
            ready, _, _ = select.select([master], [], [], 20)
            chunk = os.read(master, 4096) if ready else b""
        except OSError:  # EIO: the other end is closed
            chunk = b""
        if not chunk:
            break
        seen += chunk
    os.close(master)
    process.wait(timeout=20)
    return seen.decode()


@case
def json_is_exactly_one_object_with_its_version_first():
    with Repo() as repo:
        for words in EVERY_COMMAND:
            reply = repo.run(*words, "--json").expect(0)
            check.true(isinstance(reply.json(), dict), str(reply))
            check.equal(reply.err, "", f"stderr of {words}")


@case
def json_may_stand_anywhere():
    with Repo() as repo:
        for words in (["--json", "claim", "list"], ["claim", "--json", "list"], ["claim", "list", "--json"]):
            repo.run(*words).expect(0).json()


@case
def json_errors_go_to_stderr_as_one_object():
    with Repo() as repo:
        for words in (["claim", "renew", "42"], ["claim", "acquire"], ["nonsense"], ["claim", "nonsense"],
                      ["--nonsense"], ["claim", "acquire", "1", "--ttl", "x"]):
            reply = repo.run("--json", *words)
            check.true(reply.code not in (0, 2), str(reply))
            check.equal(reply.out, "")
            lines = reply.err.splitlines()
            check.equal(len(lines), 1, str(reply))
            check.true(lines[0].startswith('{"schema_version":1,"error":{"code":"'), str(reply))
            check.has_fields(json.loads(lines[0])["error"], {"code", "message", "hint"})


@case
def streams_are_one_object_a_line():
    with Repo() as repo:
        repo.run("claim", "acquire", "1", "2").expect(0)
        events = repo.run("events", "--json").expect(0).lines()
        check.equal([event["resource"] for event in events], ["item:1", "item:2"])
        check.true(all(list(event)[0] == "schema_version" for event in events))


@case
def events_follow_sees_what_another_process_does():
    with Repo() as repo:
        repo.acquire("before")
        stream = repo.spawn(DIBS, "events", "--follow", "--json", "--since", "1", "--resource", "42",
                            stdout=subprocess.PIPE)
        repo.acquire("41", agent="agent:two")
        repo.acquire("42", agent="agent:two")
        repo.run("claim", "release", "42", agent="agent:two").expect(0)
        seen = [json.loads(stream.stdout.readline()) for _ in range(2)]
        check.equal([(event["op"], event["resource"], event["agent_id"]) for event in seen],
                    [("acquire", "item:42", "agent:two"), ("release", "item:42", "agent:two")])
        check.equal(stream.poll(), None, "it goes on")
        text = repo.spawn(DIBS, "events", "--follow", stdout=subprocess.PIPE)
        check.contains(text.stdout.readline().decode(), "item:before")


@case
def events_follow_ends_when_nobody_reads():
    with Repo() as repo:
        repo.acquire("1")
        stream = repo.spawn(DIBS, "events", "--follow", stdout=subprocess.PIPE)
        stream.stdout.readline()
        stream.stdout.close()
        repo.acquire("2")
        repo.acquire("3")
        check.equal(stream.wait(timeout=20), 0)
        stream.stdout = None


@case
def events_since_and_limit():
    with Repo() as repo:
        for n in range(5):
            repo.acquire(str(n))
        check.equal([e["seq"] for e in repo.run("events", "--json", "--since", "3").expect(0).lines()], [4, 5])
        check.equal([e["seq"] for e in repo.run("events", "--json", "--limit", "2").expect(0).lines()], [4, 5])
        check.equal(repo.run("events", "--json", "--since", "99").expect(0).out, "")


@case
def colour_is_for_terminals_only():
    with Repo() as repo:
        check.absent(repo.run("claim", "acquire", "42").expect(0).out, "\x1b")
        check.absent(repo.run("claim", "acquire", "42", agent="agent:two").expect(3).err, "\x1b")
        check.contains(on_terminal(repo, "claim", "renew", "42"), "\x1b[32m")
        check.contains(on_terminal(repo, "claim", "renew", "43"), "\x1b[31m")
        check.absent(on_terminal(repo, "claim", "renew", "42", env={"NO_COLOR": "1"}), "\x1b")
        check.contains(on_terminal(repo, "claim", "renew", "42", env={"NO_COLOR": ""}), "\x1b[")
        check.absent(on_terminal(repo, "claim", "renew", "42", env={"TERM": "dumb"}), "\x1b")
        check.absent(on_terminal(repo, "--color", "never", "claim", "renew", "42"), "\x1b")
        check.absent(on_terminal(repo, "--json", "claim", "renew", "42"), "\x1b")
        check.contains(repo.run("claim", "renew", "42", "--color", "always").expect(0).out, "\x1b[32m")
        check.contains(repo.run("claim", "renew", "42", "--color", "always", env={"NO_COLOR": "1"}).expect(0).out,
                       "\x1b[32m")


@case
def a_closed_pipe_does_not_undo_or_break_the_work():
    with Repo() as repo:
        reading, writing = os.pipe()
        os.close(reading)
        process = repo.spawn(DIBS, "claim", "acquire", "42", stdout=writing, stderr=subprocess.PIPE)
        os.close(writing)
        check.equal(process.wait(timeout=20), 0)
        check.equal(process.stderr.read(), b"")
        check.equal(repo.holder("42"), "agent:one")


def with_closed(*streams):
    """Runs commands with these streams closed altogether, as cron jobs and daemons sometimes do."""
    with Repo() as repo:
        closing = " ".join(f"{stream}>&-" if stream else "0<&-" for stream in streams)
        for words in ("claim acquire 42", "claim renew 42", "claim heartbeat", "claim acquire 42 --agent-id agent:two",
                      "claim release 42"):
            subprocess.run(["bash", "-c", f'"{DIBS}" {words} {closing}'], cwd=repo.root, env=repo.env,
                           capture_output=True, timeout=20)
            for line in repo.log_bytes().splitlines():
                check.true(line.startswith(b'{"schema_version":1,'),
                           f"`dibs {words} {closing}` put this in the log: {line[:80]!r}")
        repo.healthy()
        repo.acquire("43")


@case
def a_closed_stdout_does_not_reach_the_log():
    with_closed(1)


@case
def a_closed_stderr_does_not_reach_the_log():
    with_closed(2)


@case
def all_streams_closed_do_not_reach_the_log():
    with_closed(0, 1, 2)


@case
def a_full_stdout_does_not_undo_the_work():
    with Repo() as repo:
        with open("/dev/full", "w") as full:
            process = repo.spawn(DIBS, "claim", "acquire", "42", stdout=full)
            process.wait(timeout=20)
        check.equal(repo.holder("42"), "agent:one")


@case
def nothing_ever_asks_a_question():
    with Repo() as repo:
        for words in EVERY_COMMAND:
            repo.run(*words, stdin=b"", timeout=20)


@case
def help_and_version_need_no_repository():
    with Scratch() as scratch:
        check.contains(scratch.run("--version").expect(0).out, "dibs ")
        for words in (["--help"], ["-h"], ["help"], ["claim", "--help"], ["help", "claim", "acquire"],
                      ["claim", "acquire", "--help"],
                      ["help", "exit-codes"], ["promises"]):
            reply = scratch.run(*words).expect(0)
            check.equal(reply.err, "")
            check.true(len(reply.out) > 80, str(reply))
        check.equal(scratch.run("claim", "acquire", "--help").out, scratch.run("help", "claim", "acquire").out)
        for words in ([], ["claim"]):
            check.true(scratch.run(*words).code == 64, f"{words}: nothing was asked for")


@case
def promises_are_as_the_documents_say():
    with Scratch() as scratch:
        stores = {store["store"]: store for store in scratch.run("promises", "--json").expect(0).json()["stores"]}
        local = " ".join(map(str, stores["local"].values()))
        for part in ("fenced", "boot-time clock", "synced", "full"):
            check.contains(local, part)


@case
def metrics_count_what_happened():
    with Repo() as repo:
        repo.acquire("1")
        repo.acquire("1")
        repo.run("claim", "acquire", "1", agent="agent:two").expect(3)
        repo.acquire("2", "--ttl", "1")
        repo.run("claim", "renew", "1").expect(0)
        repo.run("claim", "release", "1").expect(0)
        wait_until(lambda: repo.holder("2") is None, "the lease to end")
        repo.acquire("2", agent="agent:two")
        seen = repo.reply("metrics")
        check.has_fields(seen, {"acquisitions", "conflicts", "failed", "average_acquisition_ms", "stale_claimed",
                                "active", "by_op"})
        check.equal((seen["acquisitions"], seen["conflicts"], seen["stale_claimed"], seen["active"]), (3, 1, 1, 1))
        check.true(0 < seen["average_acquisition_ms"] < 10_000, str(seen))
        check.equal({op: n for op, n in seen["by_op"].items() if n},
                    {"acquire": 3, "renew": 1, "release": 1, "auto-evict": 1})
        check.equal(set(seen["by_op"]), {"acquire", "renew", "heartbeat", "release", "transfer", "auto-evict",
                                         "force-evict", "upgrade", "downgrade", "land", "wait", "leave"})
        check.equal((seen["success_rate"], seen["contention"], seen["warnings"]), (0.75, 0.3333, []))
        check.equal([seen[f"{how}_last_{span}"] for how in ("released", "landed") for span in ("hour", "day")],
                    [1, 1, 0, 0])
        plain = json.loads(repo.run("metrics", "--format", "json").expect(0).out)
        check.equal(plain["by_op"], seen["by_op"])
        check.contains(repo.run("metrics").expect(0).out, "acquisitions")


@case
def what_ended_is_counted_once_however_often_one_asks():
    with Repo() as repo:
        check.equal((repo.reply("metrics")["success_rate"], repo.reply("metrics")["contention"]), (None, None))
        for n in range(3):
            repo.acquire(str(n))
            repo.run("claim", "release", str(n)).expect(0)
            check.equal(repo.reply("metrics")["released_last_hour"], n + 1)
        totals = repo.store / "totals.json"
        kept = json.loads(totals.read_text())
        kept["finished"] = [[1, 5, 5], *kept["finished"], [2**40, 5, 5]]  # long ago, and not yet
        totals.write_text(json.dumps(kept))
        check.equal(repo.reply("metrics")["released_last_day"], 3)
        for broken in ([[1, 2]], "x", [[-1, 0, 0]]):  # counted again from the history
            totals.write_text(json.dumps(kept | {"finished": broken}))
            check.equal(repo.reply("metrics")["released_last_day"], 3, str(broken))


@case
def metrics_warn_of_what_the_settings_call_too_much():
    with Repo() as repo:
        repo.acquire("1")
        for _ in range(19):
            repo.run("claim", "acquire", "1", agent="agent:two").expect(3)
        for resource in ("2", "3"):
            repo.acquire(resource, "--ttl", "1")
        wait_until(lambda: repo.reply("claim", "list", "--stale")["count"] == 2, "two leases to end")
        repo.run("config", "set", "metrics.min_success_pct", "0").expect(0)
        check.equal(repo.reply("metrics")["warnings"], [])
        repo.run("config", "set", "metrics.max_stale", "1").expect(0)
        repo.run("config", "set", "metrics.min_success_pct", "50").expect(0)
        stale, rate = repo.reply("metrics")["warnings"]
        check.equal(stale["fix"], "dibs claim cleanup")
        check.contains(stale["what"], "2 leases have ended")
        check.contains(rate["what"], "3 of 22 claims")
        check.contains(repo.run("metrics").expect(0).out, stale["what"])
        check.contains(repo.run("metrics", "--format", "prometheus").expect(0).out, "\ndibs_warnings 2\n")
        found = [finding["what"] for finding in repo.healthy() if finding["level"] == "warning"]
        check.equal(found, [stale["what"], rate["what"]])
        repo.run("claim", "cleanup").expect(0)
        check.equal([warning["what"] for warning in repo.reply("metrics")["warnings"]], [rate["what"]])


@case
def promtool_accepts_the_metrics():
    tool = os.environ.get("PROMTOOL", "")
    if not os.access(tool, os.X_OK):
        raise Skip("promtool is not there")
    with Repo() as repo:
        nothing = repo.run("metrics", "--format", "prometheus").expect(0).out
        check.contains(nothing, "dibs_success_ratio NaN")
        repo.acquire("1")
        text = repo.run("metrics", "--format", "prometheus").expect(0).out
        check.contains(text, 'dibs_operations_total{op="acquire"} 1')
        check.contains(text, "dibs_success_ratio 1.0000")
        for scraped in (nothing, text):
            done = subprocess.run([tool, "check", "metrics"], input=scraped, capture_output=True, text=True)
            check.equal((done.returncode, done.stdout + done.stderr), (0, ""))


@case
def bash_completes_commands_and_options():
    needs("bash")
    with Scratch() as scratch:
        script = f'''source <("{DIBS}" completion bash)
            try() {{ COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _dibs; printf '%s ' "${{COMPREPLY[@]}}"; echo; }}
            try dibs cl; try dibs claim acq; try dibs claim acquire --tt; try dibs -C /x claim rel; try dibs doctor --f; try dibs claim acquire 42 --sh
            try dibs worktree resc; try dibs worktree rescue re; try dibs worktree rescue list --j
            complete -p dibs'''
        done = subprocess.run(["bash", "--norc", "-euc", script], capture_output=True, text=True, env=scratch.env,
                              timeout=30)
        check.equal((done.returncode, done.stderr), (0, ""))
        check.equal(done.stdout.split("\n")[:9], ["claim ", "acquire ", "--ttl ", "release ", "--fix ", "--shared ",
                                                   "rescue ", "restore ", "--json "])


@case
def zsh_loads_the_completion():
    needs("zsh")
    with Scratch() as scratch:
        script = f'autoload -U compinit && compinit -D -u; source <("{DIBS}" completion zsh); print -r -- "${{_comps[dibs]}}"'
        done = subprocess.run(["zsh", "-fc", script], capture_output=True, text=True, env=scratch.env, timeout=30)
        check.equal((done.returncode, done.stderr), (0, ""))
        check.true(done.stdout.strip(), "something completes dibs")


@case
def fish_completes_commands_and_options():
    needs("fish")
    with Scratch() as scratch:
        script = f'''"{DIBS}" completion fish | source
            for line in "dibs cl" "dibs claim acq" "dibs claim acquire --tt" "dibs doctor --f"; complete -C $line; end'''
        done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, env=scratch.env,
                              timeout=30)
        check.equal((done.returncode, done.stderr), (0, ""))
        words = [line.split("\t")[0] for line in done.stdout.splitlines()]
        check.equal(words, ["claim", "acquire", "--ttl", "--fix"])


@case
def the_manual_pages_are_sound():
    needs("mandoc")
    with Scratch() as scratch:
        pages = scratch.dir / "man1"
        scratch.run("help", "--man", str(pages)).expect(0)
        names = {path.name for path in pages.iterdir()}
        check.true({"dibs.1", "dibs-claim-acquire.1", "dibs-init.1"} <= names, str(names))
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "error", *sorted(map(str, pages.iterdir()))],
                              capture_output=True, text=True)
        check.equal((done.returncode, done.stdout), (0, ""))
        shown = subprocess.run(["mandoc", "-T", "utf8", str(pages / "dibs-claim-acquire.1")], capture_output=True,
                               text=True).stdout
        for part in ("--ttl", "--strategy", "EXAMPLE"):
            check.contains(re.sub(".\b", "", shown), part)


if __name__ == "__main__":
    main()
