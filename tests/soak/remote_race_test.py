"""Thirty-two clones race for one item, two hundred times: one winner each, whatever the remote does meanwhile.

Takes about ten minutes on two cores.
"""

import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from harness import case, check, main  # noqa: E402
from remote import Remote  # noqa: E402

CLONES, ROUNDS = 32, 200


def fences_of(remote, resource):
    """Of every grant in the ref's own history, oldest first."""
    log = remote.git("log", "--reverse", "--format=%B", f"refs/dibs/r/item_3a{resource}", cwd=remote.path)
    return [int(line.split('"seq":')[1].split(",")[0]) for line in log.splitlines() if '"op":"acquire"' in line]


def race_and_release(remote, rounds):
    """The same item again and again: whoever wins gives it back before the next round."""
    for n in range(rounds):
        winners = remote.race("wanted")
        check.equal(len(winners), 1, f"winners of round {n}")
        winner = remote.clones[winners[0]]
        winner.run("claim", "release", "wanted", agent=f"agent:{winners[0]}").expect(0)
    fences = fences_of(remote, "wanted")
    check.equal(len(fences), rounds, "grants in the ref's history")
    check.true(all(a < b for a, b in zip(fences, fences[1:])), f"fences do not grow: {fences}")


@case
def one_winner_a_round():
    with Remote(clones=CLONES) as remote:
        race_and_release(remote, ROUNDS)


@case
def one_winner_a_round_while_the_remote_is_packed():
    with Remote(clones=CLONES) as remote:
        over = threading.Event()

        def tidy():
            while not over.is_set():
                # Not --prune=now: git's manual says that it may corrupt a repository that is being pushed to, and it does.
                for words in (["pack-refs", "--all"], ["gc", "-q"], ["repack", "-a", "-d", "-q"]):
                    subprocess.run(["git", *words], cwd=remote.path, env=remote.env, capture_output=True, check=False)

        keeper = threading.Thread(target=tidy)
        keeper.start()
        try:
            race_and_release(remote, ROUNDS // 4)
        finally:
            over.set()
            keeper.join()


if __name__ == "__main__":
    main()
