"""Items: what many of them cost beside few, and beside what git alone would."""
import json
import os
import random
import shutil

from measure import Stopwatch, expect, quietly, time_row

MANY, SOME, FEW = 100_000, 10_000, 100  # items
ADDED_TO = 1_000  # items that are there when another is added
RESET_EVERY = 8  # rounds
REACH = 200  # how far back dependencies go: work is planned in layers, not all of it on one item
DONE_SHARE = 0.6
LABELS = ["auth", "ui", "db", "infra", "docs"]


def generated(count):
    """A backlog of realistic shape: most of it done, a few dependencies each, on what was planned shortly before."""
    chance = random.Random(count)
    for n in range(count):
        back = chance.choice([0, 0, 1, 1, 2, 3]) if n else 0
        depends_on = {f"it-{chance.randrange(max(0, n - REACH), n):06d}" for _ in range(back)}
        yield {"id": f"it-{n:06d}", "title": f"Work on part {n} of the whole", "body": "Some words about it. " * 10,
               "priority": chance.choice([0, 1, 1, 2, 2, 2, 3, 4]), "labels": chance.sample(LABELS, 2),
               "depends_on": sorted(depends_on), "files": [f"src/m{n % 100}/p{n}/**"],
               "estimate_min": chance.choice([15, 30, 60, 120]), "type": chance.choice(["bug", "task", "feature"]),
               "state": "done" if n < count * DONE_SHARE else "ready"}


class ItemBench:
    """Each method measures some rows of the table."""

    def __init__(self, dibs, stopwatch, scratch, rounds):
        self.dibs, self.stopwatch, self.scratch, self.rounds = dibs, stopwatch, scratch, rounds
        identity = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
                    for what, value in (("NAME", "bench"), ("EMAIL", "bench@example.com"))}
        self.watch = Stopwatch(stopwatch, dibs, scratch / "home", PATH=os.environ["PATH"], GIT_CONFIG_NOSYSTEM="1",
                               **identity)
        self.many, self.few = self.repository("many", MANY), self.repository("few", FEW)

    def repository(self, name, items):
        path = self.scratch / f"items-{name}"
        quietly(["git", "init", "-q", "-b", "main", str(path)], env=self.watch.environment)
        self.run(path, "init")
        batch = self.scratch / f"{name}.jsonl"
        batch.write_text("".join(json.dumps(item) + "\n" for item in generated(items)))
        self.run(path, "item", "add", "--batch", str(batch))
        self.run(path, "ready", "--limit", "10")
        os.sync()
        return path

    def run(self, path, *words):
        return quietly([self.dibs, *words, "-C", str(path)], env=self.watch.environment)

    def ready(self, path):
        return [self.dibs, "ready", "--limit", "10", "-C", str(path)]

    def looks(self):
        """A change is made before every few rounds: each look pays for it anew, until enough of them make a new index."""
        looks = [self.ready(self.many), self.ready(self.few)]
        many, few = self.watch.alternate(self.scratch, self.rounds(200), looks)
        rows = [time_row("ready", f"ready --limit 10, {MANY:,} items", many, f"{FEW} items", few, 3)]
        changed, few = [], []
        for n in range(max(1, self.rounds(80) // RESET_EVERY)):
            self.run(self.many, "item", "update", f"it-{MANY - 1 - n:06d}", "--priority", "1")
            some_changed, some_few = self.watch.alternate(self.scratch, RESET_EVERY, looks)
            changed, few = changed + some_changed, few + some_few
        return [*rows, time_row("ready_changed", f"ready, {MANY:,} items, one changed", changed, f"{FEW} items", few, 4)]

    def first_read(self):
        """A shell on both sides: one removes the index, the other hands git the names."""
        names = self.scratch / "objects"
        listed = quietly(["git", "-C", str(self.many), "ls-tree", "-r", "refs/dibs/items"], env=self.watch.environment)
        names.write_text("".join(line.split()[2] + "\n" for line in listed.splitlines()))
        ours = f"rm -f {self.many}/.git/dibs/items.*; exec {' '.join(self.ready(self.many))}"
        theirs = f"exec git -C {self.many} cat-file --batch < {names}"
        reads, cats = self.watch.alternate(
            self.scratch, max(3, self.rounds(20)), [["/bin/sh", "-c", ours], ["/bin/sh", "-c", theirs]])
        return [time_row("first_read", f"first read of {MANY:,} items", reads, "git cat-file", cats, 2)]

    def next_claim(self):
        some, empty = self.repository("some", SOME), self.scratch / "items-none"
        quietly(["git", "init", "-q", "-b", "main", str(empty)], env=self.watch.environment)
        self.run(empty, "init")
        sides = [[self.dibs, "next", "--claim", "-C", str(some)], [self.dibs, "claim", "acquire", "item-{n}", "-C", str(empty)]]
        nexts, claims = [], []
        for _ in range(max(1, self.rounds(160) // RESET_EVERY)):
            for path in (some, empty):
                forget_leases(path)
            some_nexts, some_claims = self.watch.alternate(self.scratch, RESET_EVERY, sides)
            nexts, claims = nexts + some_nexts, claims + some_claims
        shutil.rmtree(some)
        return [time_row("next_claim", f"next --claim, {SOME:,} items", nexts, "claim acquire", claims, 2)]

    def add(self):
        """What git has to do for one more item: a commit with one more file, in a folder of a tree of the same size."""
        path, rounds = self.repository("add", ADDED_TO), self.rounds(80)
        plain = self.scratch / "items-plain"
        shutil.copytree(path, plain)
        for n in range(1, rounds + 2):
            item = json.dumps(next(generated(1)) | {"id": f"new-{n}"}, indent=2) + "\n"
            (self.scratch / f"import-{n}").write_text(
                "commit refs/dibs/items\ncommitter bench <bench@example.com> 1000000000 +0000\ndata 4\nadd\n"
                f"from refs/dibs/items^0\nM 100644 inline {n % 256:02x}/new-{n}.json\ndata {len(item)}\n{item}\ndone\n")
        words = "--priority 1 --label auth --label ui --files 'src/m1/**' --estimate 30 --type bug"
        ours = f"exec {self.dibs} item add 'Work on part {{n}}' {words} -C {path}"
        theirs = f"exec git -C {plain} fast-import --quiet --done < {self.scratch}/import-{{n}}"
        self.watch.next_run = 1
        adds, imports = self.watch.alternate(self.scratch, rounds, [["/bin/sh", "-c", ours], ["/bin/sh", "-c", theirs]])
        return [time_row("item_add", "item add", adds, "git fast-import", imports, 1.5)]

    def all_rows(self):
        return [*self.looks(), *self.first_read(), *self.next_claim(), *self.add()]


def forget_leases(path):
    store = path / ".git/dibs"
    expect((store / "claims.jsonl").exists(), f"{store} has no claims")
    (store / "claims.index.json").unlink(missing_ok=True)
    with open(store / "claims.jsonl", "w", encoding="ascii") as file:
        os.fsync(file.fileno())
