"""The script that keeps locks on a branch, by itself: what is shown with it is worth as much as it is."""

import re
import subprocess
from pathlib import Path

from harness import DIBS, HANG_SECS, case, check, main
from remote import Remote

SCRIPT = Path(__file__).with_name("aitask_lock.sh")
FREE, LOCKED_BY_ANOTHER, UNREACHABLE, USAGE = 1, 1, 11, 64
FIELDS = ["task_id", "locked_by", "locked_at", "hostname", "pid", "pid_starttime", "pid_starttime_kind"]


class Locks(Remote):
    def __init__(self, clones):
        super().__init__(clones, init=False)
        self.script(0, "--init").check_returncode()

    def start(self, clone, *words):
        return subprocess.Popen([SCRIPT, *words], cwd=self.clones[clone].root, env=self.env, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def script(self, clone, *words):
        return finished(self.start(clone, *words))

    def lock(self, clone, task):
        return self.script(clone, "--lock", task, "--email", f"user{clone}@example.com")

    def files(self):
        return self.git("ls-tree", "--name-only", "aitask-locks", cwd=self.path).split()

    def tip(self):
        return self.git("rev-parse", "aitask-locks", cwd=self.path)


def finished(process):
    out, err = process.communicate(timeout=HANG_SECS)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def ended(done, status):
    check.equal(done.returncode, status, f"{done.args[1:]}: {done.stderr}")
    return done


@case
def a_lock_keeps_others_out_until_it_is_unlocked():
    with Locks(clones=2) as locks:
        ended(locks.script(1, "--check", "42"), FREE)
        ended(locks.lock(0, "42"), 0)
        check.contains(ended(locks.script(1, "--check", "42"), 0).stdout, "locked_by: user0@example.com\n")
        refused = ended(locks.lock(1, "42"), LOCKED_BY_ANOTHER)
        check.contains(refused.stderr, "locked by user0@example.com since 2")
        ended(locks.lock(1, "43"), 0)
        check.equal(locks.files(), ["t42_lock.yaml", "t43_lock.yaml"])
        check.equal(len(locks.script(0, "--list").stdout.splitlines()), 2, "lines")
        ended(locks.script(0, "--unlock", "42"), 0)
        check.equal(locks.files(), ["t43_lock.yaml"])
        ended(locks.script(1, "--check", "42"), FREE)
        ended(locks.lock(1, "42"), 0)


@case
def the_file_has_the_fields_that_other_tools_write():
    with Locks(clones=1) as locks:
        ended(locks.lock(0, "42_1"), 0)
        lines = locks.git("show", "aitask-locks:t42_1_lock.yaml", cwd=locks.path).splitlines()
        values = dict(line.split(": ", 1) for line in lines)
        check.equal(list(values), FIELDS)
        check.equal((values["task_id"], values["pid_starttime_kind"]), ("42_1", "proc"))
        for field, pattern in (("locked_at", r"\d{4}-\d\d-\d\d \d\d:\d\d"), ("pid", r"\d+"), ("pid_starttime", r"\d+")):
            check.true(re.fullmatch(pattern, values[field]), f"{field}: {values[field]}")


@case
def doing_it_twice_is_no_error_and_changes_nothing_that_is_not_there():
    with Locks(clones=1) as locks:
        before = locks.tip()
        ended(locks.script(0, "--init"), 0)
        ended(locks.script(0, "--unlock", "42"), 0)
        check.equal(locks.tip(), before)
        ended(locks.lock(0, "42"), 0)
        ended(locks.lock(0, "42"), 0)
        check.equal(locks.files(), ["t42_lock.yaml"])


@case
def each_change_is_one_commit_that_keeps_the_files_of_others():
    with Locks(clones=1) as locks:
        for task in ("1", "2", "3"):
            ended(locks.lock(0, task), 0)
        ended(locks.script(0, "--unlock", "2"), 0)
        subjects = locks.git("log", "--format=%s", "aitask-locks", cwd=locks.path).splitlines()
        check.equal(len(subjects), 5, f"commits {subjects}")
        check.equal(locks.files(), ["t1_lock.yaml", "t3_lock.yaml"])


@case
def a_race_for_one_task_has_one_winner():
    with Locks(clones=4) as locks:
        for task in ("7", "8"):
            running = [locks.start(n, "--lock", task, "--email", f"user{n}@example.com") for n in range(4)]
            done = [finished(process) for process in running]
            winners = [n for n, one in enumerate(done) if one.returncode == 0]
            check.equal(len(winners), 1, f"winners of {[(one.returncode, one.stderr) for one in done]}")
            check.equal({one.returncode for one in done}, {0, LOCKED_BY_ANOTHER})
            content = locks.git("show", f"aitask-locks:t{task}_lock.yaml", cwd=locks.path)
            check.contains(content, f"locked_by: user{winners[0]}@example.com")


@case
def a_push_that_comes_second_is_tried_again():
    with Locks(clones=2) as locks:
        hook = locks.path / "hooks/update"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\nrm hooks/update\nexit 1\n")  # turns down the first push only
        hook.chmod(0o755)
        ended(locks.lock(0, "42"), 0)
        check.true(not hook.exists(), "the first push was not turned down")
        check.equal(locks.files(), ["t42_lock.yaml"])


@case
def cleanup_unlocks_what_is_archived():
    with Locks(clones=1) as locks:
        for task in ("1", "2", "2_1"):
            ended(locks.lock(0, task), 0)
        archived = locks.clones[0].root / "aitasks/archived"
        archived.mkdir(parents=True)
        (archived / "t2_done.md").touch()
        ended(locks.script(0, "--cleanup"), 0)
        check.equal(locks.files(), ["t1_lock.yaml", "t2_1_lock.yaml"])


@case
def a_remote_that_is_gone_is_not_a_free_lock():
    with Locks(clones=1) as locks:
        locks.path.rename(locks.dir / "away")
        for words in (["--check", "42"], ["--list"], ["--unlock", "42"], ["--lock", "42", "--email", "a@example.com"]):
            ended(locks.script(0, *words), UNREACHABLE)
        ended(locks.script(0, "--lock", "42"), USAGE)


# --- beside dibs ---

def shared(clones):
    """The last clone has dibs; the others have the script alone."""
    locks = Locks(clones)
    locks.clones[-1].run("init", "--store", "git", "--layout", "lock-branch").expect(0)
    return locks


@case
def script_and_dibs_respect_each_other():
    with shared(clones=2) as locks:
        dibs = locks.clones[1]
        ended(locks.lock(0, "42"), 0)
        error = dibs.refusal(3, "claim", "acquire", "42")
        check.contains(error["holder"], "user0")
        check.equal(dibs.holder("42"), "human:user0@example.com")
        dibs.acquire("43")
        check.contains(ended(locks.lock(0, "43"), LOCKED_BY_ANOTHER).stderr, "locked by ")
        ended(locks.script(0, "--unlock", "42"), 0)
        dibs.acquire("42")
        ended(locks.script(0, "--check", "42"), 0)
        for task in ("42", "43"):
            dibs.run("claim", "release", task).expect(0)
            ended(locks.script(0, "--check", task), FREE)
        ended(locks.lock(0, "42"), 0)


@case
def in_a_race_of_script_and_dibs_one_wins():
    with shared(clones=4) as locks:
        dibs = locks.clones[3]
        for n in range(5):
            task = str(100 + n)
            ours = dibs.spawn(DIBS, "claim", "acquire", task, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            theirs = [locks.start(clone, "--lock", task, "--email", f"user{clone}@example.com") for clone in range(3)]
            won = [finished(process).returncode == 0 for process in theirs]
            won.append(ours.wait(timeout=HANG_SECS) == 0)
            check.equal(sum(won), 1, f"winners of {task}: {won}")


if __name__ == "__main__":
    main()
