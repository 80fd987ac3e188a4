"""`doctor` finds everything a user could have wrong and names a fix that works; `recover` mends what a crash left."""

import fcntl
import json
import os
import shutil
import subprocess
import time

from harness import DIBS, Repo, Scratch, add_case, case, check, main, sealed, wait_until
from remote import Remote


def examine(repo, **more):
    """doctor's report, whatever it finds; the exit code must fit."""
    reply = repo.run("doctor", "--json", **more)
    report = json.loads(reply.out)
    check.equal(reply.code, 0 if report["healthy"] else 1, str(report))
    check.equal(report["problems"], sum(finding["level"] == "problem" for finding in report["findings"]))
    for finding in report["findings"]:
        check.true(finding["level"] == "ok" or finding.get("fix"), f"no fix for: {finding}")
    return report


def findings_at(report, *levels):
    return [finding for finding in report["findings"] if finding["level"] in levels]


@case
def a_healthy_repository_is_healthy():
    with Repo() as repo:
        repo.acquire("42")
        report = examine(repo)
        check.true(report["healthy"])
        check.equal(findings_at(report, "warning", "problem"), [])
        text = repo.run("doctor").expect(0).out
        check.contains(text, "ok")
        check.absent(text, "problem")


@case
def looking_changes_nothing():
    with Repo() as repo:
        repo.acquire("42")
        before = {path: path.stat().st_mtime_ns for path in repo.store.rglob("*")}
        examine(repo)
        check.equal({path: path.stat().st_mtime_ns for path in repo.store.rglob("*")}, before)


@case
def outside_a_repository_is_one_problem():
    with Scratch() as scratch:
        report = json.loads(scratch.run("doctor", "--json").expect(1).out)
        check.equal([finding["level"] for finding in report["findings"]], ["problem"])
        check.contains(report["findings"][0]["fix"], "git init")


def break_not_set_up(repo):
    shutil.rmtree(repo.store)


def break_heartbeat_folder(repo):
    (repo.store / "heartbeat").rmdir()
    (repo.store / "heartbeat").write_text("")


def break_modes(repo):
    os.chmod(repo.store, 0o755)
    os.chmod(repo.store / "locks", 0o777)


def break_log_mode(repo):
    os.chmod(repo.log_path, 0o666)


def break_reserve(repo):
    (repo.store / "reserve").unlink()


def break_tail(repo):
    with open(repo.log_path, "ab") as log:
        log.write(b'{"schema_version":1,"seq":')


def break_index_start(repo):
    (repo.store / "claims.index.json").write_text("{}")


def break_index_record(repo):
    repo.run("recover").expect(0)
    index = repo.store / "claims.index.json"
    index.write_text(index.read_text().replace("agent:one", "agent:eno", 1))


def break_by_expiry(repo):
    repo.acquire("7", "--ttl", "1")
    wait_until(lambda: repo.holder("7") is None, "the lease to end")


def break_config(repo):
    (repo.store / "config.toml").write_text("[coordination]\nnonsense = 1\n")


def break_middle(repo):
    repo.acquire("43")
    data = repo.log_bytes()
    repo.log_path.write_bytes(data.replace(b"agent:one", b"agent:eno", 1))


def break_by_newer_schema(repo):
    line, _ = sealed(b'{"schema_version":2,"seq":2,"what":"ever"', int(repo.log()[-1]["crc"], 16))
    with open(repo.log_path, "ab") as log:
        log.write(line)


# what is broken, how bad it is, a word of the finding, whether `doctor --fix` puts it right
BROKEN = [(break_not_set_up, "problem", "not set up", True), (break_heartbeat_folder, "problem", "heartbeat", False),
          (break_modes, "warning", "mode", True), (break_log_mode, "warning", "mode", True),
          (break_reserve, "warning", "full disk", True),
          (break_tail, "warning", "unfinished", True), (break_index_start, "warning", "index", True),
          (break_index_record, "warning", "index", True), (break_by_expiry, "warning", "ended", True),
          (break_config, "problem", "config.toml:2", False),
          (break_middle, "problem", "line 1", False), (break_by_newer_schema, "problem", "newer", False)]


def finds(broken, level, word):
    with Repo() as repo:
        repo.acquire("42")
        broken(repo)
        found = [finding for finding in findings_at(examine(repo), level) if word in finding["what"] + finding["fix"]]
        check.true(found, f"no {level} about {word!r}: {examine(repo)['findings']}")


def heals(broken, fix):
    """`doctor --fix`, or the commands that doctor names, leave nothing to find."""
    with Repo() as repo:
        repo.acquire("42")
        broken(repo)
        if fix:
            repo.run("doctor", "--fix").expect(0)
        else:
            for finding in findings_at(examine(repo), "warning", "problem"):
                command = finding["fix"]
                if command.startswith(("dibs ", "chmod ")) or ": dibs " in command:
                    command = command[command.find("dibs "):] if ": dibs " in command else command
                    folder = repo.dir / "bin"
                    folder.mkdir(exist_ok=True)
                    (folder / "dibs").unlink(missing_ok=True)
                    (folder / "dibs").symlink_to(os.path.abspath(DIBS))
                    env = repo.environment(env={"PATH": f"{folder}:{os.environ['PATH']}"})
                    done = subprocess.run(["bash", "-c", command], cwd=repo.root, env=env, capture_output=True,
                                          text=True)
                    check.equal(done.returncode, 0, f"the fix `{command}`: {done.stderr}")
        check.equal(findings_at(examine(repo), "warning", "problem"), [])


for broken_, level_, word_, fixable_ in BROKEN:
    about = broken_.__name__.replace("break_", "").replace("_", " ")
    add_case(f"finds: {about}", lambda b=broken_, level=level_, w=word_: finds(b, level, w))
    if fixable_:
        add_case(f"--fix heals: {about}", lambda b=broken_: heals(b, fix=True))
    if broken_ not in (break_heartbeat_folder, break_config, break_by_newer_schema):
        add_case(f"the named fix heals: {about}", lambda b=broken_: heals(b, fix=False))


@case
def without_an_identity_is_a_warning():
    with Repo() as repo:
        report = examine(repo, env={"DIBS_AGENT_ID": None})
        check.true(report["healthy"])
        check.contains(findings_at(report, "warning")[0]["fix"], "export DIBS_AGENT_ID=")


def make_old(path):
    hours_ago = time.time() - 2 * 3600
    os.utime(path, (hours_ago, hours_ago))


def leave_scratch(parent):
    path = parent / "dibs-Ab12Cd"
    (path / "objects").mkdir(parents=True)
    (path / "objects/file").write_text("half")
    make_old(path)
    return path


def sweeps(repo):
    """What killed commands left an hour ago goes; what may be under way, or is in use, stays."""
    repo.worktree("tree")
    git = repo.root / ".git"
    old = [leave_scratch(parent) for parent in (repo.store, git, git / "worktrees/tree")]
    for name in "landing.json.0123456789abcdef.tmp", "config.toml.0123456789abcdef.tmp":
        old.append(repo.store / name)
        old[-1].write_text("half")
        make_old(old[-1])
    young = repo.store / "config.toml.123456789abcdef0.tmp"
    young.write_text("half")
    used = repo.store / "dibs-Ef34Gh"
    used.mkdir()
    make_old(used)
    handle = os.open(used, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        check.equal(repo.reply("recover")["temporary_files_removed"], len(old))
    finally:
        os.close(handle)
    check.equal([str(path) for path in old if path.exists()], [])
    check.true(young.exists() and used.exists(), "what may be under way is gone")
    repo.run("doctor", "--fix").expect(0)
    check.true(not used.exists(), "nobody uses it any more")


@case
def recover_sweeps_up_after_killed_commands():
    with Repo() as repo:
        repo.commit()
        sweeps(repo)


@case
def recover_sweeps_up_after_killed_commands_on_a_git_store():
    with Remote(clones=1) as remote:
        sweeps(remote.clones[0])


@case
def recover_says_what_it_did():
    with Repo() as repo:
        repo.acquire("42")
        repo.acquire("7", "--ttl", "1")
        break_tail(repo)
        leftovers = [repo.store / "config.toml.0123456789abcdef.tmp",
                     repo.store / "heartbeat/agent_3aone.json.0123456789abcdef.tmp"]
        for path in leftovers:
            path.write_text("half")
            make_old(path)
        wait_until(lambda: repo.holder("7") is None, "the lease to end")
        did = repo.reply("recover")
        check.equal((did["log_repaired"], did["expired_evicted"]), (True, 1))
        check.equal([path.name for path in leftovers if path.exists()], [], "leftovers of killed commands")
        check.equal(did["temporary_files_removed"], 2)
        check.has_fields(did, {"index_rebuilt"})
        again = repo.reply("recover")
        check.equal((again["log_repaired"], again["index_rebuilt"], again["expired_evicted"]), (False, False, 0))
        check.contains(repo.run("recover").expect(0).out, "nothing needed mending")
        check.equal(repo.holder("42"), "agent:one")


@case
def doctor_says_on_the_terminal_what_it_says_in_json():
    with Repo() as repo:
        repo.acquire("42")
        break_reserve(repo)
        text = repo.run("doctor").expect(0).out
        for finding in examine(repo)["findings"]:
            check.contains(text, finding["what"])
            check.contains(text, finding.get("fix", ""))


if __name__ == "__main__":
    main()
