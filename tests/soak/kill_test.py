"""Kill -9 at every system call of the commands that faults/kill_test.py leaves out, and of a claim that closes a segment of the log."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))

from injection import Bench, needs_strace  # noqa: E402
from kill_scenarios import MORE, Scenario, grow_segment, held, judge_acquire, kill_everywhere  # noqa: E402

from harness import Repo, add_case, check, main  # noqa: E402


ROTATION = Scenario("acquire that closes a segment", ["claim", "acquire", "42"], grow_segment, judge_acquire,
                    calls={"rename"})


def kill_rotation():
    """The log is closed under a new name, so here it is not the file that must only grow but all segments together."""
    with ROTATION.stage() as (repo, bench):
        before = held(repo)
        for call, count in sorted(bench.system_calls().items()):
            for k in range(1, count + 1):
                reply = bench.inject(f"{call}:signal=KILL:when={k}")
                where = f"killed at {call} number {k}"
                now = held(repo)
                check.equal({r: lease for r, lease in now.items() if r != "item:42"}, before, where)
                check.true(reply.code != 0 or "item:42" in now, f"{where}: an acknowledged lease is lost")
                fence = repo.acquire("next", agent="agent:two")["fence"]
                check.true(fence > max(lease["fence"] for lease in before.values()), where)
                repo.healthy()


for one in MORE:
    add_case(f"killed at every system call of {one.name}", lambda scenario=one: kill_everywhere(scenario))
add_case("killed at every system call of an acquire that closes a segment", kill_rotation)


def kill_init():
    needs_strace()
    with Repo() as repo:
        bench = Bench(repo, ["init"])
        bench.keep_nothing()
        for call, count in sorted(bench.system_calls().items()):
            for k in range(1, count + 1):
                bench.inject(f"{call}:signal=KILL:when={k}")
                where = f"killed at {call} number {k}"
                reply = repo.run("claim", "acquire", "42")
                check.true(reply.code in (0, 10), f"{where}: {reply}")
                repo.run("init").expect(0)
                repo.run("claim", "acquire", "42").expect(0)
                report = repo.run("doctor")
                check.true(report.code == 0, f"{where}: {report!r}")


add_case("killed at every system call of init", kill_init)

if __name__ == "__main__":
    main()
