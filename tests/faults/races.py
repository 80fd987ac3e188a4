"""Whole races, on one machine or from clones of a git remote, and what must be true at their end."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from harness import DIBS, Repo, check  # noqa: E402
from history import disagreements  # noqa: E402
from operations import HELD, grants_of  # noqa: E402
from race import race, violations  # noqa: E402
from remote import Remote  # noqa: E402

SHOWN_MAX = 5  # of what is wrong


def check_operations(made, counted, problems, wanted):
    """The acknowledged grants of a history that both checkers accept."""
    check.equal(problems[:SHOWN_MAX], [])
    check.equal(len(made), wanted, "operations")
    check.equal(violations(made)[:SHOWN_MAX], [])
    check.true(any(operation.outcome == HELD for operation in made), "nobody was in anybody's way")
    grants = grants_of(made)
    check.equal(counted, len(grants), "the counter that only the holder touched")
    print(f"      {len(made)} operations: {len(grants)} grants, {sum(one.outcome == HELD for one in made)} times held")
    return grants


def log_of(repo):
    """The parsed lines of all segments, one after the other: together they may be larger than memory."""
    closed = sorted(repo.store.glob("claims-*.jsonl"), key=lambda path: int(path.stem.split("-")[1]))
    number = 0
    for path in [*closed, repo.log_path]:
        with open(path) as lines:
            for number, line in enumerate(lines, number + 1):
                entry = json.loads(line)
                check.equal(entry["seq"], number, "no gap across segments")
                yield entry


def local_race(workers, operations, items, kill_share=0.0, also=lambda repo: None):
    with Repo() as repo:
        grants = check_operations(*race(repo, workers, operations, items, DIBS, kill_share=kill_share),
                                  wanted=workers * operations)
        check.equal(disagreements(grants, log_of(repo))[:SHOWN_MAX], [])
        check.equal(repo.reply("claim", "list")["count"], 0)
        repo.healthy()
        also(repo)


def remote_race(clones, workers, operations, items, layout):
    with Remote(clones=clones, layout=layout) as remote:
        roots = [clone.root for clone in remote.clones]
        grants = check_operations(*race(remote, workers, operations, items, DIBS, roots=roots), wanted=workers * operations)
        log = [line for item in range(items) for line in remote.entries_of(str(item))]
        check.equal(disagreements(grants, log)[:SHOWN_MAX], [])
        check.equal(remote.clones[0].reply("claim", "list")["count"], 0)
