"""A number in a file on the target branch. Whoever holds its item reads it, adds one, and lands that; some are stopped past their ttl
between reading and the step that counts, and another takes the item over meanwhile.

At the end the number must be that of the increments that were acknowledged. The same course with a dibs that does not compare the lease at
that step (tools/unfenced_dibs) has to lose some, or it would prove nothing.
"""

import os
import shutil
import time
from pathlib import Path

from zombie import LEASE_LOST, STOPS, TAKER, WORKER, TooSlow

from harness import DIBS, Skip, check
from landing_site import GitSite, LocalSite

UNFENCED = Path(os.environ.get("DIBS_TOOLS", "")).resolve() / "unfenced_dibs"
TTL_SECS = 2
TRIES_MAX = 5


class Counter:
    """The number, who adds to it, and how many increments were acknowledged."""

    def __init__(self, layout, program):
        self.layout, self.program, self.acknowledged, self.refused = layout, program, 0, 0
        self.site = LocalSite() if layout == "local" else GitSite(layout=layout)

    def __enter__(self):
        self.taker = self.site if self.layout == "local" else self.site.another_clone()
        for clone in (self.site, self.taker) if self.layout != "local" else ():
            clone.run("config", "set", "store.skew_margin_secs", "0").expect(0)
        self.site.move_target("counter", "0\n")
        return self

    def __exit__(self, *why):
        self.site.__exit__(*why)

    def value(self):
        return int(self.site.file_on_target("counter"))

    def begin(self, where, agent, *ttl):
        """Takes the item, reads the number and adds one; the worktree."""
        made = where.reply("start", "counter", *ttl, agent=agent)
        tree = Path(made["path"])
        self.site.work(made, "counter", f"{int((tree / 'counter').read_text()) + 1}\n", f"counted by {agent}")
        return tree

    def note(self, reply):
        check.true(reply.code in (0, LEASE_LOST), f"{reply!r}")
        self.acknowledged += reply.code == 0
        self.refused += reply.code == LEASE_LOST

    def round(self, stop, taker_lands_first):
        """One increment by somebody who is stopped on the way, and one by whoever takes over."""
        for leftover in ("stopping", "trace"):
            shutil.rmtree(self.site.dir / leftover, ignore_errors=True)
            (self.site.dir / leftover).unlink(missing_ok=True)
        tree = self.begin(self.site, WORKER, "--ttl", str(TTL_SECS))
        began = time.monotonic()
        worker = stop(self.site, str(tree), self.program)
        time.sleep(max(0.0, began + TTL_SECS + 0.2 - time.monotonic()))
        taken = self.begin(self.taker, TAKER)
        land = [lambda: self.taker.run("done", "--json", cwd=taken, agent=TAKER), worker.wake]
        for step in land if taker_lands_first else reversed(land):
            self.note(step())
        self.forget(self.site, tree)

    def forget(self, where, tree):
        """Who did not land begins anew."""
        if tree.exists():
            where.git("worktree", "remove", "--force", tree, cwd=where.root)
        for branch in where.git("for-each-ref", "--format=%(refname:short)", "refs/heads/dibs", cwd=where.root).splitlines():
            where.git("branch", "-q", "-D", branch, cwd=where.root)


def count(layout, rounds, program):
    """How many increments were lost, of those that were acknowledged."""
    with Counter(layout, program) as counter:
        stops = list(STOPS[layout].values())
        for number in range(rounds):
            for _ in range(TRIES_MAX):
                try:
                    counter.round(stops[-1 - number // 2 % len(stops)], taker_lands_first=number % 2 == 1)
                    break
                except TooSlow:
                    pass  # the lease ran out before the worker could be stopped, which shows nothing
        print(f"      {counter.acknowledged} acknowledged, {counter.refused} refused, the counter is {counter.value()}")
        check.true(counter.acknowledged >= rounds, f"only {counter.acknowledged} of {rounds} takers landed")
        return counter.acknowledged - counter.value(), counter.refused


def with_and_without_fencing(layout, rounds):
    if not UNFENCED.is_file():
        raise Skip(f"there is no {UNFENCED}: set DIBS_TOOLS")
    lost, refused = count(layout, rounds, DIBS)
    check.equal(lost, 0, "acknowledged increments that are lost")
    check.true(refused > 0, "nobody was refused")
    lost, _ = count(layout, rounds, str(UNFENCED))
    check.true(lost > 0, "without fencing not one increment was lost")
