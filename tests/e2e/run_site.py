"""What tests of `dibs run` share: a place with items, workers as small scripts, and what must be left when a run has ended.

    site = LocalRunSite()
    site.add("a", "b")
    site.dibs_run("--workers", 2, script=WORK).expect(0)
    site.check_nothing_left()
"""

import json
import os
import subprocess

from harness import DIBS, add_case, check, is_running, wait_until
from landing_site import GitSite, LocalSite

# A worker that does what it should: a file named after its item, in one commit.
WORK = 'echo "$DIBS_ITEM" > "done-$DIBS_ITEM" && git add -A && git commit -q -m "$DIBS_ITEM"'


# A worker that does to its item whatever the seed says: crashes, hangs, fails, forgets to commit, or edits a line that others
# edit too; a later try does something else. Processes that it leaves behind are part of it.
CHAOS = """
roll=$(printf '%s' "$SEED-$DIBS_ITEM-$DIBS_TRIES" | cksum | cut -d ' ' -f 1)
sleep 1000 &
setsid sleep 1000 > /dev/null 2>&1 &
case $((roll % 100)) in
  [0-9]) echo half > half; kill -9 $$;;
  1[0-4]) echo "it does not compile" >&2; exit 1;;
  1[5-7]) trap '' TERM; sleep 1000;;
  1[89]) [ -e "$MARKS/$DIBS_ITEM" ] || { touch "$MARKS/$DIBS_ITEM"; exit 75; };;
  2[0-3]) exit 0;;
  2[4-7]) echo forgotten > lines; exit 0;;
  2[89]|3[0-9]) sed -i "$((roll % 7 + 1))s/.*/$DIBS_ITEM/" lines;;
esac
"""


class RunSite:
    """Mixed into a LandingSite."""

    def add(self, *titles, **members):
        """Items of these titles, which are their ids as well."""
        lines = "".join(json.dumps({"id": title, "title": title, **members}) + "\n" for title in titles)
        self.run("item", "add", "--batch", "-", stdin=lines.encode()).expect(0)

    def words(self, *options, script=WORK):
        return ["run", *map(str, options), "--", "sh", "-c", script]

    def dibs_run(self, *options, script=WORK, **more):
        return self.run(*self.words(*options, script=script), timeout=120, **more)

    def events(self, *options, script=WORK, code=0, **more):
        """The events of a run that ended so, the summary last."""
        return self.dibs_run("--json", *options, script=script, **more).expect(code).lines()

    def begin_run(self, *options, script=WORK, **more):
        return self.spawn(DIBS, *self.words(*options, script=script), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **more)

    def item(self, name):
        return self.reply("item", "show", name)

    def landed(self):
        """The items whose work is on the target."""
        return {name.removeprefix("done-") for name in self.files_on_target() if name.startswith("done-")}

    def worktrees(self):
        listed = self.git("worktree", "list", "--porcelain", cwd=self.root)
        return [line.removeprefix("worktree ") for line in listed.splitlines() if line.startswith("worktree ")]

    def check_nothing_left(self):
        check.equal(self.worktrees(), [str(self.root)], "worktrees")
        check.equal({b for b in self.branches() if b != "main"}, set(), "branches")
        check.equal(self.reply("claim", "list")["leases"], [], "leases")
        check.equal([path.name for path in (self.store / "run").glob("*")], [], "marks of runs")
        wait_until(lambda: not self.processes(), "every process of the run to be gone")

    def check_ends(self, names):
        """Each item landed exactly once, or is parked and did not land."""
        subjects = self.on_target("log", "--first-parent", "--format=%s", "main").splitlines()
        states = {item["id"]: state for state in ("done", "pending", "ready")
                  for item in self.reply("item", "list", "--state", state, "--limit", "100000")["items"]}
        for name in names:
            landings = subjects.count(f"Land item:{name}")
            check.equal((states.get(name), landings), ("done", 1) if landings else ("pending", 0), name)
        landed = {name for name in names if states[name] == "done"}
        check.equal(self.landed(), landed, "what is on the target")
        return landed

    def processes(self):
        """Of any run of this place: they have its directory in their environment."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    environment = file.read()
            except OSError:
                continue
            of_a_run = b"\0DIBS_RUN=" in environment or b"\0DIBS_RUN_STEP=" in environment
            if of_a_run and str(self.dir).encode() in environment and is_running(int(pid)):
                found.append(int(pid))
        return found


class LocalRunSite(RunSite, LocalSite):
    pass


class GitRunSite(RunSite, GitSite):
    pass


def on_every_store(function):
    """Registers a case for each store; it gets a fresh site with room for a run."""
    for kind in (LocalRunSite, GitRunSite):
        def shown(kind=kind):
            with kind() as site:
                function(site)
        add_case(f"{function.__name__.replace('_', ' ')} ({kind.store_kind})", shown)
    return function
