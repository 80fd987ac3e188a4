"""Landings of one clone at once: whoever has the turn takes along what the others wait to land, in one step of the store."""

import json
import os
import signal
import subprocess

from harness import DIBS, check, main, wait_until
from landing_site import on_every_store

SLOW_GIT = """#!/bin/sh
case " $* " in *" merge-tree "*) touch {dir}/merging; while test ! -e {dir}/go; do sleep 0.01; done;; esac
PATH={path} exec git "$@"
"""


class Together:
    """Several workers that are done; the first one's merge waits until the others have made their offers."""

    def __init__(self, site, names):
        self.site, self.dir = site, site.dir / "slow"
        self.dir.mkdir()
        (self.dir / "git").write_text(SLOW_GIT.format(dir=self.dir, path=site.env["PATH"]))
        (self.dir / "git").chmod(0o755)
        self.made = {name: site.start(name, agent=f"agent:{name}") for name in names}
        self.running = {}

    def work(self, name, file=None, text=None):
        self.site.work(self.made[name], file or name, text or f"{name}\n")

    def done(self, name, *words, slowly=False):
        path = f"{self.dir}:{self.site.env['PATH']}" if slowly else self.site.env["PATH"]
        made = self.made[name]
        env = self.site.environment(agent=made["agent_id"]) | {"PATH": path, "DIBS_SESSION": made["session"]}
        self.running[name] = subprocess.Popen([DIBS, "done", name, "--json", *words], cwd=made["path"], env=env,
                                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def first(self, name):
        self.done(name, slowly=True)
        wait_until(lambda: (self.dir / "merging").exists(), "the first one merges")

    def offers(self):
        place = self.site.store / "landing"
        return [path for path in place.glob("*.offer") if path.stat().st_size > 0] if place.exists() else []

    def offer(self, *names):
        for name in names:
            before = len(self.offers())
            self.done(name)
            wait_until(lambda: len(self.offers()) > before, f"{name} offers its work")

    def go(self):
        (self.dir / "go").touch()

    def end(self, name):
        out, err = self.running[name].communicate(timeout=60)
        return self.running[name].returncode, json.loads(out) if out.strip() else json.loads(err.splitlines()[-1])


def steps(site, names):
    """In how many steps these landed: the events of one step have one number."""
    events = [event for event in map(json.loads, site.run("events", "--json").expect(0).out.splitlines())
              if event["op"] == "land"]
    check.equal(sorted(event["resource"] for event in events), sorted(f"item:{name}" for name in names), "landed once each")
    return len({event["seq"] for event in events})


@on_every_store
def what_waits_lands_with_whoever_has_the_turn(site):
    names = ["a", "b", "c", "d"]
    landings = Together(site, names)
    for name in names:
        landings.work(name)
    landings.first("a")
    landings.offer("b", "c", "d")
    landings.go()
    for name in names:
        code, reply = landings.end(name)
        check.equal((code, reply.get("released"), reply.get("worktree_removed")), (0, True, True), f"{name}: {reply}")
        check.true(reply["landed_commit"] in site.on_target("rev-list", "main").split(), f"the commit of {name}")
    check.equal(steps(site, names), 1, "steps")
    check.true(set(names) <= site.files_on_target(), "all of it is on the target")
    check.equal(list((site.store / "landing").iterdir()), [], "offers that are left")
    check.equal([site.holder(name) for name in names], [None] * 4)


@on_every_store
def what_conflicts_is_left_for_its_own_turn(site):
    landings = Together(site, ["a", "b", "c"])
    for name in ("a", "b"):
        landings.work(name, "same", f"{name}\n")
    landings.work("c")
    landings.first("a")
    landings.offer("b", "c")
    landings.go()
    ends = {name: landings.end(name) for name in ("a", "b", "c")}
    check.equal([ends[name][0] for name in ("a", "b", "c")], [0, 8, 0], repr(ends))
    check.contains(ends["b"][1]["error"]["message"], "conflict")
    check.equal(site.holder("b"), "agent:b")
    check.equal(steps(site, ["a", "c"]), 1, "steps")


@on_every_store
def an_offer_of_a_process_that_died_is_not_taken(site):
    landings = Together(site, ["a", "b"])
    for name in ("a", "b"):
        landings.work(name)
    landings.first("a")
    landings.offer("b")
    landings.running["b"].send_signal(signal.SIGKILL)
    landings.running["b"].wait()
    landings.go()
    check.equal(landings.end("a")[0], 0)
    check.equal((site.holder("b"), "b" in site.files_on_target()), ("agent:b", False))
    check.equal(landings.offers(), [], "dead offers are removed")


@on_every_store
def a_lease_that_was_lost_meanwhile_does_not_land_with_others(site):
    landings = Together(site, ["a", "b", "c"])
    for name in ("a", "b", "c"):
        landings.work(name)
    landings.first("a")
    landings.offer("b", "c")
    landings.running["b"].send_signal(signal.SIGSTOP)
    site.reply("claim", "force-evict", "item:b", "--reason", "test", agent="agent:judge")
    landings.go()
    check.equal((landings.end("a")[0], landings.end("c")[0]), (0, 0))
    check.true("b" not in site.files_on_target(), "a lost lease landed")
    os.kill(landings.running["b"].pid, signal.SIGCONT)
    code, reply = landings.end("b")
    check.equal(code, 5, repr(reply))
    check.true("b" not in site.files_on_target(), "a lost lease landed")


@on_every_store
def another_mode_lands_alone(site):
    landings = Together(site, ["a", "b"])
    for name in ("a", "b"):
        landings.work(name)
    landings.first("a")
    landings.done("b", "--mode", "squash")
    landings.go()
    check.equal([landings.end(name)[0] for name in ("a", "b")], [0, 0])
    check.equal(steps(site, ["a", "b"]), 2, "steps")


if __name__ == "__main__":
    main()
