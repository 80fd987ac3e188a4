"""Many processes race for a few items through the real binary, each guarding a counter that overlapping holders would spoil.

    python3 race.py WORKER DIR        one worker; DIR/plan.json says what to do, and DIR/history-WORKER gets what happened

An operation is one call of acquire, release or status. A worker must cost little beside the dibs that it runs: it starts it with
posix_spawn, has one pipe for all answers, and looks for three words in them instead of reading JSON.
"""

import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import history
import linearizability
from operations import FREE, GRANTED, HELD, LOST, RELEASED, Operation, grants_of

ANSWER_BYTES_MAX = 65_536  # what a pipe holds, and more than any answer has
LEASE = re.compile(rb'"lease_id":"(\w+)".*?"fence":(\d+)(?:,"ttl_secs":(\d+))?')
# Exit code → what it says, by verb.
OUTCOMES = {"acquire": {0: GRANTED, 3: HELD}, "release": {0: RELEASED, 5: LOST}, "status": {0: FREE}}
CONTENDED = 12  # nothing was done, because others were faster too often
STATUS_SHARE = 0.1


def race(repo, workers, operations, items, dibs, guard=True, kill_share=0.0, roots=()):
    """Runs them all to the end, each in one of `roots` (the repository itself unless there are several clones). Returns the operations and
    how many increments were made."""
    plan = {"dibs": dibs, "roots": list(map(str, roots or [repo.root])), "operations": operations, "items": items,
            "guard": guard, "kill_share": kill_share}
    folder = repo.dir / "race"
    folder.mkdir()
    (folder / "plan.json").write_text(json.dumps(plan))
    for item in range(items):
        (folder / f"counter-{item}").write_text("0")
    running = [subprocess.Popen([sys.executable, __file__, str(n), str(folder)], env=repo.environment(f"agent:w{n}"),
                                stdin=subprocess.DEVNULL,
                                stderr=subprocess.PIPE) for n in range(workers)]
    problems = [f"worker {n}: {process.communicate()[1].decode()[-500:]}" for n,
                process in enumerate(running) if process.wait() != 0]
    made = [operation for n in range(workers) for operation in recorded(folder, n)]
    counted = sum(int((folder / f"counter-{item}").read_text() or 0) for item in range(items))
    return made, counted, problems


def recorded(folder, worker):
    with open(folder / f"history-{worker}") as lines:
        for line in lines:
            kind, resource, asked, answered, outcome, fence, lease_id, ends = line.split()
            yield Operation(kind, resource, f"agent:w{worker}", float(asked), float(answered), outcome,
                            int(fence) if fence != "-" else None, lease_id, float(ends))


def violations(operations):
    """What the one checker finds wrong, and what the other."""
    return history.violations(grants_of(operations)) + linearizability.violations(operations)


class Worker:
    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        self.plan = json.loads((folder / "plan.json").read_text())
        self.random, self.left = random.Random(int(name)), self.plan["operations"]
        self.reading, self.writing = os.pipe()
        os.set_blocking(self.reading, False)
        self.output = [(os.POSIX_SPAWN_DUP2, self.writing, 1), (os.POSIX_SPAWN_DUP2, self.writing, 2)]

    def run(self):
        os.chdir(self.plan["roots"][int(self.name) % len(self.plan["roots"])])
        with open(self.folder / f"history-{self.name}", "w") as self.history:
            while self.left > 0:
                item = self.random.randrange(self.plan["items"])
                if not self.plan["guard"]:
                    self.left -= 1
                    self.increment(item)
                elif self.left == 1 or self.random.random() < STATUS_SHARE:
                    self.operation("status", f"item:{item}")
                else:
                    self.guarded(item)

    def guarded(self, item):
        resource = f"item:{item}"
        outcome, lease_id, fence = self.operation("acquire", resource)
        if outcome == GRANTED:
            self.increment(item)
            self.operation("release", resource, lease_id, fence)

    def operation(self, verb, resource, lease_id=None, fence=None):
        """Asks and writes down the answer: outcome, lease and fence."""
        self.left -= 1
        asked = time.monotonic()
        code, text = self.dibs(verb, lease_id or resource)
        answered = time.monotonic()
        outcome, ends = OUTCOMES[verb][code], math.inf
        if lease := LEASE.search(text):
            lease_id, fence = lease[1].decode(), int(lease[2])
            ends = asked + int(lease[3] or 0) if outcome == GRANTED else ends
            outcome = HELD if verb == "status" else outcome
        self.history.write(f"{verb} {resource} {asked!r} {answered!r} {outcome} {'-' if fence is None else fence} "
                           f"{lease_id or '-'} {ends}\n")
        return outcome, lease_id, fence

    def increment(self, item):
        """Reads, waits for a moment, writes: two at once lose one."""
        path = self.folder / f"counter-{item}"
        value = int(path.read_text() or 0)
        os.sched_yield()
        path.write_text(str(value + 1))

    def dibs(self, verb, what):
        """The answer. A killed command is run again, which must answer the same; and so is one from a clone for which others were faster too
        often, as it says: a slow clone of a busy remote is not served in any order."""
        while True:
            pid = os.posix_spawn(self.plan["dibs"], ["dibs", "--json", "claim", verb, what], os.environ,
                                 file_actions=self.output)
            killer = self.random.random() < self.plan["kill_share"] and self.killer(pid)
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            if killer:
                killer.cancel()
                killer.join()  # before waitpid: until then the pid is nobody else's
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            text = self.answer()
            if code in OUTCOMES[verb]:
                return code, text
            if code == CONTENDED and len(self.plan["roots"]) > 1:
                continue
            if code != -signal.SIGKILL or not killer:
                sys.exit(f"dibs claim {verb} {what}: exit {code}: {text}")

    def killer(self, pid):
        killer = threading.Timer(self.random.random() * 0.006, os.kill, [pid, signal.SIGKILL])
        killer.start()
        return killer

    def answer(self):
        """All of it is in the pipe once dibs has ended."""
        try:
            return os.read(self.reading, ANSWER_BYTES_MAX)
        except BlockingIOError:
            return b""


if __name__ == "__main__":
    Worker(sys.argv[1], Path(sys.argv[2])).run()
