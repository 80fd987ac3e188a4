"""Which branches of the rules, the ledger and the stores no test takes. `./dev coverage` calls it.

It runs the given test programs, which clang built with counters, and reads what `llvm-cov` knows of src/rules, src/ledger
and src/store. A condition has two branches, the one where it holds and the one where it does not; every side that was never
taken is printed with its line. Exits 1 when there is one.

A line may say that one of its sides cannot be taken, and why:    // uncovered: the file is never that large
"""

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("rules", "ledger", "store")
EXCUSE = "// uncovered:"
PROFDATA, COV = "llvm-profdata-19", "llvm-cov-19"
SHARDS = 8  # of a test program: one process each
# Of the simulation, so many worlds: they are the same every time. Those with planted bugs do not run the code as it is.
WORLDS = {"DIBS_SIM_SEEDS": "100", "GTEST_FILTER": "-PlantedBugs.*"}


class Branch:
    """One condition: where it stands, and how often it held and did not."""

    def __init__(self, record):
        self.line, self.column, _, _, self.held, self.failed = record[:6]

    def missing(self):
        return [side for side, count in (("true", self.held), ("false", self.failed)) if count == 0]


def run_shard(program, scratch, shard):
    """A share of the program's tests. What they find wrong is `./dev test`'s business, but nothing may be left out unseen."""
    environment = {**os.environ, **WORLDS, "GTEST_TOTAL_SHARDS": str(SHARDS), "GTEST_SHARD_INDEX": str(shard),
                   "LLVM_PROFILE_FILE": f"{scratch}/{program.name}-{shard}-%p.profraw"}
    end = subprocess.run([program], env=environment, cwd=scratch, capture_output=True, text=True)
    return None if end.returncode == 0 else f"{program.name} failed:\n{end.stdout[-2000:]}{end.stderr[-2000:]}"


def run_all(programs, scratch):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        shards = [(program, scratch, shard) for program in programs for shard in range(SHARDS)]
        failures = [failure for failure in pool.map(lambda shard: run_shard(*shard), shards) if failure]
    if failures:
        sys.exit("\n".join(failures))


def merged(scratch):
    profile = f"{scratch}/all.profdata"
    raw = sorted(map(str, Path(scratch).glob("*.profraw")))
    subprocess.run([PROFDATA, "merge", "-sparse", "-o", profile, *raw], check=True)
    return profile


def exported(programs, profile):
    sources = [str(ROOT / "src" / part) for part in PARTS]
    objects = [word for program in programs[1:] for word in ("-object", str(program))]
    out = subprocess.run([COV, "export", "-skip-functions", "-instr-profile", profile, str(programs[0]), *objects, *sources],
                         check=True, capture_output=True, text=True).stdout
    return json.loads(out)["data"][0]["files"]


def is_judged(path):
    return path.parts[0] == "src" and path.parts[1] in PARTS and not path.name.endswith(("_test.cc", "_fixture.h"))


def branches_of(files):
    """By file. The same condition of a template or of a header that several programs have counts as one."""
    found = {}
    for file in files:
        path = Path(file["filename"]).relative_to(ROOT)
        if not is_judged(path):
            continue
        places = found.setdefault(path, {})
        for branch in map(Branch, file["branches"]):
            seen = places.setdefault((branch.line, branch.column), branch)
            if seen is not branch:
                seen.held, seen.failed = seen.held + branch.held, seen.failed + branch.failed
    return found


def is_excused(line, column):
    """What an assert says cannot be. What the compiler adds: a switch's other values, where -Wswitch knows that there are none, and
    comparisons that nobody wrote. `while (true)`, which has one side only."""
    return (EXCUSE in line or "assert(" in line or line.endswith("= default;") or line.lstrip().startswith("switch (")
            or line[column - 1:].startswith("true)"))


def report(found):
    """Prints every side that was not taken, then a table. Returns how many there are."""
    sides = missing = 0
    table = []
    for path, places in sorted(found.items()):
        lines = (ROOT / path).read_text().splitlines()
        here = [(branch, side) for branch in places.values() for side in branch.missing()
                if not is_excused(lines[branch.line - 1], branch.column)]
        for branch, side in sorted(here, key=lambda entry: entry[0].line):
            print(f"{path}:{branch.line}:{branch.column}: never {side}: {lines[branch.line - 1].strip()}")
        sides, missing = sides + 2 * len(places), missing + len(here)
        table.append((path, 2 * len(places), len(here)))
    print(f"\n{'':44}{'branches':>10}{'not taken':>11}")
    for path, all_sides, not_taken in table:
        print(f"{path!s:44}{all_sides:>10}{not_taken or '':>11}")
    print(f"{'all':44}{sides:>10}{missing:>11}   {100 * (sides - missing) / max(sides, 1):.2f} %")
    return missing


def main():
    programs = [Path(word).resolve() for word in sys.argv[1:]]
    if not programs:
        sys.exit("usage: coverage.py TEST_PROGRAM...")
    with tempfile.TemporaryDirectory() as scratch:
        run_all(programs, scratch)
        found = branches_of(exported(programs, merged(scratch)))
    sys.exit(1 if report(found) else 0)


if __name__ == "__main__":
    main()
