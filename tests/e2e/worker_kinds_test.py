#!/usr/bin/env python3
"""Kinds of workers ([workers.NAME]): each item goes to the kind that suits it, and no kind is busier than its count."""

import json
import os
import signal
import subprocess

from harness import DIBS, case, check, main, wait_until
from landing_site import run_hint
from run_site import WORK, LocalRunSite, on_every_store

EXIT_NOTHING_READY, EXIT_REFUSED, EXIT_USAGE = 6, 8, 64

FAST = {"count": 4, "cost": 0.2}
STRONG = {"count": 1, "labels": ["rust"], "cost": 1.5, "model": "m-1"}


def table(name, command, **members):
    """A kind, as the configuration has it. JSON's texts, numbers and lists are TOML's as well."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in {"command": command, **members}.items()]
    return f"[workers.{name}]\n" + "\n".join(lines) + "\n"


def configure(site, *tables):
    """In the clone's own file, which needs no trust."""
    with open(site.store / "config.toml", "a", encoding="utf-8") as file:
        file.write("\n" + "\n".join(tables))


def log_of(site):
    return site.dir / "log"


def work(site, before=""):
    """A worker that writes down who it is, and does its item."""
    return f'echo "$DIBS_WORKER $DIBS_ITEM $DIBS_AGENT_ID ${{DIBS_MODEL-none}}" >> {log_of(site)}; {before} {WORK}'


def done_by(site):
    """Which items each kind did."""
    done = {}
    for line in log_of(site).read_text().splitlines() if log_of(site).exists() else []:
        kind, item = line.split()[:2]
        done.setdefault(kind, set()).add(item)
    return done


def run_kinds(site, *words, code=0):
    """The events of a run of the configured workers."""
    return site.run("run", "--json", *words, timeout=120).expect(code).lines()


@on_every_store
def each_kind_gets_what_suits_it(site):
    configure(site, table("fast", work(site), **FAST), table("strong", ["sh", "-c", work(site)], **STRONG))
    site.add("plain-1", "plain-2", "plain-3")
    site.add("rust-1", "rust-2", labels=["needs:rust"])
    summary = run_kinds(site)[-1]
    check.equal((summary["landed"], summary["workers"]), (5, 5))
    check.equal(site.landed(), {"plain-1", "plain-2", "plain-3", "rust-1", "rust-2"})
    # The cheap one has room for all that asks for nothing.
    check.equal(done_by(site), {"fast": {"plain-1", "plain-2", "plain-3"}, "strong": {"rust-1", "rust-2"}})
    site.check_nothing_left()


@case
def a_kind_works_as_an_agent_of_its_own_and_is_told_its_model():
    with LocalRunSite() as site:
        configure(site, table("fast", work(site), **FAST), table("strong", work(site), **STRONG))
        site.add("plain")
        site.add("rust", labels=["needs:rust"])
        site.run("run").expect(0)
        check.equal(sorted(log_of(site).read_text().splitlines()),
                    ["fast plain agent:one.fast none", "strong rust agent:one.strong m-1"])
        landed = {event["resource"]: event["agent_id"] for event in site.run("events", "--json").expect(0).lines()
                  if event.get("op") == "land"}
        check.equal(landed, {"item:plain": "agent:one.fast", "item:rust": "agent:one.strong"})


@case
def never_more_of_a_kind_than_its_count():
    with LocalRunSite() as site:
        log = site.dir / "times"
        script = f'echo "+ $DIBS_WORKER" >> {log}; sleep 0.2; echo "- $DIBS_WORKER" >> {log}; {WORK}'
        configure(site, table("fast", script, count=2), table("strong", script, count=1, labels=["rust"], capacity=3))
        site.add(*(f"plain-{n}" for n in range(5)))
        site.add(*(f"rust-{n}" for n in range(4)), labels=["needs:rust"])
        check.equal(run_kinds(site)[-1]["landed"], 9)
        now, most = {}, {}
        for sign, kind in map(str.split, log.read_text().splitlines()):
            now[kind] = now.get(kind, 0) + (1 if sign == "+" else -1)
            most[kind] = max(most.get(kind, 0), now[kind])
        check.equal(most, {"fast": 2, "strong": 1})


@case
def only_the_kinds_that_were_asked_for_work():
    with LocalRunSite() as site:
        configure(site, table("fast", work(site), **FAST), table("strong", work(site), **STRONG), table("other", work(site)))
        site.add("plain")
        run_kinds(site, "--worker", "strong")
        check.equal(done_by(site), {"strong": {"plain"}})
        site.add("another")
        run_kinds(site, "--worker", "strong", "--worker", "fast")
        check.equal(done_by(site)["fast"], {"another"})


@case
def what_suits_no_kind_does_not_keep_a_run_from_ending():
    with LocalRunSite() as site:
        configure(site, table("fast", work(site), **FAST), table("strong", work(site), **STRONG))
        site.add("gpu", labels=["needs:gpu"], priority=0)
        site.add("plain")
        check.equal(run_kinds(site)[-1]["landed"], 1)
        check.equal((site.item("gpu")["state"], done_by(site)), ("ready", {"fast": {"plain"}}))
        refused = site.run("run").expect(EXIT_NOTHING_READY)
        check.contains(refused.err, "nothing is ready that these workers could take")
        check.contains(refused.err, "dibs ready")
        site.check_nothing_left()


@case
def what_a_kind_could_not_do_is_tried_again_and_counted_for_it():
    with LocalRunSite() as site:
        configure(site, table("fast", f'[ "$DIBS_TRIES" = 1 ] || exit 3; {WORK}', **FAST), table("strong", WORK, **STRONG))
        site.add("plain")
        events = run_kinds(site)
        failed = [event for event in events if event["event"] == "failed"]
        check.equal([(event["item"], event["worker_kind"]) for event in failed], [("plain", "fast")])
        fast, strong = events[-1]["kinds"]
        check.equal((fast["worker_kind"], fast["commands"], fast["failed"], fast["landed"]), ("fast", 2, 1, 1))
        check.equal((strong["worker_kind"], strong["model"], strong["commands"]), ("strong", "m-1", 0))
        check.true(fast["busy_ms"] == events[-1]["busy_ms"] and "model" not in fast, "the busy time is that of fast")


@case
def a_run_tells_which_kind_works_only_where_there_are_kinds():
    with LocalRunSite() as site:
        site.add("one")
        for event in site.events("--workers", 1):
            check.true("worker_kind" not in event and "kinds" not in event, f"a kind in {event}")
        configure(site, table("fast", work(site)))
        site.add("two")
        shown = site.run("run").expect(0).out
        check.contains(shown, "started two (worker 1, fast)")
        check.contains(shown, "  fast: 1 landed, 0 failed, busy ")


@case
def an_untrusted_kind_is_refused_before_anything_happens():
    with LocalRunSite() as site:
        site.add("plain")
        site.write(site.root / ".dibs/config.toml", table("fast", work(site)))
        site.commit_all(site.root, "configure")
        before = site.state(site.root)
        refused = site.run("run", "--json").expect(EXIT_REFUSED)
        check.equal(refused.error()["untrusted"], "fast")
        check.contains(refused.error()["hint"], "dibs trust")
        check.equal((refused.out, done_by(site), site.state(site.root)), ("", {}, before))
        # Weighing items for it runs nothing.
        check.equal(site.reply("next", "--worker", "fast")["worker"], "fast")
        site.reply("trust", "--yes")
        run_kinds(site)
        check.equal(done_by(site), {"fast": {"plain"}})


@case
def next_weighs_every_kind_that_is_asked_for():
    with LocalRunSite() as site:
        configure(site, table("fast", "x", **FAST), table("strong", "x", **STRONG))
        site.run("config", "set", "schedule.oldest_every", "0").expect(0)
        site.add("plain")
        site.add("rust", labels=["needs:rust"])

        def best(*names):
            reply = site.reply("next", "--explain", *(word for name in names for word in ("--worker", name)))
            runners_up = [(other["id"], other["worker"]) for other in reply["explanation"]["runners_up"]]
            return reply["item"]["id"], reply["worker"], runners_up

        check.equal(best("fast"), ("plain", "fast", []))
        check.equal(best("strong"), ("rust", "strong", [("plain", "strong")]))
        check.equal(best("fast", "strong"), ("rust", "strong", [("plain", "fast")]))
        check.equal(site.reply("next", "--worker", "strong")["model"], "m-1")
        shown = site.run("next", "--explain", "--worker", "fast", "--worker", "strong").expect(0).out
        check.contains(shown, "rust for strong  (")
        check.contains(shown, "plain for fast  (")


@on_every_store
def next_takes_an_item_for_the_kind_that_it_suits(site):
    configure(site, table("fast", "x", **FAST), table("strong", "x", **STRONG))
    site.add("plain")
    site.add("rust", labels=["needs:rust"])
    taken = [site.reply("next", "--start", "--worker", "fast", "--worker", "strong") for _ in range(2)]
    check.equal({(reply["item"]["id"], reply["worker"], reply["agent_id"]) for reply in taken},
                {("plain", "fast", "agent:one.fast"), ("rust", "strong", "agent:one.strong")})
    error = site.refusal(EXIT_NOTHING_READY, "next", "--claim", "--worker", "fast")
    check.contains(error["message"], "these workers")
    for reply in taken:
        site.work(reply, reply["worker"])
        site.reply("done", cwd=reply["path"], agent=reply["agent_id"])
    check.equal({"fast", "strong"} - site.files_on_target(), set())


@case
def what_next_says_to_type_goes_on_as_that_kind():
    with LocalRunSite() as site:
        configure(site, table("fast", "x", **FAST))
        site.add("plain")
        shown = site.run("next", "--claim", "--worker", "fast").expect(0).out
        check.contains(shown, "export DIBS_AGENT_ID=agent:one.fast && dibs start plain")
        site.env["PATH"] = os.path.dirname(DIBS) + ":" + site.env["PATH"]
        check.equal(run_hint(site, shown, "export DIBS_AGENT_ID"), 0)
        check.equal(len(site.worktrees()), 2)
        # Whoever is that kind already does not become another.
        site.add("more")
        check.equal(site.reply("next", "--claim", "--worker", "fast", agent="agent:one.fast")["agent_id"], "agent:one.fast")


@case
def a_kind_with_free_hands_comes_before_one_that_is_busy():
    with LocalRunSite() as site:
        configure(site, table("one", "x", count=2), table("two", "x", count=2))
        site.add("a", "b", "c", "d")
        takers = [site.reply("next", "--claim", "--worker", "two", "--worker", "one")["worker"] for _ in range(4)]
        check.equal(takers, ["one", "two", "one", "two"])


@case
def what_a_killed_run_of_kinds_left_is_cleared_up():
    with LocalRunSite() as site:
        configure(site, table("fast", work(site, f"[ -e {site.dir}/go ] || sleep 1000;"), **FAST))
        site.add("plain")
        run = site.spawn(DIBS, "run", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: done_by(site), "the command to begin")
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        (site.dir / "go").write_text("")
        check.equal(run_kinds(site)[-1]["landed"], 1)
        site.check_nothing_left()


@case
def what_cannot_be_meant_is_refused():
    with LocalRunSite() as site:
        error = site.refusal(EXIT_USAGE, "run")
        check.contains(error["hint"], "dibs run --workers 4 -- ")
        check.contains(error["hint"], "[workers.NAME]")
        check.contains(site.refusal(EXIT_USAGE, "run", "--worker", "fast")["hint"], "dibs trust --list")
        configure(site, table("fast", work(site), **FAST))
        check.contains(site.refusal(EXIT_USAGE, "run", "--worker", "fats")["hint"], "--worker fast")
        check.contains(site.refusal(EXIT_USAGE, "next", "--worker", "fats")["hint"], "--worker fast")
        both = site.run("run", "--json", "--worker", "fast", "--", "true").expect(EXIT_USAGE)
        check.contains(both.error()["hint"], "leave one out")
        check.contains(site.refusal(EXIT_USAGE, "run", "--workers", "2")["hint"], "dibs run --workers 4 -- ")
        long = "agent:" + "x" * 93
        check.contains(site.refusal(EXIT_USAGE, "next", "--worker", "fast", agent=long)["message"], "too long")
        configure(site, table("many", "x", count=300))
        check.contains(site.refusal(EXIT_USAGE, "run")["message"], "these are 304 workers, and a run has 256 at most")
        check.equal(done_by(site), {})


if __name__ == "__main__":
    main()
