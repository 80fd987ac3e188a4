"""Measures dibs against the least its work can cost, and prints one table of ratios. README.md explains it."""
import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from conflict_bench import ConflictBench
from git_bench import GitBench
from item_bench import ItemBench
from measure import Sample, Stopwatch, expect, quietly, row, time_row
from run_bench import RunBench

ENTRIES, LIVE = 100_000, 1_000  # the long past
WORKERS, CLAIMS_EACH = 8, 16  # 128 claims a block: enough to include one refresh of the index
STAMPEDE = 100
HELD = 8
MANY_GLOBS, FEW_GLOBS = 10_000, 1_000
GLOB_LIMIT_MS = 1
GLOB_ROUNDS = 20  # of one process
RESET_EVERY = 8  # claims; see Repository.reset
MEMORY_LIMIT_MIB = 16
EXIT_HELD = 3
SPREAD_MAX = 1.0  # of a baseline, beyond which the table says not to trust it


class Repository:
    """A scratch repository with dibs set up, and the floor's two files beside the store's."""

    def __init__(self, path, dibs, environment):
        self.path, self.store = path, path / ".git" / "dibs"
        self.log = self.store / "claims.jsonl"
        self.floor_lock, self.floor_log = path / ".git" / "floor.lock", path / ".git" / "floor.log"
        quietly(["git", "init", "-q", "-b", "main", str(path)])
        quietly([dibs, "init", "-C", str(path)], env=environment)

    def reset(self):
        """Empties both logs. A fresh item every time would turn an "empty" store into a full one; emptying before
        every single claim would make each pay for a new block, which in real use only every fifth does. The flush
        is here so that no measured run pays for ours."""
        (self.store / "claims.index.json").unlink(missing_ok=True)
        for log in (self.log, self.floor_log):
            with open(log, "w", encoding="ascii") as file:
                os.fsync(file.fileno())


class Bench:
    """Each method measures one row (or two) of the table."""

    def __init__(self, dibs, scratch, quick):
        self.scratch, self.quick = scratch, quick
        self.dibs, self.hello, self.fill_store, self.globs, floor, stopwatch = copy_programs(dibs, scratch / "bin")
        (scratch / "home").mkdir()
        self.watch = Stopwatch(stopwatch, self.dibs, scratch / "home")
        self.empty = Repository(scratch / "empty", self.dibs, self.watch.environment)
        self.acquire = [self.dibs, "claim", "acquire", "{n}"]
        quietly([self.dibs, "claim", "acquire", "1000000", "-C", str(self.empty.path)], env=self.watch.environment)
        self.line_bytes = self.empty.log.stat().st_size
        self.floor = [floor, str(self.empty.floor_lock), str(self.empty.floor_log), str(self.line_bytes)]

    def rounds(self, full):
        return max(1, full // 10) if self.quick else full

    def one_claim(self):
        claims, floors = [], []
        for _ in range(self.rounds(150)):
            self.empty.reset()
            some_floors, some_claims = self.watch.alternate(self.empty.path, RESET_EVERY, [self.floor, self.acquire])
            floors += some_floors
            claims += some_claims
        return [time_row("acquire", "claim acquire, one process", claims, "floor", floors, 1.6)]

    def start_up(self):
        """Questions, which write nothing: about one resource that is held, among a few others, and about all that one
        holds: with nothing held, and with those few."""
        status, version = [self.dibs, "claim", "status"], [self.dibs, "--version"]
        self.empty.reset()
        nothing_hellos, nothing = self.watch.alternate(self.empty.path, self.rounds(1000), [[self.hello], status])
        for n in range(HELD):
            quietly([self.dibs, "claim", "acquire", f"held-{n}", "-C", str(self.empty.path)],
                    env=self.watch.environment)
        hellos, one, own, versions = self.watch.alternate(
            self.empty.path, self.rounds(1000), [[self.hello], [*status, "held-3"], status, version])
        return [time_row("status_one", "claim status of a held resource", one, "hello", hellos, 1.3),
                time_row("status_nothing", "claim status, nothing held", nothing, "hello", nothing_hellos, 1.3),
                time_row("status_own", f"claim status, {HELD} of one's own", own, "hello", hellos, 1.3),
                time_row("version", "--version", versions, "hello", hellos, 1.3)]

    def eight_at_once(self):
        claims, floors = [], []
        for _ in range(self.rounds(50)):
            for rates, command in ((floors, self.floor), (claims, self.acquire)):
                self.empty.reset()
                rate, failed = self.watch.parallel(self.empty.path, command, WORKERS, CLAIMS_EACH)
                expect(failed == 0, f"{failed} failed in {self.empty.path} of: {' '.join(command)}")
                rates.append(rate)
        return [row("eight", f"{WORKERS} at once, different items", "claims/s", Sample(claims), "floor", Sample(floors),
                    0.8, at_least=True)]

    def long_past(self):
        """The full store is not reset: that could only make it look better, and refreshing its index is part of the price."""
        full = Repository(self.scratch / "full", self.dibs, self.watch.environment)
        quietly([self.fill_store, str(full.store), str(ENTRIES), str(LIVE)])
        quietly([self.dibs, "doctor", "-C", str(full.path)], env=self.watch.environment)
        os.sync()  # or else the first claims share their flush with the whole past
        sides = [[*self.acquire, "-C", str(there.path)] for there in (self.empty, full)]
        empties, fulls = [], []
        for _ in range(self.rounds(100)):
            self.empty.reset()
            some_empties, some_fulls = self.watch.alternate(self.scratch, RESET_EVERY, sides)
            empties += some_empties
            fulls += some_fulls
        return [time_row("long_past", f"claim acquire, {ENTRIES:,} past entries", fulls, "empty store", empties, 1.3)]

    def stampede(self):
        """The row shows the typical stampede; every stampede's own ratio is in the JSON form."""
        longest, middle = [], []
        for n in range(self.rounds(30)):
            self.empty.reset()
            waits, answers = self.watch.stampede(
                self.empty.path, [self.dibs, "claim", "acquire", f"wanted-{n}", "--agent-id", "agent:a{n}"], STAMPEDE)
            expect(sorted(answers) == [0] + [EXIT_HELD] * (STAMPEDE - 1), f"a stampede ended with {sorted(answers)}")
            longest.append(max(waits))
            middle.append(statistics.median(waits))
        result = time_row("stampede", f"{STAMPEDE} for one item, longest wait", longest, "median wait", middle, 5)
        result["ratios"] = Sample(a / b for a, b in zip(longest, middle)).summary()
        return [result]

    def held_globs(self):
        """CPU time, not of a dibs process but of the one step: a new glob against those that are held. The first call of
        a process is what a claim pays, and the slowest new glob must keep the limit; the ratio is of later calls, all
        new globs together, as the first is mostly loading code."""
        kinds = range(int(quietly([self.globs])))
        first, later = [[] for _ in kinds], {MANY_GLOBS: [], FEW_GLOBS: []}
        for _ in range(self.rounds(20)):
            for held, together in later.items():
                runs = [list(map(int, quietly([self.globs, str(held), str(GLOB_ROUNDS), str(kind)]).split()))
                        for kind in kinds]
                together += [statistics.fmean(calls) for calls in list(zip(*runs))[1:]]
                if held == MANY_GLOBS:
                    for kind in kinds:
                        first[kind].append(runs[kind][0] / 1e6)
        slowest = max(map(statistics.median, first))
        return [{"name": "globs", "what": f"a new glob, {MANY_GLOBS:,} held", "unit": "ms CPU", "measured": round(slowest, 3),
                 "limit": GLOB_LIMIT_MS, "bound": "at most", "ok": slowest <= GLOB_LIMIT_MS},
                time_row("globs_few", f"a new glob, {FEW_GLOBS:,} held", later[FEW_GLOBS], f"{MANY_GLOBS:,} held",
                         later[MANY_GLOBS], 0.2)]

    def memory(self):
        peak = self.watch.peak_kib / 1024
        return [{"name": "memory", "what": "peak memory of any of these", "unit": "MiB", "measured": round(peak, 2),
                 "limit": MEMORY_LIMIT_MIB, "bound": "at most", "ok": peak <= MEMORY_LIMIT_MIB}]

    def all_rows(self):
        parts = [self.one_claim, self.start_up, self.eight_at_once, self.long_past, self.stampede, self.held_globs,
                 self.memory]
        return [result for part in parts for result in part()]


def copy_programs(dibs, to):
    """How a file came into the page cache shows in how fast it starts (by up to 8 %, between a linker's output and a
    copy of it), so all programs get there in the same way."""
    to.mkdir()
    tools = [dibs.parent / "bench" / name for name in ("hello", "fill_store", "globs", "floor", "stopwatch")]
    return [shutil.copy(program, to) for program in (str(dibs), *map(str, tools))]


def go_first():
    """Whoever else wants the cores lengthens both sides alike, which draws every ratio towards 1: so, where allowed,
    run before them. All that is measured inherits it, so the two sides stay equal."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)
        return True
    except PermissionError:
        return False


def print_table(rows):
    def number(value):
        return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"

    print(f"{'what':<44} {'measured':>16} {'limit':>8} {'ratio':>6}   {'ratio limit':<24} verdict")
    for r in rows:
        measured = f"{number(r['measured'])} {r['unit']:<8}"
        limit, ratio, against, verdict = "", "", f"   {r.get('against')}", ""
        if "ratio" in r:
            ratio = f"{r['ratio']:.2f}"
        if "bound" in r:
            limit, verdict = number(r["limit"]), "ok" if r["ok"] else "MISSED"
            sign = {"at most": "<=", "at least": ">="}[r["bound"]]
            against = f"{sign} {r['ratio_limit']} x {r['against']}" if ratio else ""
        print(f"{r['what']:<44} {measured:>16} {limit:>8} {ratio:>6}   {against:<24} {verdict}".rstrip())
    for r in rows:
        if "note" in r:
            print(f"{r['what']}: {r['note']}")
    print(f"\n{'samples':<44} {'n':>6} {'p10':>9} {'median':>9} {'p90':>9} {'mean':>9}   spread (p90-p10)/median")
    for r in rows:
        for side, label in (("measured", r["what"]), ("baseline", f"  {r.get('against')}")):
            if "samples" in r:
                s = r["samples"][side]
                numbers = " ".join(f"{number(s[key]):>9}" for key in ("p10", "median", "p90", "mean"))
                print(f"{label:<44} {s['n']:>6} {numbers}   {s['spread']:.2f}")
    if any(r["samples"]["baseline"]["spread"] > SPREAD_MAX for r in rows if "samples" in r):
        print("\nThe machine was busy: where the spread is above 1, the ratios look better than they are.")


def main():
    parser = argparse.ArgumentParser(prog="bench/run", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds: a first look, not a verdict")
    parser.add_argument("--check", action="store_true", help="exit 1 when a limit is missed")
    parser.add_argument("--only", choices=["local", "git", "items", "conflicts", "run"], help="leave the other rows out")
    parser.add_argument("--dir", type=Path, help="measure on the file system of this directory (default: the build's)")
    options = parser.parse_args()

    expect("DIBS_BIN" in os.environ, "DIBS_BIN must name the dibs to measure; `./dev bench` sets it")
    dibs = Path(os.environ["DIBS_BIN"]).resolve()
    # Beside the build, not in a temporary directory: that may be in memory, where a flush costs nothing.
    scratch = Path(tempfile.mkdtemp(prefix="scratch-", dir=options.dir or dibs.parent)).resolve()
    priority = go_first()
    try:
        bench = Bench(dibs, scratch, options.quick)
        rows = []
        if options.only in (None, "local"):
            rows += bench.all_rows()
        for name, kind in (("git", GitBench), ("items", ItemBench), ("conflicts", ConflictBench), ("run", RunBench)):
            if options.only in (None, name):
                rows += kind(bench.dibs, bench.watch.program, scratch, bench.rounds).all_rows()
    finally:
        shutil.rmtree(scratch)

    ok = all(r["ok"] for r in rows)
    if options.json:
        print(json.dumps({"schema_version": 1, "ok": ok, "quick": options.quick, "cores": os.cpu_count(),
                          "priority": priority, "line_bytes": bench.line_bytes, "rows": rows}))
    else:
        print_table(rows)
    return 1 if options.check and not ok else 0


if __name__ == "__main__":
    sys.exit(main())
