"""A disk that takes its time to flush: whoever comes next waits, in order, and nothing is lost or acknowledged early."""

import json
import subprocess

from injection import needs_strace

from harness import DIBS, Repo, case, check, check_chain, main, wait_until

SLOW_US = 1_500_000
SLOW = ["strace", "-f", "-qq", "-e", "trace=fdatasync", "-e", f"inject=fdatasync,fsync:delay_enter={SLOW_US}"]


def slowly(repo, trace, *words, agent):
    return repo.spawn(*SLOW, "-o", trace, DIBS, *words, "--json", agent=agent, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def answered(process):
    out, err = process.communicate(timeout=120)
    check.equal(process.returncode, 0, err.decode())
    return json.loads(out)


@case
def others_wait_for_a_slow_flush_and_come_after_it():
    needs_strace()
    with Repo() as repo:
        repo.acquire("before")
        trace = repo.dir / "trace"
        slow = slowly(repo, trace, "claim", "acquire", "42", agent="agent:slow")
        wait_until(lambda: len(repo.log()) == 2, "the line, which is not flushed yet")
        check.equal(slow.poll(), None, "it was acknowledged before it was flushed")
        next_one = repo.acquire("43", agent="agent:two")
        # Who comes second flushes what came before it: the first could be answered only then, or earlier.
        check.equal(next_one["fence"], 3)
        check.equal(answered(slow)["fence"], 2)
        check.equal([repo.holder(name) for name in ("42", "43")], ["agent:slow", "agent:two"])
        check_chain(repo.log_bytes())


@case
def a_race_for_one_item_on_a_slow_disk_has_one_winner():
    needs_strace()
    with Repo() as repo:
        repo.acquire("before")
        running = [slowly(repo, repo.dir / f"trace-{n}", "claim", "acquire", "42", agent=f"agent:{n}") for n in range(6)]
        ends = [(process.communicate(timeout=120)[0], process.returncode) for process in running]
        check.equal(sorted(code for _, code in ends), [0, 3, 3, 3, 3, 3])
        winner = next(json.loads(out) for out, code in ends if code == 0)
        check.equal(repo.holder("42"), winner["agent_id"])
        check.equal([op for op, _ in repo.ops("item:42")], ["acquire"])


@case
def a_landing_on_a_slow_disk_lands_once():
    needs_strace()
    with Repo(commit=True) as repo:
        tree = repo.reply("start", "42")["path"]
        repo.git("commit", "-q", "--allow-empty", "-m", "work", cwd=tree)
        target = repo.git("rev-parse", "main", cwd=repo.root)
        done = answered(slowly(repo, repo.dir / "trace", "done", "42", agent="agent:one"))
        check.equal(repo.git("rev-parse", "main^", cwd=repo.root), target)
        check.equal(repo.git("rev-parse", "main", cwd=repo.root), done["landed_commit"])
        check.equal(repo.holder("42"), None)


if __name__ == "__main__":
    main()
