"""Leases on a branch that another tool locks on too: each respects the other's locks, and neither loses the other's files."""

import json
import subprocess
import time

from harness import DIBS, ULID, case, check, main
from landing_site import GitSite
from remote import Remote

BRANCH = "refs/heads/aitask-locks"


class OtherTool:
    """Takes and gives back locks with git plumbing alone, straight in the remote."""

    def __init__(self, remote):
        self._remote = remote

    def _git(self, *words, text=None):
        done = subprocess.run(["git", *words], cwd=self._remote.path, env=self._remote.env, input=text,
                              capture_output=True, text=isinstance(text, str) or text is None, timeout=60)
        check.true(done.returncode == 0, f"git {words}: {done.stderr!r}")
        return done.stdout.strip()

    def names(self):
        return set(self._git("ls-tree", "-r", "--name-only", BRANCH).splitlines())

    def exists(self, task):
        return f"t{task}_lock.yaml" in self.names()

    def read(self, path):
        return self._git("show", f"{BRANCH}:{path}")

    def fields(self, task):
        return dict(line.split(": ", 1) for line in self.read(f"t{task}_lock.yaml").splitlines())

    def _commit(self, entries):
        tree = self._git("mktree", text="".join(f"{entry}\n" for entry in entries))
        commit = self._git("commit-tree", tree, "-p", BRANCH, "-m", "ait: a lock")
        self._git("update-ref", BRANCH, commit)

    def put(self, path, content, mode="100644"):
        """A file in the root of the branch; everything else stays."""
        blob = self._git("hash-object", "-w", "--stdin", text=content)
        kept = [line for line in self._git("ls-tree", BRANCH).splitlines() if not line.endswith(f"\t{path}")]
        self._commit([*kept, f"{mode} blob {blob}\t{path}"])

    def remove(self, path):
        self._commit([line for line in self._git("ls-tree", BRANCH).splitlines() if not line.endswith(f"\t{path}")])

    def lock(self, task, email="eve@example.com", since=None, more=""):
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(since))
        self.put(f"t{task}_lock.yaml",
                 f"task_id: {task}\nlocked_by: {email}\nlocked_at: {since}\nhostname: her-pc\n{more}")


class Shared(Remote):
    def __init__(self, clones=1, **more):
        super().__init__(clones, layout="lock-branch", **more)
        self.other = OtherTool(self)


@case
def clones_exclude_each_other_and_fences_grow():
    with Shared(clones=2) as remote:
        one, two = remote.clones
        first = one.acquire("42", agent="agent:a")
        check.equal(two.refusal(3, "claim", "acquire", "42", agent="agent:b")["holder"], "agent:a")
        one.run("claim", "release", "42", agent="agent:a").expect(0)
        second = two.acquire("42", agent="agent:b")
        check.true(second["fence"] > first["fence"], f"{second['fence']} after {first['fence']}")
        one.run("claim", "verify", "42", "--fence", str(first["fence"])).expect(5)


@case
def every_verb_works():
    with Shared(clones=2) as remote:
        one, two = remote.clones
        lease = one.acquire("42", agent="agent:a")["lease_id"]
        one.reply("claim", "renew", lease, "--ttl", "7200", agent="agent:a")
        one.reply("claim", "heartbeat", agent="agent:a")
        one.reply("claim", "downgrade", lease, agent="agent:a")
        two.reply("claim", "acquire", "42", "--shared", agent="agent:b")
        two.run("claim", "release", "42", agent="agent:b").expect(0)
        one.reply("claim", "upgrade", lease, agent="agent:a")
        moved = one.reply("claim", "transfer", lease, "--to", "agent:c", agent="agent:a")
        two.reply("claim", "force-evict", moved["lease_id"], "--reason", "test", agent="human:d")
        ops = ["acquire", "renew", "heartbeat", "downgrade", "acquire", "release", "upgrade", "transfer", "force-evict"]
        check.equal([event["op"] for event in two.reply("claim", "history", "42")["events"]], ops)
        check.equal([event["op"] for event in one.run("events", "--json").expect(0).lines()], ops)
        check.true(not remote.other.exists("42"), "the file is still there")


@case
def a_lock_says_what_the_other_tool_reads_and_goes_with_the_release():
    with Shared() as remote:
        clone = remote.clones[0]
        clone.git("config", "user.email", "ann@example.com", cwd=clone.root)
        holder = clone.sleeper()
        clone.acquire("109_1", "--pid", str(holder.pid))
        text = remote.other.read("t109_1_lock.yaml")
        keys = [line.split(":")[0] for line in text.splitlines()]
        check.equal(keys[:7], ["task_id", "locked_by", "locked_at", "hostname", "pid", "pid_starttime",
                               "pid_starttime_kind"])
        fields = remote.other.fields("109_1")
        check.equal([fields[key] for key in ("task_id", "locked_by", "pid", "pid_starttime_kind")],
                    ["109_1", "ann@example.com", str(holder.pid), "proc"])
        time.strptime(fields["locked_at"], "%Y-%m-%d %H:%M")
        clone.run("claim", "release", "109_1").expect(0)
        check.true(not remote.other.exists("109_1"), "the file is still there")


@case
def a_lease_without_a_process_names_none():
    with Shared() as remote:
        remote.clones[0].acquire("7")
        check.absent(remote.other.read("t7_lock.yaml"), "pid")
        check.equal(remote.other.fields("7")["locked_by"], "agent:one", "without an address in git's configuration")


@case
def another_tools_lock_is_respected():
    with Shared(clones=2) as remote:
        one, two = remote.clones
        one.acquire("1")
        remote.other.lock("42")
        for clone in (one, two):
            check.equal(clone.refusal(3, "claim", "acquire", "42")["holder"], "human:eve@example.com")
        listed = one.reply("claim", "list")["leases"]
        lease = next(entry for entry in listed if entry["resource"] == "item:42")
        check.equal((lease["ttl_secs"], lease["expires_at"], lease["mode"]), (0, None, "exclusive"))
        check.true(ULID.match(lease["lease_id"]), lease["lease_id"])
        check.equal(two.reply("claim", "status", "42")["lease"]["lease_id"], lease["lease_id"])
        one.run("claim", "verify", "42", "--fence", "0").expect(5)
        one.run("claim", "release", "42").expect(3)
        remote.other.remove("t42_lock.yaml")
        one.acquire("42")


@case
def another_tools_lock_goes_stale_and_can_be_taken():
    with Shared() as remote:
        clone = remote.clones[0]
        remote.other.lock("42", more="note: 'it''s mine'\nlabels:\n  - a\n  - b\n")
        clone.refusal(3, "claim", "acquire", "42", "--strategy", "steal-stale")
        remote.other.lock("42", since=time.time() - 7300, more="note: 'it''s mine'\nlabels:\n  - a\n  - b\n")
        clone.refusal(3, "claim", "acquire", "42")
        check.equal(clone.reply("claim", "list", "--stale")["count"], 1)
        clone.acquire("42", "--strategy", "steal-stale", "--reason", "it is old")
        text = remote.other.read("t42_lock.yaml")
        check.contains(text, "note: 'it''s mine'\nlabels:\n  - a\n  - b\n", "what dibs does not know")
        clone.run("claim", "heartbeat").expect(0)
        check.contains(remote.other.read("t42_lock.yaml"), "labels:\n  - a\n  - b\n")
        check.absent(text, "her-pc")


@case
def a_lock_that_another_tool_took_over_is_lost():
    with Shared() as remote:
        clone = remote.clones[0]
        held = clone.acquire("42")
        remote.other.lock("42")
        check.equal(clone.holder("42"), "human:eve@example.com")
        clone.run("claim", "verify", "42", "--fence", str(held["fence"])).expect(5)
        # The same when it changes a line of ours and leaves the rest.
        clone.acquire("43")
        text = remote.other.read("t43_lock.yaml")
        remote.other.put("t43_lock.yaml", text.replace("locked_by: agent:one", "locked_by: eve@example.com") + "\n")
        check.equal(clone.holder("43"), "human:eve@example.com")


@case
def whatever_cannot_be_read_is_unknown_and_hides_nothing():
    with Shared() as remote:
        clone = remote.clones[0]
        clone.acquire("1")
        files = {"2": "", "3": "task_id: 3\nlocked_by: eve@exa", "4": "\0\1\2", "5": "- a\n- list\n", "6": "x" * 300_000,
                 "7": "dibs_schema: 2\ntask_id: 7\nlocked_by: a\nlocked_at: 2026-01-01 10:00\nhostname: h\n",
                 "8": "task_id: 8\nlocked_by: 'eve\nlocked_at: 2026-01-01 10:00\nhostname: h\n",
                 "9": "task_id: 9\nlocked_by: eve\nlocked_at: yesterday\nhostname: h\n"}
        for task, content in files.items():
            remote.other.put(f"t{task}_lock.yaml", content)
        remote.other.put("t10_lock.yaml", "/etc/passwd", mode="120000")
        for path in ("README.md", "t_lock.yaml", "tX Y_lock.yaml", "t11_lock.yml"):
            remote.other.put(path, "whatever")
        for task in (*files, "10"):
            for verb in ("acquire", "status"):
                error = clone.refusal(11, "claim", verb, task, agent="agent:b")
                check.contains(error["message"], "unknown")
                check.contains(error["hint"], f"t{task}_lock.yaml")
        listed = clone.run("claim", "list", "--json").expect(0)
        check.equal([lease["resource"] for lease in listed.json()["leases"]], ["item:1"])
        check.contains(str(listed.warnings()), "t3_lock.yaml")
        names = remote.other.names()
        clone.acquire("12")
        clone.run("claim", "release", "12").expect(0)
        check.equal({name for name in remote.other.names() if not name.startswith("dibs/seq")},
                    {name for name in names if not name.startswith("dibs/seq")}, "all other files")
        check.contains(str(clone.healthy()), "t3_lock.yaml")


@case
def a_folder_in_the_place_of_a_lock_is_not_free():
    with Shared() as remote:
        clone = remote.clones[0]
        other = remote.other
        other.put("inner", "x")
        tree = other._git("mktree", text=other._git("ls-tree", BRANCH) + "\n")
        entries = other._git("ls-tree", BRANCH).splitlines()
        other._commit([*entries, f"040000 tree {tree}\tt42_lock.yaml", f"040000 tree {tree}\tsub"])
        clone.refusal(11, "claim", "acquire", "42")
        clone.acquire("43")
        check.contains(str(other.names()), "sub/inner")


@case
def numbers_go_on_when_another_tool_drops_them():
    with Shared(clones=2) as remote:
        one, two = remote.clones
        first = one.acquire("42", agent="agent:a")
        one.run("claim", "release", "42", agent="agent:a").expect(0)
        remote.other.remove("dibs")
        remote.other.lock("7")
        second = two.acquire("42", agent="agent:b")
        check.true(second["fence"] > first["fence"] + 1, f"{second['fence']} after {first['fence']}")


@case
def other_resources_lie_where_the_other_tool_does_not_look():
    with Shared(clones=2) as remote:
        one, two = remote.clones
        for resource in ("lock:build", "branch:main", "A/b", "Upper", "café"):
            one.acquire(resource, agent="agent:a")
            two.refusal(3, "claim", "acquire", resource, agent="agent:b")
        check.true(all(name.startswith("dibs/") for name in remote.other.names()), str(remote.other.names()))
        check.equal(two.reply("claim", "list")["count"], 5)


@case
def a_branch_that_the_remote_loses_comes_back_with_all_that_was_on_it():
    with Shared(clones=2) as remote:
        one, two = remote.clones
        one.acquire("42", agent="agent:a")
        remote.other.lock("7")
        check.equal(two.holder("42"), "agent:a")
        remote.git("update-ref", "-d", BRANCH, cwd=remote.path)
        check.equal(two.holder("42"), "agent:a")
        two.refusal(3, "claim", "acquire", "7", agent="agent:b")
        check.contains(str(two.reply("doctor")["findings"]), "has lost")
        two.acquire("43", agent="agent:b")
        check.true(all(remote.other.exists(task) for task in ("7", "42", "43")), str(remote.other.names()))


@case
def init_makes_the_branch_or_takes_the_one_that_is_there():
    with Shared(clones=2, init=False) as remote:
        one, two = remote.clones
        one.run("init", "--store", "git", "--layout", "lock-branch").expect(0)
        tip = remote.git("rev-parse", BRANCH, cwd=remote.path)
        two.run("init", "--store", "git", "--layout", "lock-branch").expect(0)
        one.run("init", "--store", "git", "--layout", "lock-branch").expect(0)
        check.equal(remote.git("rev-parse", BRANCH, cwd=remote.path), tip)
    with Shared(init=False) as remote:
        empty = remote.git("hash-object", "-t", "tree", "-w", "/dev/null", cwd=remote.path)
        made = remote.git("commit-tree", empty, "-m", "ait: Initialize lock branch", cwd=remote.path)
        remote.git("update-ref", BRANCH, made, cwd=remote.path)
        clone = remote.clones[0]
        clone.run("init", "--store", "git", "--layout", "lock-branch").expect(0)
        check.equal(clone.acquire("42")["fence"], 1)
        check.true(remote.other.exists("42"))


@case
def init_does_not_leave_leases_behind_in_another_layout():
    with Shared() as remote:
        clone = remote.clones[0]
        clone.acquire("42")
        clone.refusal(8, "init", "--layout", "refs")
        clone.refusal(64, "init", "--layout", "nonsense")
        check.equal(clone.reply("config", "get", "store.layout")["value"], "lock-branch")
        clone.run("claim", "release", "42").expect(0)
        clone.reply("init", "--layout", "refs")
        clone.acquire("42")
        check.contains(str(remote.refs()), "item_3a42")


@case
def config_does_not_leave_leases_behind_in_another_layout():
    with Shared() as remote:
        clone = remote.clones[0]
        clone.acquire("42")
        for words in ("store.kind", "local"), ("store.layout", "refs"):
            error = clone.refusal(8, "config", "set", *words)
            check.contains(error["hint"], "dibs init --store ")
        clone.run("config", "set", "store.layout", "lock-branch").expect(0)
        check.equal(clone.holder("42"), "agent:one")
        clone.run("claim", "release", "42").expect(0)
        clone.run(*error["hint"].split(": dibs ")[1].split()).expect(0)
        check.equal(clone.reply("config", "get", "store.layout")["value"], "refs")
        clone.run("config", "set", "store.layout", "lock-branch", "--shared").expect(0)
        check.equal(clone.reply("config", "get", "store.layout")["value"], "refs", "the clone's own")


@case
def the_branch_can_have_another_name():
    with Shared(init=False) as remote:
        clone = remote.clones[0]
        (clone.root / ".dibs").mkdir()
        (clone.root / ".dibs/config.toml").write_text(
            '[store]\nkind = "git"\nlayout = "lock-branch"\nlock_branch = "team/locks"\n')
        clone.run("init").expect(0)
        clone.acquire("42")
        check.contains(remote.git("ls-tree", "--name-only", "refs/heads/team/locks", cwd=remote.path), "t42_lock.yaml")
        clone.run("config", "set", "store.lock_branch", "a.lock").expect(0)
        clone.refusal(64, "init", "--remote", "origin")


@case
def cleanup_removes_the_locks_of_archived_tasks():
    with Shared() as remote:
        clone = remote.clones[0]
        archive = clone.root / "aitasks/archived"
        (archive / "t9").mkdir(parents=True)
        for name in ("t42_login.md", "t9/t9_2_part.md", "t8_notes.txt"):
            (archive / name).write_text("done\n")
        clone.git("add", "-A", cwd=clone.root)
        clone.git("commit", "-qm", "archive", cwd=clone.root)
        for task in ("42", "9_2", "8", "9"):
            remote.other.lock(task)
        remote.other.lock("4", since=time.time() - 86400)  # long silent, but its tool never says anything
        would = clone.reply("claim", "cleanup", "--dry-run")
        check.equal(sorted(entry["resource"] for entry in would["removed"]), ["item:42", "item:9_2"])
        removed = clone.reply("claim", "cleanup")["removed"]
        why = {entry["resource"]: entry["why"] for entry in removed}
        check.equal(why, {"item:42": "the task is archived: aitasks/archived/t42_login.md",
                          "item:9_2": "the task is archived: aitasks/archived/t9/t9_2_part.md"})
        check.equal([remote.other.exists(task) for task in ("42", "9_2", "8", "9", "4")],
                    [False, False, True, True, True])


@case
def every_race_has_one_winner():
    with Shared(clones=6) as remote:
        for n in range(3):
            check.equal(len(remote.race(f"item-{n}")), 1, f"winners of round {n}")


@case
def claims_of_different_items_all_succeed_on_one_branch():
    with Shared(clones=6) as remote:
        running = [subprocess.Popen([DIBS, "claim", "acquire", f"item-{n}", "--json"], cwd=clone.root, env=remote.env,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                   for n, clone in enumerate(remote.clones)]
        fences = set()
        for process in running:
            out, err = process.communicate(timeout=60)
            check.equal(process.returncode, 0, err.decode())
            fences.add(json.loads(out)["fence"])
        check.equal(len(fences), len(running), "each has a number of its own")


@case
def nothing_of_it_shows_in_the_users_repository():
    with Shared() as remote:
        clone = remote.clones[0]
        before = clone.git("for-each-ref", cwd=clone.root)
        clone.acquire("42")
        clone.reply("claim", "list")
        check.equal(clone.git("for-each-ref", cwd=clone.root), before)
        check.true(not (clone.root / ".git/FETCH_HEAD").exists(), "FETCH_HEAD was written")


@case
def a_remote_that_cannot_keep_what_it_is_sent_is_not_asked_sixty_times():
    with Shared() as remote:
        clone = remote.clones[0]
        clone.git("config", "receive.maxInputSize", "1", cwd=remote.path)
        error = clone.refusal(11, "claim", "acquire", "42")
        check.contains(error["message"], "cannot be written")
        clone.git("config", "--unset", "receive.maxInputSize", cwd=remote.path)
        clone.acquire("42")


@case
def sha256_repositories_work():
    with Shared(clones=2, remote_format="sha256") as remote:
        one, two = remote.clones
        one.acquire("42", agent="agent:a")
        two.refusal(3, "claim", "acquire", "42", agent="agent:b")
        remote.other.lock("7")
        two.refusal(3, "claim", "acquire", "7", agent="agent:b")


@case
def landing_leaves_no_ref_to_nothing():
    with GitSite(layout="lock-branch") as site:
        one, two = site.start("1"), site.start("2")
        site.work(one)
        site.work(two, "other-work")
        site.reply("done", cwd=one["path"])
        refs = site.git("for-each-ref", "--format=%(refname) %(objecttype)", cwd=site.root)
        check.true("refs/remotes/origin/main commit" in refs, refs)
        site.git("fetch", "-q", "origin", "main", cwd=site.root)
        site.reply("done", cwd=two["path"])
        site.start("3")


if __name__ == "__main__":
    main()
