"""`dibs run`: how much of its workers' time is inside their commands, and what more workers bring."""
import json
import os
import shutil

from measure import Sample, Stopwatch, quietly, row

WORKERS = 8
ITEMS, ITEMS_ALONE = 240, 40  # about the same time for eight as for one
COMMAND = 'sleep 0.2; echo "$DIBS_ITEM" > "$DIBS_ITEM"; git add -A; git commit -q -m "$DIBS_ITEM"'
BUSY_LEAST_PCT = 90
TAKEN_MOST_MS = 1000
ROUNDS = 3


class RunBench:
    """Each method measures some rows of the table. `rounds` makes a number of rounds smaller if need be."""

    def __init__(self, dibs, stopwatch, scratch, rounds):
        self.dibs, self.scratch, self.rounds = dibs, scratch, rounds
        identity = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
                    for what, value in (("NAME", "bench"), ("EMAIL", "bench@example.com"))}
        self.environment = Stopwatch(stopwatch, dibs, scratch / "home", PATH=os.environ["PATH"],
                                     GIT_CONFIG_NOSYSTEM="1", **identity).environment

    def repository(self, items):
        path = self.scratch / "run"
        shutil.rmtree(path, ignore_errors=True)
        quietly(["git", "init", "-q", "-b", "main", str(path)], env=self.environment)
        quietly(["git", "commit", "-q", "--allow-empty", "-m", "start"], env=self.environment, cwd=path)
        quietly([self.dibs, "init"], env=self.environment, cwd=path)
        batch = self.scratch / "run.jsonl"
        batch.write_text("".join(json.dumps({"id": f"it-{n}", "title": f"Item {n}"}) + "\n" for n in range(items)))
        quietly([self.dibs, "item", "add", "--batch", str(batch)], env=self.environment, cwd=path)
        return path

    def run(self, workers, items):
        """The events of one run, the summary last."""
        path = self.repository(items)
        out = quietly([self.dibs, "--json", "run", "--workers", str(workers), "--", "sh", "-c", COMMAND],
                      env=self.environment, cwd=path)
        return [json.loads(line) for line in out.splitlines()]

    def all_rows(self):
        busy, many, one, taken = [], [], [], []
        for _ in range(max(1, self.rounds(ROUNDS * 10) // 10)):
            events = self.run(WORKERS, ITEMS)
            summary = events[-1]
            busy.append(100 * summary["utilisation"])
            many.append(1000 * summary["landed"] / summary["elapsed_ms"])
            taken += [event["preparing_ms"] for event in events if "preparing_ms" in event]
            alone = self.run(1, ITEMS_ALONE)[-1]
            one.append(1000 * alone["landed"] / alone["elapsed_ms"])
        share, p99 = Sample(busy).median, Sample(taken).at(0.99)
        return [{"name": "run_busy", "what": f"run: {WORKERS} workers, commands of 0.2 s", "unit": "% busy",
                 "measured": round(share, 1), "limit": BUSY_LEAST_PCT, "bound": "at least", "ok": share >= BUSY_LEAST_PCT},
                row("run_scale", f"run: throughput of {WORKERS} workers", "items/s", Sample(many), "one worker", Sample(one),
                    5, at_least=True),
                {"name": "run_taken", "what": "run: until an item is taken, p99", "unit": "ms", "measured": p99,
                 "limit": TAKEN_MOST_MS, "bound": "at most", "ok": p99 <= TAKEN_MOST_MS}]
