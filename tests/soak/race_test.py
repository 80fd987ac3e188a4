"""A hundred processes, a thousand rounds each, on a few hundred items: no violation, no lost increment.

Takes about a quarter of an hour on two cores.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))

import injection  # noqa: E402,F401  (puts the harness on the path)
from history import disagreements, violations  # noqa: E402
from race import race  # noqa: E402

from harness import DIBS, Repo, case, check, main  # noqa: E402


@case
def a_hundred_processes_a_thousand_times():
    with Repo() as repo:
        grants, counted, problems = race(repo, workers=100, rounds=1000, items=256, dibs=DIBS)
        check.equal(problems, [])
        check.equal(len(grants), 100_000)
        check.equal(counted, 100_000, "the counter that only the holder touched")
        check.equal(violations(grants)[:5], [])
        segments = sorted(repo.store.glob("claims-*.jsonl"),
                          key=lambda path: int(path.stem.split("-")[1])) + [repo.log_path]
        log = [json.loads(line) for path in segments for line in path.read_text().splitlines()]
        check.equal([line["seq"] for line in log], list(range(1, len(log) + 1)), "no gap across segments")
        check.equal(disagreements(grants, log)[:5], [])
        check.equal(repo.reply("claim", "list")["count"], 0)
        repo.healthy()


if __name__ == "__main__":
    main()
