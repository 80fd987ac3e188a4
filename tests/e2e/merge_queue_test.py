"""Landing in line, where there are gates: who waits is seen, waiting work is merged together and gated once, and whoever
broke it is found."""

import json
import subprocess

from gate_site import configure, gate, gate_trees
from harness import DIBS, case, check, main, wait_until
from landing_site import LocalSite, on_every_store

EXIT_LOST, EXIT_REFUSED, EXIT_TIMED_OUT = 5, 8, 7


class Landings:
    """Items 0 to N-1, each worked on by an agent of its own; gates that say when they run and wait until told to go on."""

    def __init__(self, site, count, check_words="true"):
        self.site, self.seen, self.go = site, site.dir / "seen", site.dir / "go"
        self.seen.write_text("")
        configure(site, gate("slow", f"ls | tr '\\n' ' ' >> {self.seen}; echo >> {self.seen}; "
                                     f"while test ! -e {self.go}; do sleep 0.05; done; {check_words}"))
        self.made = [site.start(str(n), agent=f"agent:{n}") for n in range(count)]
        self.processes = {}

    def work(self, n, name=None):
        self.site.work(self.made[n], name or f"work-{n}")

    def lands(self, n):
        """`dibs done` of one, which waits at the gate or in line for it."""
        self.processes[n] = self.site.spawn(DIBS, "--json", "done", agent=f"agent:{n}", cwd=self.made[n]["path"],
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def first_at_the_gate(self):
        wait_until(lambda: self.seen.read_text(), "the gate runs")

    def line(self):
        return [waiter["agent_id"] for waiter in self.site.reply("queue", "list", "branch:main")["waiters"]]

    def in_line(self, *numbers):
        wanted = [f"agent:{n}" for n in numbers]
        wait_until(lambda: self.line() == wanted, f"{wanted} in line", timeout=60)

    def ends(self, n, code=0):
        out, err = self.processes[n].communicate(timeout=120)
        check.equal(self.processes[n].returncode, code, f"{n}: {out!r} {err!r}")
        return json.loads(out) if code == 0 else json.loads(err.splitlines()[-1])["error"]

    def gated(self):
        """What each run of the gate saw of the work."""
        return [{word for word in line.split() if word.startswith(("work", "bad"))}
                for line in self.seen.read_text().splitlines()]

    def nothing_left(self):
        check.equal(self.site.reply("claim", "list")["leases"], [])
        check.equal(self.site.reply("queue", "list")["queues"], [])
        check.equal(gate_trees(self.site), [])


def begin(site, count, **options):
    landings = Landings(site, count, **options)
    for n in range(count):
        landings.work(n)
    return landings


def line_up(landings, count):
    landings.lands(0)
    landings.first_at_the_gate()
    for n in range(1, count):
        landings.lands(n)
        landings.in_line(*range(1, n + 1))


@on_every_store
def those_who_wait_are_gated_once_together(site):
    landings = begin(site, 4)
    line_up(landings, 4)
    queue = site.reply("queue", "list", "branch:main")
    check.equal([holder["agent_id"] for holder in queue["holders"]], ["agent:0"])
    check.equal([waiter["item"] for waiter in queue["waiters"]], ["item:1", "item:2", "item:3"])
    landings.go.write_text("")
    replies = [landings.ends(n) for n in range(4)]
    check.equal(landings.gated(), [{"work-0"}, {"work-0", "work-1", "work-2", "work-3"}])
    check.true({f"work-{n}" for n in range(4)} <= site.files_on_target(), "all landed")
    landed = [reply["landed_commit"] for reply in replies]
    check.equal(list(reversed(site.first_parents()))[-4:], landed, "a commit each, in the order of the line")
    for n, commit in enumerate(landed):
        check.equal(site.trailers(commit)["Dibs-Agent"], f"agent:{n}")
        check.equal(site.trailers(commit)["Dibs-Gates"], "slow")
    check.true(all(reply["worktree_removed"] for reply in replies), replies)
    landings.nothing_left()


@case
def whoever_broke_it_is_told_and_the_others_land():
    with LocalSite() as site:
        landings = Landings(site, 5, check_words="test ! -e bad")
        for n in range(5):
            landings.work(n, "bad" if n == 3 else None)
        line_up(landings, 5)
        landings.go.write_text("")
        for n in (0, 1, 2, 4):
            landings.ends(n)
        error = landings.ends(3, EXIT_REFUSED)
        check.equal(error["gate"], "slow")
        check.equal(site.files_on_target() & {"bad", "work-0", "work-1", "work-2", "work-4"},
                    {"work-0", "work-1", "work-2", "work-4"})
        # All four, the first half, the other half, whoever is left alone: not one by one.
        check.true(len(landings.gated()) <= 6, landings.gated())
        check.equal([lease["resource"] for lease in site.reply("claim", "list")["leases"]], ["item:3"])


@case
def work_that_conflicts_with_what_comes_before_is_left_for_its_own_turn():
    with LocalSite() as site:
        landings = Landings(site, 3)
        landings.work(0)
        site.work(landings.made[1], "lines", "mine\n")
        site.work(landings.made[2], "lines", "yours\n")
        line_up(landings, 3)
        landings.go.write_text("")
        landings.ends(0)
        landings.ends(1)
        check.equal(landings.ends(2, EXIT_REFUSED)["conflicts"], ["lines"])
        check.equal(site.file_on_target("lines"), "mine")


@case
def with_a_batch_of_one_each_is_gated_by_itself():
    with LocalSite() as site:
        site.run("config", "set", "landing.batch", "1").expect(0)
        landings = begin(site, 3)
        line_up(landings, 3)
        landings.go.write_text("")
        for n in range(3):
            landings.ends(n)
        check.equal(landings.gated(), [{"work-0"}, {"work-0", "work-1"}, {"work-0", "work-1", "work-2"}])


@case
def whoever_is_killed_at_the_gate_keeps_nobody_waiting():
    with LocalSite() as site:
        landings = begin(site, 2)
        line_up(landings, 2)
        landings.processes[0].kill()
        landings.processes[0].wait()
        landings.go.write_text("")
        landings.ends(1)
        check.true("work-1" in site.files_on_target() and "work-0" not in site.files_on_target())
        landings.lands(0)
        landings.ends(0)
        landings.nothing_left()


@case
def whoever_lost_its_lease_in_line_does_not_land():
    with LocalSite() as site:
        landings = begin(site, 3)
        line_up(landings, 3)
        site.reply("claim", "force-evict", "1", "--reason", "test")
        landings.ends(1, EXIT_LOST)
        landings.go.write_text("")
        landings.ends(0)
        landings.ends(2)
        check.equal(site.files_on_target() & {"work-0", "work-1", "work-2"}, {"work-0", "work-2"})
        check.equal(len(site.rescues()), 1, "its work is kept")


@case
def who_waits_too_long_for_the_branch_gives_up():
    with LocalSite() as site:
        landings = begin(site, 2)
        site.run("config", "set", "landing.wait_secs", "1").expect(0)
        landings.lands(0)
        landings.first_at_the_gate()
        landings.lands(1)
        check.contains(landings.ends(1, EXIT_TIMED_OUT)["message"], "branch:main is held by agent:0")
        landings.go.write_text("")
        landings.ends(0)


@case
def what_has_passed_is_not_gated_again_for_other_files():
    with LocalSite() as site:
        site.run("config", "set", "gates.reuse", "disjoint").expect(0)
        landings = begin(site, 2)
        for n, news in ((0, "elsewhere"), (1, "work-1")):
            landings.go.unlink(missing_ok=True)
            landings.seen.write_text("")
            landings.lands(n)
            landings.first_at_the_gate()
            site.move_target(news, "work\n")
            landings.go.write_text("")
            landings.ends(n)
            check.equal(len(landings.gated()), 1 if news == "elsewhere" else 2, news)


@case
def items_are_done_with_the_work_that_landed_together():
    with LocalSite() as site:
        ids = [site.reply("item", "add", f"Thing {n}")["id"] for n in range(3)]
        landings = Landings(site, 0)
        landings.made = [site.start(item, agent=f"agent:{n}") for n, item in enumerate(ids)]
        for n in range(3):
            landings.work(n)
        line_up(landings, 3)
        site.reply("item", "comment", ids[0], "items can be changed while a gate runs")
        landings.go.write_text("")
        for n in range(3):
            landings.ends(n)
        check.equal({site.reply("item", "show", item)["state"] for item in ids}, {"done"})
        landings.nothing_left()


if __name__ == "__main__":
    main()
