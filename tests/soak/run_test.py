#!/usr/bin/env python3
"""Many items through many workers that crash, hang, fail and conflict, while runs are killed: on one machine, and with two runs from
two clones of a remote. Each item lands exactly once or is parked, and nothing is left behind.

DIBS_SOAK_ITEMS and DIBS_SOAK_SEED choose another size and another course.
"""

import os
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))

from harness import DIBS, case, check, main  # noqa: E402
from run_site import CHAOS, WORK, GitRunSite, LocalRunSite, RunSite  # noqa: E402

ITEMS = int(os.environ.get("DIBS_SOAK_ITEMS", "1000"))
SEED = os.environ.get("DIBS_SOAK_SEED", "1")
WORKERS = 16
END_SECS = 3600


def prepared(site, count):
    names = [f"item-{n:04}" for n in range(count)]
    site.add(*names)
    (site.dir / "marks").mkdir()
    return names, {"SEED": SEED, "MARKS": str(site.dir / "marks")}


def begin(site, environment, workers=WORKERS, **more):
    """A run whose words go to a file beside the repository."""
    log = open(site.dir / f"log-{time.monotonic_ns()}", "wb")
    words = RunSite.words(site, "--workers", workers, "--timeout", 3, script=CHAOS + WORK)
    return site.spawn(DIBS, *words, env=environment, stdout=log, stderr=log, **more)


def finished(run):
    code = run.wait(timeout=END_SECS)
    check.true(code in (0, 6, 8), f"a run ended with {code}")


@case
def on_one_machine_while_runs_are_killed():
    with LocalRunSite() as site:
        names, environment = prepared(site, ITEMS)
        chance = random.Random(SEED)
        for _ in range(4):
            run = begin(site, environment)
            time.sleep(chance.uniform(1, 8))
            run.kill()
            run.wait()
        finished(begin(site, environment))
        landed = site.check_ends(names)
        check.true(len(landed) > ITEMS / 2, f"only {len(landed)} landed")
        site.check_nothing_left()
        site.healthy()


@case
def with_two_runs_from_two_clones_of_a_remote():
    with GitRunSite() as site:
        names, environment = prepared(site, ITEMS)
        other = site.another_clone()
        runs = [begin(clone, environment, WORKERS // 2, agent=agent)
                for clone, agent in ((site, "agent:one"), (other, "agent:two"))]
        for run in runs:
            finished(run)
        # Whoever ended first may have left to the other what that held then.
        other.run("item", "sync", agent="agent:two").expect(0)
        site.run("item", "sync").expect(0)
        finished(begin(site, environment))
        site.check_ends(names)
        site.check_nothing_left()
        listed = other.git("worktree", "list", "--porcelain", cwd=other.root)
        check.equal(listed.count("worktree "), 1, "worktrees of the other clone")
        check.equal(os.listdir(other.root / ".git/dibs/run"), [], "marks of runs")


if __name__ == "__main__":
    main()
