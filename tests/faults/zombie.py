"""A worker that is stopped past its ttl and woken after another took its item: it must not land any more.

It is stopped before `done` begins, or in the middle of it: after it has looked at its lease and before the step that counts.
On a git store that step is the push, so a `git` that stands first in PATH stops dibs there; locally it begins when dibs opens the
claims lock, so strace stops it at that.
"""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from harness import DIBS, Reply, check, wait_until  # noqa: E402
from injection import needs_strace  # noqa: E402
from landing_site import GitSite, LocalSite  # noqa: E402

LEASE_LOST = 5
AT_ONCE = 5
WORKER, TAKER = "agent:worker", "agent:taker"
STOPPING_GIT = """#!/bin/sh
case " $* " in
*" push "*"--atomic "*)
  if rmdir {dir}/armed 2>/dev/null; then
    kill -STOP $PPID
    touch {dir}/stopped
    until test -e {dir}/go; do sleep 0.02; done
  fi ;;
esac
PATH={path} exec git "$@"
"""


class TooSlow(Exception):
    """The lease ran out before the worker could be stopped; nothing was shown."""


def is_stopped(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] in "Tt"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Worker:
    """`dibs done`, stopped on its way. `pid` is dibs, or the shell that is about to become it."""

    def __init__(self, process, stopped, also_wake=lambda: None):
        self.process, self.also_wake = process, also_wake
        wait_until(lambda: stopped() or process.poll() is not None, "the worker to be stopped", timeout=60)
        self.pid = stopped()
        if not self.pid:
            raise TooSlow(f"{self.reply()!r}")

    def wake(self):
        self.also_wake()
        os.kill(self.pid, signal.SIGCONT)
        return self.reply()

    def reply(self):
        out, err = self.process.communicate(timeout=60)
        return Reply(["done"], self.process.returncode, out.decode(), err.decode())


def spawn(site, tree, *words, env=None):
    return site.spawn(*words, cwd=tree, agent=WORKER, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def stopped_before_done(site, tree, program):
    process = spawn(site, tree, "sh", "-c", 'kill -STOP $$; exec "$0" done --json', program)
    return Worker(process, lambda: is_stopped(process.pid) and process.pid)


def stopped_at_the_push(site, tree, program):
    place = site.dir / "stopping"
    (place / "armed").mkdir(parents=True)
    (place / "git").write_text(STOPPING_GIT.format(dir=place, path=site.env["PATH"]))
    (place / "git").chmod(0o755)
    process = spawn(site, tree, program, "done", "--json", env={"PATH": f"{place}:{site.env['PATH']}"})
    return Worker(process, lambda: (place / "stopped").exists() and is_stopped(process.pid) and process.pid,
                  also_wake=(place / "go").touch)


def stopped_at_the_lock(site, tree, program):
    needs_strace()
    trace = site.dir / "trace"
    process = spawn(site, tree, "strace", "-f", "-qq", "-o", str(trace), "-P", str(site.store / "locks/claims.lock"),
                    "-e", "inject=openat:signal=STOP:when=1", program, "done", "--json")

    def tracee():
        lines = [line.split() for line in trace.read_text().splitlines()] if trace.exists() else []
        opened = [int(words[0]) for words in lines if words[1].startswith("openat(")]
        return opened and is_stopped(opened[0]) and opened[0]
    return Worker(process, tracee)


def margin_can_be_set(site):
    return site.run("config", "get", "store.skew_margin_secs").code == 0


class Scene:
    """A repository, a worker with work to land, and whoever takes its item over."""

    def __init__(self, layout, ttl_secs):
        self.local = layout == "local"
        self.site = LocalSite() if self.local else GitSite(layout=None if layout == "refs" else layout)
        self.ttl_secs = ttl_secs
        self.expires = self.local or margin_can_be_set(self.site)

    def __enter__(self):
        self.site.__enter__()
        self.taker = self.site if self.local else self.site.another_clone()
        if self.expires and not self.local:
            for clone in (self.site, self.taker):
                clone.run("config", "set", "store.skew_margin_secs", "0").expect(0)
        # The worktree first, and the lease anew when all is ready: little time passes before the worker is stopped.
        made = self.site.start("42", agent=WORKER)
        self.tree = made["path"]
        self.work = self.site.work(made, "zombie")
        self.site.run("claim", "release", "42", cwd=self.tree, agent=WORKER).expect(0)
        ttl = ["--ttl", str(self.ttl_secs)] if self.expires else []
        self.lease = self.site.reply("claim", "acquire", "42", *ttl, cwd=self.tree, agent=WORKER)
        self.taken_at = time.monotonic()
        return self

    def __exit__(self, *why):
        self.site.__exit__(*why)

    def take_over(self):
        force = [] if self.expires else ["--strategy", "force", "--reason", "test"]
        if self.expires:
            time.sleep(max(0.0, self.taken_at + self.ttl_secs + 0.2 - time.monotonic()))
        taken = self.taker.reply("start", "42", *force, agent=TAKER)
        check.true(taken["fence"] > self.lease["fence"], f"{taken} after {self.lease}")
        return taken

    def land(self, taken):
        self.site.work(taken, "taker")
        self.taker.reply("done", cwd=taken["path"], agent=TAKER)


def show(layout, stop, taker_lands, program=DIBS, judge=None, ttl_secs=2):
    """One zombie. A lease that ran out before the worker could be stopped shows nothing: again, with a longer one."""
    for longer in (1, 3, 10):
        try:
            with Scene(layout, ttl_secs * longer) as scene:
                worker = stop(scene.site, scene.tree, program)
                taken = scene.take_over()
                if taker_lands:
                    scene.land(taken)
                target = scene.site.target()
                reply = worker.wake()
                return (judge or check_refused)(scene, taken, target, reply)
        except TooSlow as slow:
            last = slow
    raise AssertionError(f"the worker was never stopped in time: {last}")


def show_many(layout, stop, rounds):
    """Many zombies, several at a time: most of it is waiting. In every other round the taker has landed when the zombie wakes."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        done = [pool.submit(show, layout, stop, taker_lands=n % 2 == 0) for n in range(rounds)]
    failed = [str(one.exception()) for one in done if one.exception()]
    check.true(not failed, f"{len(failed)} of {rounds} were not refused: {failed[:1]}")


def check_refused(scene, taken, target, reply):
    site = scene.site
    error = reply.expect(LEASE_LOST).error()
    check.equal(site.target(), target, "the target")
    check.absent(site.files_on_target(), "zombie")
    kept = {rescue["name"]: rescue["head"] for rescue in site.rescues()}
    check.equal(kept.get(error["rescue"]), scene.work, f"what is kept: {kept}")
    check.true(Path(scene.tree).exists(), "the worktree")
    if "taker" in site.files_on_target():
        check.equal(scene.taker.holder("42"), None)
    else:
        check.equal(error["holder"], TAKER)
        check.equal(scene.taker.reply("claim", "status", "42")["lease"]["lease_id"], taken["lease_id"])
        scene.land(taken)


def check_landed_all_the_same(scene, taken, target, reply):
    """Without fencing: what the others tests would see as a failure."""
    reply.expect(0)
    check.contains(scene.site.files_on_target(), "zombie")
    check.true(scene.site.target() != target, "the target has not moved")


def git_layouts():
    """Those that this dibs knows."""
    offered = subprocess.run([DIBS, "init", "--help"], capture_output=True, text=True, check=False).stdout
    return ["refs", *(layout for layout in ("branches", "lock-branch") if f" {layout} " in offered)]


# How a worker is stopped, by where its leases are.
STOPS = {"local": {"before done": stopped_before_done, "at the lock": stopped_at_the_lock},
         **{layout: {"before done": stopped_before_done, "at the push": stopped_at_the_push} for layout in git_layouts()}}
