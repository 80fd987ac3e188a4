"""A million simulated worlds, and the planted bugs that need thousands of seeds to be found.

A number as argument is how many seeds there are instead. A failing seed prints the command that repeats it.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROGRAM = Path(os.environ.get("DIBS_TOOLS", "build/test/tools")).parent / "sim_tests"
SEEDS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
# Of a hundred seeds; a world on a git remote takes three times as long as one in memory.
SHARES = {"Memory": 30, "Local": 40, "Git": 30}
FIRST = 100_001  # `./dev test` has those before
AT_ONCE = 2_000


def run(name, **variables):
    """Nothing when the tests of this name pass; otherwise what they said."""
    environment = os.environ | {key: str(value) for key, value in variables.items()}
    done = subprocess.run([PROGRAM, f"--gtest_filter={name}"], env=environment, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def shards():
    for ground, share in SHARES.items():
        end = FIRST + SEEDS * share // 100
        for first in range(FIRST, end, AT_ONCE):
            yield ground, first, min(AT_ONCE, end - first)


def run_shard(shard):
    ground, first, seeds = shard
    return run(f"Simulation.{ground}KeepsEveryPromise", DIBS_SIM_FIRST=first, DIBS_SIM_SEEDS=seeds)


def main():
    failed = run("PlantedBugs.Each*", DIBS_SIM_SOAK=1)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for said in pool.map(run_shard, shards()):
            failed = failed or said
    print(failed or f"{SEEDS} worlds kept every promise")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
