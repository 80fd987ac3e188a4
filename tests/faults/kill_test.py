"""Kill -9 at every system call of acquire, renew, release and transfer."""

import subprocess

from injection import Bench, needs_strace
from kill_scenarios import SCENARIOS, held, kill_everywhere

from harness import DIBS, Repo, add_case, case, check, main


for one in SCENARIOS:
    add_case(f"killed at every system call of {one.name}", lambda scenario=one: kill_everywhere(scenario))


@case
def a_line_cut_anywhere_by_the_file_size_limit_is_mended():
    """The kernel writes a part of the line and then kills: every length of a torn line, by a real short write."""
    with Repo() as repo:
        repo.run("worktree", "init").expect(0)
        repo.acquire("other", agent="agent:bystander")
        bench = Bench(repo, ["claim", "acquire", "42"])
        start, before = len(repo.log_bytes()), held(repo)
        for extra in [*range(0, 40), *range(40, 720, 17)]:
            bench.restore()
            subprocess.run(["prlimit", "--core=0", f"--fsize={start + extra}", DIBS, *bench.words], cwd=repo.root,
                           env=repo.env, capture_output=True)
            check.equal(held(repo).get("item:other"), before["item:other"])
            repo.acquire("43", agent="agent:two")
            check.equal(len(repo.log()), 2, f"torn after {extra} bytes")


@case
def what_a_killed_command_left_is_flushed_before_it_is_acknowledged():
    """Killed between write and flush: the line is there but the disk may lose it. Whoever says "you hold it" must flush first."""
    needs_strace()
    with Repo() as repo:
        repo.run("worktree", "init").expect(0)
        bench = Bench(repo, ["claim", "acquire", "42"])
        check.equal(bench.inject("fdatasync:signal=KILL:when=1").code, -9)
        trace = repo.dir / "trace"
        again = subprocess.run(["strace", "-f", "-qq", "-e", "trace=fdatasync,fsync", "-o", str(trace), DIBS,
                                *bench.words, "--json"], cwd=repo.root,
                               env=repo.env, capture_output=True, text=True)
        check.equal(again.returncode, 0)
        check.contains(again.stdout, '"already_held":true')
        check.contains(trace.read_text(), "sync(", "a flush before the answer")


@case
def killed_at_every_system_call_of_a_salvage():
    """What was held never looks free, and salvaging again ends well."""
    needs_strace()
    with Repo() as repo:
        for name in ("1", "2", "3"):
            repo.acquire(name)
        repo.log_path.write_bytes(repo.log_bytes().replace(b"item:2", b"item:9", 1))
        bench = Bench(repo, ["recover", "--salvage"])
        for call, count in sorted(bench.system_calls().items()):
            for k in range(1, count + 1):
                bench.inject(f"{call}:signal=KILL:when={k}")
                where = f"killed at {call} number {k}"
                reply = repo.run("claim", "status", "1", "--json")
                check.true(reply.code in (0, 11), f"{where}: {reply}")
                if reply.code == 0:
                    check.true(reply.json()["is_locked"], f"{where}: what was held looks free")
                repo.run("recover", "--salvage")
                check.equal([repo.holder(name) for name in ("1", "3")], ["agent:one"] * 2, where)
                check.true(repo.acquire("2", agent="agent:two")["fence"] > 3, where)


if __name__ == "__main__":
    main()
