"""Thirty-two clones race for one item, two hundred times: one winner each, whatever the remote does meanwhile.

Takes about ten minutes for each layout on two cores.
"""

import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from harness import add_case, check, main  # noqa: E402
from remote import Remote  # noqa: E402

CLONES, ROUNDS = 32, 200
LAYOUTS = ("refs", "branches", "lock-branch")


def fences_of(remote, resource):
    """Of every grant in the record's own history, oldest first."""
    lines = remote.log_of(resource).splitlines()
    return [int(line.split('"seq":')[1].split(",")[0]) for line in lines if '"op":"acquire"' in line]


def race_and_release(remote, rounds):
    """The same item again and again: whoever wins gives it back before the next round."""
    for n in range(rounds):
        winners = remote.race("wanted")
        check.equal(len(winners), 1, f"winners of round {n}")
        winner = remote.clones[winners[0]]
        winner.run("claim", "release", "wanted", agent=f"agent:{winners[0]}").expect(0)
    fences = fences_of(remote, "wanted")
    check.equal(len(fences), rounds, "grants in the record's history")
    check.true(all(a < b for a, b in zip(fences, fences[1:])), f"fences do not grow: {fences}")


def one_winner_a_round(layout):
    with Remote(clones=CLONES, layout=layout) as remote:
        race_and_release(remote, ROUNDS)


def one_winner_a_round_from_commits_that_follow_each_other(layout):
    """A branch that is pushed as a lock would move forward over its holder here, and git would call that a success."""
    with Remote(clones=CLONES, layout=layout) as remote:
        for step in (1, 2):
            remote.git("commit", "-q", "--allow-empty", "-m", f"step {step}", cwd=remote.dir / "seed")
            remote.git("push", "-q", remote.path, "main", cwd=remote.dir / "seed")
            for clone in (clone for n, clone in enumerate(remote.clones) if n % 3 >= step):
                remote.git("pull", "-q", cwd=clone.root)
        race_and_release(remote, ROUNDS)


def one_winner_a_round_while_the_remote_is_packed(layout):
    with Remote(clones=CLONES, layout=layout) as remote:
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


for name in LAYOUTS:
    for function in (one_winner_a_round, one_winner_a_round_from_commits_that_follow_each_other,
                     one_winner_a_round_while_the_remote_is_packed):
        add_case(f"{function.__name__.replace('_', ' ')} on {name}", partial(function, name))


if __name__ == "__main__":
    main()
