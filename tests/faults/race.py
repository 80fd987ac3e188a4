"""Many processes race for a few items through the real binary, each guarding a counter that overlapping holders would spoil.

    python3 race.py WORKER DIR        one worker; DIR/plan.json says what to do, and DIR/history-WORKER.jsonl gets what happened
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from history import Grant


def race(repo, workers, rounds, items, dibs, guard=True, kill_share=0.0):
    """Runs them all to the end; returns the acknowledged grants and how many increments were made."""
    plan = {"dibs": dibs, "root": str(repo.root), "rounds": rounds, "items": items, "guard": guard,
            "kill_share": kill_share}
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
    grants = [Grant(**json.loads(line)) for n in range(workers) for line in (folder / f"history-{n}.jsonl").read_text().splitlines()]
    counted = sum(int((folder / f"counter-{item}").read_text() or 0) for item in range(items))
    return grants, counted, problems


class Worker:
    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        self.plan = json.loads((folder / "plan.json").read_text())
        self.random = random.Random(int(name))

    def run(self):
        os.chdir(self.plan["root"])
        with open(self.folder / f"history-{self.name}.jsonl", "w") as self.history:
            done = 0
            while done < self.plan["rounds"]:
                item = self.random.randrange(self.plan["items"])
                done += self.guarded(item) if self.plan["guard"] else self.unguarded(item)

    def unguarded(self, item):
        self.increment(item)
        return True

    def guarded(self, item):
        resource = f"item:{item}"
        asked = time.monotonic()
        code, lease = self.dibs("acquire", resource)
        answered = time.monotonic()
        if code == 3:
            return False
        self.increment(item)
        release_asked = time.monotonic()
        self.dibs("release", lease["lease_id"])
        self.history.write(json.dumps({"resource": resource, "holder": lease["agent_id"], "fence": lease["fence"],
                                       "lease_id": lease["lease_id"],
                                       "asked": asked, "answered": answered, "release_asked": release_asked,
                                       "release_answered": time.monotonic(),
                                       "ends": asked + lease["ttl_secs"]}) + "\n")
        return True

    def increment(self, item):
        """Reads, waits for a moment, writes: two at once lose one."""
        path = self.folder / f"counter-{item}"
        value = int(path.read_text() or 0)
        os.sched_yield()
        path.write_text(str(value + 1))

    def dibs(self, verb, what):
        """The answer; a killed command is run again, which must answer the same."""
        while True:
            reading, writing = os.pipe()
            pid = os.posix_spawn(self.plan["dibs"], ["dibs", "--json", "claim", verb, what], os.environ,
                                 file_actions=[(os.POSIX_SPAWN_DUP2, writing, 1), (os.POSIX_SPAWN_DUP2, writing, 2)])
            os.close(writing)
            killer = threading.Timer(self.random.random() * 0.006, os.kill, [pid, signal.SIGKILL])
            if self.random.random() < self.plan["kill_share"]:
                killer.start()
            with os.fdopen(reading) as pipe:
                text = pipe.read()
            killer.cancel()
            if killer.ident:
                killer.join()  # before waitpid: until then the pid is nobody else's
            _, status = os.waitpid(pid, 0)
            code = os.waitstatus_to_exitcode(status)
            if code in (0, 3):
                return code, json.loads(text) if code == 0 else None
            if code != -signal.SIGKILL:
                sys.exit(f"dibs claim {verb} {what}: exit {code}: {text}")


if __name__ == "__main__":
    Worker(sys.argv[1], Path(sys.argv[2])).run()
