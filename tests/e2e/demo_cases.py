"""`dibs demo`: a whole project done by workers, and a proof that would have noticed."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

from harness import DIBS, Scratch, check, needs, wait_until
from screen import Screen

PATIENCE_SECS = 150  # the machine may be busy

# What the demo and git need besides a compiler.
TOOLS = ("sh", "git", "sed", "sleep", "mv", "dirname", "cat", "grep", "rm", "mkdir", "env")


class Stage(Scratch):
    """A place whose scratch directories are easily found."""

    def __init__(self):
        super().__init__()
        self.tmp = self.dir / "tmp"
        self.tmp.mkdir()
        self.env["TMPDIR"] = str(self.tmp)

    def demo(self, *options, **more):
        return self.run("demo", *map(str, options), timeout=PATIENCE_SECS, **more)

    def left(self):
        return sorted(path.name for path in self.tmp.iterdir())

    def repository(self):
        """That of a demo under way, or of one that was kept."""
        found = list(self.tmp.glob("dibs-*/repository"))
        return found[0] if found else None

    def has_commits(self):
        return self.repository() and (self.repository() / ".git/refs/heads/main").exists()

    def forge(self, message):
        """A commit on the target that no lease stands behind; false when somebody was faster."""
        target = self.git("rev-parse", "main", cwd=self.repository())
        forged = self.git("commit-tree", "-m", message, "-p", target, f"{target}^{{tree}}", cwd=self.repository())
        words = ["git", "update-ref", "refs/heads/main", forged, target]
        return subprocess.run(words, cwd=self.repository(), env=self.env, capture_output=True, timeout=60).returncode == 0

    def processes(self):
        """Of any demo here: they have its directory in their environment."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                environment = Path(f"/proc/{pid}/environ").read_bytes()
            except OSError:
                continue
            if int(pid) != os.getpid() and str(self.tmp).encode() in environment:
                found.append(int(pid))
        return found

    def check_nothing_left(self):
        check.equal(self.left(), [], "scratch directories")
        wait_until(lambda: not self.processes(), "every process of the demo to be gone")


def a_demo_is_proven_and_leaves_nothing():
    with Stage() as stage:
        reply = stage.demo("--json", "--workers", 4, "--items", 16, "--seed", 3).expect(0)
        found = reply.json()
        check.equal((found["items"], found["done"], found["workers"], found["seed"]), (16, 16, 4, 3))
        check.equal((found["proven"], found["violations"]), (True, []))
        check.equal([claim for claim in found["proof"] if not claim["holds"]], [])
        check.equal(len(found["proof"]), 8, "claims")
        check.true(found["grants"] >= 19, "16 items, a mistake, a kill, a sleeper")
        check.true(found["failed"] >= 2 and found["commands"] >= 18, "a mistake and a kill cost a try each")
        check.true(found["killed"].startswith("step-"), "one was killed")
        check.true(found["took_over"].startswith("agent:demo took item:step-"), "the sleeper's item was taken over")
        check.true(found["one_worker_ms"] > 0 and found["speed_up"] > 0, "it was measured")
        stage.check_nothing_left()


def one_worker_alone_will_do():
    with Stage() as stage:
        found = stage.demo("--json", "--workers", 1, "--items", 5).expect(0).json()
        check.equal((found["done"], found["proven"], found["conflicts"]), (5, True, 0))
        stage.check_nothing_left()


def one_item_will_do():
    with Stage() as stage:
        found = stage.demo("--json", "--items", 1).expect(0).json()
        check.equal((found["done"], found["proven"], found["killed"], found["took_over"]), (1, True, "", ""))
        check.true("speed_up" not in found, "nothing was measured")
        stage.check_nothing_left()


def off_a_terminal_it_is_told_in_lines():
    with Stage() as stage:
        reply = stage.demo("--workers", 3, "--items", 6, "--seed", 2).expect(0)
        check.absent(reply.out, "\x1b")
        for words in ("agent:sleeper takes step-0", "6 of 6 items landed", "agent:sleeper wakes up",
                      "  ok 6 items, each landed exactly once\n", "was refused (exit 5), and its work is kept\n",
                      "was stopped by the gate\n", "  ok what landed works: 6 of 6 steps", "times as fast\n"):
            check.contains(reply.out, words)
        check.absent(reply.out, "NO ")
        check.equal(reply.err, "")
        stage.check_nothing_left()


def what_is_kept_says_the_same_as_the_proof():
    needs("cc")
    with Stage() as stage:
        reply = stage.demo("--keep", "--workers", 3, "--items", 8).expect(0)
        repository = stage.repository()
        check.contains(reply.out, f"kept: git -C {repository.parent}/repository log")
        subjects = stage.git("log", "--first-parent", "--format=%s", "main", cwd=repository).splitlines()
        landed = sorted(line.removeprefix("Land item:") for line in subjects if line.startswith("Land item:"))
        check.equal(landed, [f"step-{n:02}" for n in range(1, 9)])
        check.equal(stage.git("status", "--porcelain", cwd=repository), "")
        built = subprocess.run(["sh", "check.sh"], cwd=repository, capture_output=True, text=True, timeout=60)
        check.equal((built.returncode, built.stdout.startswith("8 of 8 steps")), (0, True))
        wait_until(lambda: not stage.processes(), "every process of the demo to be gone")


def without_a_compiler_it_says_so():
    with Stage() as stage:
        tools = stage.dir / "tools"
        tools.mkdir()
        for name in TOOLS:
            (tools / name).symlink_to(shutil.which(name))
        env = {"PATH": str(tools)}
        found = stage.demo("--json", "--workers", 2, "--items", 6, env=env).expect(0).json()
        check.equal((found["compiled"], found["proven"], found["done"]), (False, True, 6))
        stage.check_nothing_left()


def a_branch_that_somebody_leaves_behind_is_found():
    with Stage() as stage:
        demo = stage.spawn(DIBS, "demo", "--workers", "2", "--items", "4", stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
        wait_until(stage.has_commits, "a commit")
        stage.git("branch", "stray", "main", cwd=stage.repository())
        out, err = demo.communicate(timeout=PATIENCE_SECS)
        check.equal(demo.returncode, 1)
        check.contains(out, "NO nothing left behind: no worktree, branch, process or lease\n     branch stray\n")
        check.contains(err, "error: 1 violation: dibs broke its promise\nhint: run it again")


def work_that_lands_behind_its_back_is_found():
    with Stage() as stage:
        demo = stage.spawn(DIBS, "demo", "--json", "--workers", "2", "--items", "4", stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
        wait_until(stage.has_commits, "a commit")
        wait_until(lambda: "Land item:step-02" in stage.git("log", "--format=%s", "main", cwd=stage.repository()), "a landing")
        wait_until(lambda: stage.forge("Land item:step-02\n\nDibs-Lease: 0\n"), "nobody to land in the same moment")
        out, _ = demo.communicate(timeout=PATIENCE_SECS)
        check.equal(demo.returncode, 1)
        check.contains(out, '"step-02 landed 2 times"')
        check.contains(out, '"step-02 was landed by one who did not hold it"')


def a_demo_that_is_interrupted_leaves_nothing():
    with Stage() as stage:
        demo = stage.spawn(DIBS, "demo", "--items", "12", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: stage.repository() and (stage.repository().parent / "paused").exists() and
                   list((stage.repository() / ".git/dibs/run").glob("*")), "a run")
        demo.send_signal(signal.SIGINT)
        _, err = demo.communicate(timeout=PATIENCE_SECS)
        check.equal(demo.returncode, 8)
        check.contains(err, "error: the demo was interrupted; nothing is proven\nhint: run it again: dibs demo\n")
        stage.check_nothing_left()


def on_a_terminal_it_fits_80_by_24():
    with Stage() as stage:
        with Screen(stage, 80, 24, DIBS, "demo", "--workers", "4", "--items", "10") as screen:
            screen.wait_for(r"^ +1  step-\d\d .*lease", PATIENCE_SECS)
            check.true(all(len(line) <= 80 for line in screen.lines()), f"too wide: {screen.lines()}")
            screen.wait_for(r"^exit 0", PATIENCE_SECS)
            check.true(not screen.shows(r"lease \d"), f"the view is gone: {screen.lines()}")
            check.true(screen.shows(r"^  ok 10 items, each landed exactly once"), f"{screen.lines()}")
        stage.check_nothing_left()
