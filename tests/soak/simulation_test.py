"""A million simulated worlds.

    simulation_test.py [SEEDS [GROUND]]

A number as argument is how many seeds there are instead, and Memory, Local or Git leaves the other parts of them out: a
million takes a while, and can be done in parts. A failing seed ends it, and prints the command that repeats it.
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
TOLD_EVERY = 20_000


def run(name, **variables):
    """Nothing when the tests of this name pass; otherwise what they said."""
    environment = os.environ | {key: str(value) for key, value in variables.items()}
    done = subprocess.run([PROGRAM, f"--gtest_filter={name}"], env=environment, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def shards(ground):
    end = FIRST + SEEDS * SHARES[ground] // 100
    return [(ground, first, min(AT_ONCE, end - first)) for first in range(FIRST, end, AT_ONCE)]


def run_shard(shard):
    ground, first, seeds = shard
    return run(f"Simulation.{ground}KeepsEveryPromise", DIBS_SIM_FIRST=first, DIBS_SIM_SEEDS=seeds)


def stop_at(failed, pool=None):
    if failed:
        print(failed, flush=True)
        if pool:
            pool.shutdown(cancel_futures=True)
        sys.exit(1)


def main():
    grounds = sys.argv[2:] or list(SHARES)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for ground in grounds:
            worlds = 0
            for shard, said in zip(shards(ground), pool.map(run_shard, shards(ground))):
                stop_at(said, pool)
                worlds += shard[2]
                if worlds % TOLD_EVERY == 0:
                    print(f"{worlds} {ground} worlds kept every promise", flush=True)
            print(f"{worlds} {ground} worlds kept every promise: all", flush=True)


if __name__ == "__main__":
    main()
