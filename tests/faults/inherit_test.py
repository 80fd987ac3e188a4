"""A child that dibs starts and that stays alive must not keep a lock of its: programs get no descriptor of dibs' files. Only a git that
moves refs or makes a worktree has the lock that it is done under, so that whoever comes next waits for it."""

import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from gate_site import configure, gate  # noqa: E402
from harness import DIBS, case, check, main, wait_until  # noqa: E402
from landing_site import LocalSite  # noqa: E402

# What git does under which lock.
MEANT = {"update-ref": {"claims.lock", "items.lock"}, "fast-import": {"items.lock"}, "checkout": {"worktrees.lock"},
         "worktree": {"worktrees.lock"}}
LISTING_GIT = """#!/bin/sh
for fd in /proc/$$/fd/*; do echo "$(readlink $fd) <- $*" >> {log}; done
PATH={path} exec git "$@"
"""


def descriptors(pid):
    found = []
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            found.append(os.readlink(f"/proc/{pid}/fd/{name}"))
        except FileNotFoundError:
            pass
    return found


def of_dibs(paths):
    return [path for path in paths if "/.git/dibs/" in path]


@case
def gits_have_no_lock_but_the_one_they_are_meant_to_have():
    with LocalSite() as site:
        place = site.dir / "listing"
        place.mkdir()
        (place / "git").write_text(LISTING_GIT.format(log=place / "log", path=site.env["PATH"]))
        (place / "git").chmod(0o755)
        env = {"PATH": f"{place}:{site.env['PATH']}"}
        item = site.reply("item", "add", "one", env=env)["id"]
        made = site.reply("start", item, env=env)
        site.work(made)
        site.reply("done", item, env=env)
        site.reply("start", "other", env=env)
        site.reply("abandon", "other", env=env)
        lines = (place / "log").read_text().splitlines()
        check.true(len(lines) > 20, "git was hardly run")
        seen = set()
        for line in lines:
            path, words = line.split(" <- ")
            if "/.git/dibs/" in path:
                verb = next(word for word in words.split() if word in MEANT or not re.match(r"-|\S+=|/", word))
                check.contains(MEANT.get(verb, ()), os.path.basename(path), line)
                seen.add(verb)
        check.true({"update-ref", "checkout"} <= seen, f"the list was not made as it should be: {seen}")


@case
def gates_and_workers_have_none():
    with LocalSite() as site:
        log = site.dir / "log"
        configure(site, gate("look", f"for fd in /proc/$$/fd/*; do readlink $fd >> {log}; done; true", stage="postcheck"))
        site.reply("item", "add", "one")
        command = f"for fd in /proc/$$/fd/*; do readlink $fd >> {log}; done; echo work > work; git add work; git commit -q -m work"
        site.run("run", "--workers", "1", "--", "sh", "-c", command).expect(0)
        check.contains(site.files_on_target(), "work")
        lines = log.read_text().splitlines()
        check.true(len(lines) >= 6, f"{lines}")
        check.equal(of_dibs(lines), [])


@case
def a_worker_that_stays_behind_keeps_nobody_waiting():
    """It was started while dibs held leases; when dibs is killed, its children live on, and others go on at once."""
    with LocalSite() as site:
        site.reply("item", "add", "one")
        run = site.spawn(DIBS, "run", "--workers", "1", "--", "sh", "-c", f"echo $$ > {site.dir}/pid; exec sleep 1000",
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        pid = int(wait_until(lambda: (site.dir / "pid").exists() and (site.dir / "pid").read_text().strip(), "the worker"))
        try:
            check.equal(of_dibs(descriptors(pid)), [])
            run.kill()
            run.wait()
            check.equal(of_dibs(descriptors(pid)), [])
            site.run("claim", "acquire", "two", agent="agent:two", timeout=20).expect(0)
        finally:
            os.kill(pid, 9)


@case
def a_heartbeat_daemon_has_no_lock_of_claims():
    with LocalSite() as site:
        site.acquire("42")
        owner = site.sleeper()
        daemon = site.reply("claim", "heartbeat", "--daemon", "--every", "1", "--pid", str(owner.pid))["pid"]
        wait_until(lambda: ("heartbeat", "agent:one") in site.ops(), "a beat")
        wait_until(lambda: "claims.lock" not in " ".join(descriptors(daemon)), "the lock to be given back after a beat")
        owner.kill()


if __name__ == "__main__":
    main()
