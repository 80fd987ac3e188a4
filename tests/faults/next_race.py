"""Many agents that ask for the next item at the same moment, until all items are done."""

import json
import random
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from harness import Repo, check  # noqa: E402

IDLE_SECS = 0.02


def items_of(count):
    """A graph of realistic shape: most items wait for one or two of those shortly before them."""
    chance = random.Random(7)
    for n in range(count):
        near = range(max(0, n - 12), n)
        depends_on = chance.sample(near, min(len(near), chance.choice((0, 0, 1, 1, 2))))
        yield {"id": f"i{n}", "title": f"Item {n}", "priority": chance.randrange(5),
               "depends_on": [f"i{other}" for other in depends_on]}


class Race:
    def __init__(self, repo, items, workers):
        self.repo, self.workers = repo, workers
        self.depends_on = {item["id"]: item["depends_on"] for item in items}
        self.taken, self.done, self.problems, self.lock = [], {}, [], threading.Lock()

    def run(self):
        threads = [threading.Thread(target=self.work, args=(f"agent:w{n}",)) for n in range(self.workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check.equal(self.problems, [])

    def work(self, agent):
        while len(self.done) < len(self.depends_on) and not self.problems:
            reply = self.repo.run("--json", "next", "--claim", agent=agent)
            if reply.code == 6:
                time.sleep(IDLE_SECS)
            elif reply.code == 0:
                self.finish(agent, reply.json()["item"]["id"])
            else:
                self.problems.append(repr(reply))

    def finish(self, agent, item):
        with self.lock:
            self.taken.append(item)
            early = [other for other in self.depends_on[item] if other not in self.done]
            if early:
                self.problems.append(f"{item} was given out before {early}")
        # Known as done before anybody can see it: whoever gets a dependent afterwards finds it here.
        with self.lock:
            self.done[item] = agent
        for words in (("item", "close", item), ("claim", "release", f"item:{item}")):
            reply = self.repo.run("--json", *words, agent=agent)
            if reply.code != 0:
                self.problems.append(repr(reply))


def each_once(items, workers):
    with Repo(commit=True) as repo:
        made = list(items_of(items))
        lines = "".join(json.dumps(item) + "\n" for item in made)
        repo.run("item", "add", "--batch", "-", stdin=lines.encode()).expect(0)
        race = Race(repo, made, workers)
        race.run()
        check.equal(sorted(race.taken), sorted(race.depends_on), "items that were given out")
        check.equal(repo.reply("item", "list")["items"], [])
