"""Leases on a git remote, between clones that share nothing else."""

import json
import subprocess

from harness import DIBS, Repo, add_case, case, check, main, wait_until
from remote import Remote


@case
def clones_exclude_each_other_and_fences_grow():
    with Remote(clones=2) as remote:
        one, two = remote.clones
        first = one.acquire("42", agent="agent:a")
        error = two.refusal(3, "claim", "acquire", "42", agent="agent:b")
        check.equal(error["holder"], "agent:a")
        check.equal(two.holder("42"), "agent:a")
        one.run("claim", "release", "42", agent="agent:a").expect(0)
        second = two.acquire("42", agent="agent:b")
        check.true(second["fence"] > first["fence"], f"{second['fence']} after {first['fence']}")
        two.run("claim", "verify", "42", "--fence", str(second["fence"])).expect(0)
        one.run("claim", "verify", "42", "--fence", str(first["fence"])).expect(5)


@case
def a_loser_that_had_not_looked_is_told_who_won():
    with Remote(clones=2) as remote:
        one, two = remote.clones
        two.acquire("other", agent="agent:b")  # its last look shows 42 free
        one.acquire("42", agent="agent:a")
        check.equal(two.refusal(3, "claim", "acquire", "42", agent="agent:b")["holder"], "agent:a")


@case
def several_resources_are_one_push():
    with Remote(clones=2) as remote:
        one, two = remote.clones
        one.acquire("b", agent="agent:a")
        two.refusal(3, "claim", "acquire", "a", "b", "c", agent="agent:b")
        check.equal([two.holder(name) for name in "abc"], [None, "agent:a", None])
        one.run("claim", "release", "b", agent="agent:a").expect(0)
        check.equal(two.reply("claim", "acquire", "a", "b", "c", agent="agent:b")["count"], 3)
        commits = {remote.refs()[f"refs/dibs/r/item_3a{name}"] for name in "abc"}
        check.equal(len(commits), 1, "commits that the three refs are at")


@case
def every_verb_works():
    with Remote(clones=2) as remote:
        one, two = remote.clones
        lease = one.acquire("42", agent="agent:a")["lease_id"]
        one.reply("claim", "renew", lease, "--ttl", "7200", agent="agent:a")
        one.reply("claim", "heartbeat", agent="agent:a")
        one.reply("claim", "downgrade", lease, agent="agent:a")
        two.reply("claim", "acquire", "42", "--shared", agent="agent:b")
        check.equal(one.reply("claim", "list")["count"], 2)
        two.run("claim", "release", "42", agent="agent:b").expect(0)
        one.reply("claim", "upgrade", lease, agent="agent:a")
        moved = one.reply("claim", "transfer", lease, "--to", "agent:c", agent="agent:a")
        two.reply("claim", "force-evict", moved["lease_id"], "--reason", "test", agent="human:d")
        check.equal([event["op"] for event in two.reply("claim", "history", "42")["events"]],
                    ["acquire", "renew", "heartbeat", "downgrade", "acquire", "release", "upgrade", "transfer",
                     "force-evict"])
        check.equal(one.reply("metrics")["by_op"]["acquire"], 2)


@case
def a_process_of_this_machine_that_is_gone_holds_nothing():
    with Remote(clones=2) as remote:
        one, two = remote.clones
        holder = one.sleeper()
        one.acquire("42", "--pid", str(holder.pid), agent="agent:a")
        two.refusal(3, "claim", "acquire", "42", agent="agent:b")
        holder.kill()
        holder.wait()
        two.acquire("42", agent="agent:b")


@case
def worktrees_of_a_clone_share_its_view_of_the_remote():
    with Remote(clones=1) as remote:
        clone = remote.clones[0]
        tree = clone.worktree("tree")
        clone.acquire("42", agent="agent:a")
        clone.refusal(3, "claim", "acquire", "42", agent="agent:b", cwd=tree)


@case
def nothing_of_it_shows_in_the_users_repository():
    with Remote(clones=1) as remote:
        clone = remote.clones[0]
        before = clone.git("for-each-ref", cwd=clone.root)
        clone.acquire("42")
        check.equal(clone.git("for-each-ref", cwd=clone.root), before)
        check.absent(clone.git("log", "--all", "--oneline", cwd=clone.root), "schema_version")
        check.true(not (clone.root / ".git/FETCH_HEAD").exists(), "FETCH_HEAD was written")


@case
def a_remote_that_is_gone_is_exit_11_and_never_free():
    with Remote(clones=1) as remote:
        clone = remote.clones[0]
        clone.acquire("42", agent="agent:a")
        remote.path.rename(remote.dir / "away")
        for command in (["claim", "status", "42"], ["claim", "list"], ["claim", "acquire", "42"],
                        ["claim", "acquire", "new"], ["claim", "verify", "42", "--fence", "1"]):
            error = clone.refusal(11, *command, agent="agent:b")
            check.true(error["message"] and error["hint"], f"{command}: {error}")
        (remote.dir / "away").rename(remote.path)
        check.equal(clone.holder("42"), "agent:a")
        check.equal(clone.holder("new"), None)


@case
def a_ref_that_dibs_cannot_read_is_not_free():
    with Remote(clones=1) as remote:
        clone = remote.clones[0]
        remote.git("update-ref", "refs/dibs/r/item_3a42", "main", cwd=remote.path)
        clone.refusal(11, "claim", "acquire", "42")
        clone.refusal(11, "claim", "status", "42")
        clone.acquire("43")
        listed = clone.run("claim", "list", "--json").expect(0)
        check.equal(listed.json()["count"], 1)
        check.contains(str(listed.warnings()), "refs/dibs/r/item_3a42")


@case
def a_remote_that_refuses_is_named_and_nothing_is_held():
    with Remote(clones=1) as remote:
        clone = remote.clones[0]
        hook = remote.path / "hooks/pre-receive"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\necho 'not on a Monday' >&2\nexit 1\n")
        hook.chmod(0o755)
        check.contains(clone.refusal(8, "claim", "acquire", "42")["message"], "origin")
        hook.unlink()
        check.equal(clone.holder("42"), None)
        clone.acquire("42")


@case
def a_lock_that_a_crash_left_on_the_remote_is_named():
    with Remote(clones=1) as remote:
        clone = remote.clones[0]
        clone.acquire("other")
        lock = remote.path / "refs/dibs/r/item_3a42.lock"
        lock.touch()
        error = clone.refusal(12, "claim", "acquire", "42")
        check.contains(error["message"], str(lock.name))
        check.contains(error["hint"], "remove it")
        lock.unlink()
        clone.acquire("42")


@case
def doctor_tries_the_remote():
    with Remote(clones=1) as remote:
        clone = remote.clones[0]
        clone.acquire("42")
        found = str(clone.healthy())
        check.contains(found, "refs of dibs there: 1")
        check.contains(found, "takes atomic pushes")
        remote.git("config", "receive.advertiseAtomic", "false", cwd=remote.path)
        check.contains(str(clone.run("doctor", "--json").json()), "does not support --atomic")
        check.contains(clone.refusal(8, "claim", "acquire", "43")["message"], "--atomic")
        remote.path.rename(remote.dir / "away")
        report = clone.run("doctor", "--json").json()
        check.true(not report["healthy"], str(report))


def doctor_says(clone):
    """Its warnings, as (what, fix)."""
    return [(finding["what"], finding["fix"]) for finding in clone.healthy() if finding["level"] == "warning"]


@case
def doctor_reads_how_a_path_remote_is_set():
    with Remote(clones=1) as remote:
        clone = remote.clones[0]
        [(what, fix)] = doctor_says(clone)  # git's own choice
        check.contains(what, "core.fsync is not set")
        subprocess.run(fix, shell=True, check=True, env=remote.env)
        check.equal(doctor_says(clone), [])
        for setting, value, word in (("receive.denyDeletes", "Yes", "denies deletes"),
                                     ("receive.denyNonFastForwards", "true", "denies non-fast-forwards"),
                                     ("core.fsync", "none", "core.fsync is none"),
                                     ("core.fsyncMethod", "writeout-only", "writeout-only"),
                                     ("core.filesRefLockTimeout", "0", "after 0 ms"),
                                     ("core.packedRefsTimeout", "5", "after 5 ms")):
            remote.git("config", setting, value, cwd=remote.path)
            for address in (remote.path, f"file://{remote.path}", "../remote.git"):
                clone.git("remote", "set-url", "origin", address, cwd=clone.root)
                [(what, fix)] = doctor_says(clone)
                check.contains(what, word)
            subprocess.run(fix, shell=True, check=True, env=remote.env)
            check.equal(doctor_says(clone), [])


@case
def doctor_counts_the_refs_of_the_remote():
    with Remote(clones=1) as remote:
        clone = remote.clones[0]
        remote.git("config", "core.fsync", "committed", cwd=remote.path)
        head = remote.git("rev-parse", "main", cwd=remote.path)
        with open(remote.path / "packed-refs", "a", encoding="ascii") as packed:
            packed.writelines(f"{head} refs/heads/many-{n}\n" for n in range(10_000))
        [(what, fix)] = doctor_says(clone)
        check.contains(what, "10002 refs in all")  # with main and the ledger
        check.contains(fix, "dibs claim cleanup")


@case
def a_remote_that_denies_deletes_and_non_fast_forwards_still_takes_claims():
    with Remote(clones=1) as remote:
        clone = remote.clones[0]
        remote.git("config", "receive.denyDeletes", "true", cwd=remote.path)
        remote.git("config", "receive.denyNonFastForwards", "true", cwd=remote.path)
        for _ in range(3):
            clone.acquire("42")
            clone.run("claim", "renew", "42").expect(0)
            clone.run("claim", "release", "42").expect(0)
        clone.run("claim", "cleanup").expect(0)
        clone.acquire("42")


def redated(remote, ref, when):
    """The same commit with another date at the tip of a ref."""
    text = remote.git("cat-file", "commit", ref, cwd=remote.path)
    headers, message = text.split("\n\n", 1)
    headers = "\n".join(f"{line.rsplit(' ', 2)[0]} {when} +0000" if line.startswith(("author", "committer")) else line
                        for line in headers.splitlines())
    made = subprocess.run(["git", "hash-object", "-t", "commit", "-w", "--stdin"], cwd=remote.path, env=remote.env,
                          input=f"{headers}\n\n{message}\n", capture_output=True, text=True, check=True)
    remote.git("update-ref", ref, made.stdout.strip(), cwd=remote.path)


def add_date_case(layout, ref):
    def age_is_the_claims_own_and_not_the_commits():
        with Remote(clones=2, layout=layout) as remote:
            one, two = remote.clones
            for clone in remote.clones:
                clone.run("config", "set", "store.skew_margin_secs", "0").expect(0)
            for when in ("2001-01-01T00:00:00Z", "2037-01-01T00:00:00Z"):
                dates = {"GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when}
                one.acquire("1", "--ttl", "600", env=dates)
                one.reply("claim", "heartbeat", env=dates)
                check.equal((two.reply("claim", "list")["count"], two.reply("claim", "list", "--stale")["count"]), (1, 0))
                check.equal(two.reply("claim", "cleanup", "--older-than", "0", "--dry-run", env=dates)["count"], 0)
                one.run("claim", "release", "1", env=dates).expect(0)
            for when in (1, 2_000_000_000):
                one.acquire("1", "--ttl", "600")
                redated(remote, ref, when)
                check.equal((two.reply("claim", "list")["count"], two.reply("claim", "list", "--stale")["count"]), (1, 0))
                two.refusal(3, "claim", "acquire", "1", "--strategy", "steal-stale", agent="agent:b")
                one.run("claim", "release", "1").expect(0)
            one.acquire("1", "--ttl", "1")
            redated(remote, ref, 2_000_000_000)
            wait_until(lambda: two.reply("claim", "list", "--stale")["count"] == 1, "the lease to end")
            check.equal(two.reply("claim", "cleanup", "--older-than", "86400")["count"], 0)
            check.equal(two.reply("claim", "cleanup")["count"], 1)
    add_case(f"age is the claim's own and not the commit's: {layout}", age_is_the_claims_own_and_not_the_commits)


add_date_case("refs", "refs/dibs/r/item_3a1")
add_date_case("lock-branch", "refs/heads/aitask-locks")


@case
def the_rate_of_claims_is_of_this_clone_as_the_refusals_are():
    with Remote(clones=2) as remote:
        one, two = remote.clones
        one.reply("claim", "acquire", "1", "2", agent="agent:a")
        two.refusal(3, "claim", "acquire", "1", agent="agent:b")
        seen = one.reply("metrics")
        check.equal((seen["acquisitions"], seen["success_rate"], seen["contention"], seen["active"]), (2, 1, 0, 2))
        seen = two.reply("metrics")
        check.equal((seen["acquisitions"], seen["success_rate"], seen["contention"]), (2, 0, None))
        two.acquire("3", agent="agent:b")
        one.run("claim", "release", "1", agent="agent:a").expect(0)
        seen = two.reply("metrics")
        check.equal((seen["success_rate"], seen["contention"], seen["released_last_hour"]), (0.5, 1, 1))


@case
def an_environment_meant_for_another_repository_leads_nowhere():
    with Remote(clones=1) as remote:
        clone = remote.clones[0]
        hostile = {"GIT_DIR": remote.dir / "seed/.git", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "remote.origin.url",
                   "GIT_CONFIG_VALUE_0": "/nowhere", "GIT_OBJECT_DIRECTORY": "/nowhere"}
        clone.acquire("42", env=hostile)
        check.contains(str(remote.refs()), "item_3a42")


@case
def init_needs_the_remote_that_is_named():
    with Repo(init=False) as repo:
        repo.git("remote", "add", "upstream", "/nowhere", cwd=repo.root)
        error = repo.refusal(10, "init", "--store", "git")
        check.contains(error["hint"], "git remote add origin")
        repo.refusal(64, "init", "--store", "git", "--remote", "--upload-pack=x")
        repo.refusal(64, "init", "--store", "git", "--remote", "../elsewhere")
        repo.run("init").expect(0)
        check.equal(repo.reply("config", "get", "store.kind")["value"], "local")


@case
def with_no_remote_at_all_the_local_store_is_set_up_and_that_is_said():
    with Repo(init=False) as repo:
        repo.refusal(64, "init", "--store", "git", "--remote", "../elsewhere")
        reply = repo.run("init", "--store", "git", "--json").expect(0)
        check.equal((reply.json()["store"], reply.json()["already"]), ("local", False))
        check.contains(reply.json()["note"], "no remote")
        check.equal(reply.warnings(), [reply.json()["note"]])
        check.equal(repo.reply("config", "get", "store.kind")["value"], "local")
        check.equal(repo.reply("config", "get", "coordination.default_ttl_secs")["value"], 600)
        repo.acquire("42")
        again = repo.run("init", "--store", "git").expect(0)
        check.contains(again.err, "no remote")
        check.contains(again.out, "local store")


@case
def a_committed_git_store_without_any_remote_becomes_a_local_one_here():
    with Repo(init=False) as repo:
        (repo.root / ".dibs").mkdir()
        (repo.root / ".dibs/config.toml").write_text('[store]\nkind = "git"\n')
        check.contains(repo.run("init").expect(0).err, "no remote")
        repo.acquire("42")
        check.equal(repo.holder("42"), "agent:one")


@case
def a_git_store_in_use_stays_one_when_its_remote_is_taken_away():
    with Remote(clones=1) as remote:
        clone = remote.clones[0]
        clone.acquire("42")
        clone.git("remote", "remove", "origin", cwd=clone.root)
        check.equal(clone.reply("init")["store"], "git")
        clone.refusal(11, "claim", "status", "42")


@case
def init_does_not_leave_leases_behind():
    with Remote(clones=1, init=False) as remote:
        clone = remote.clones[0]
        clone.run("init").expect(0)
        clone.acquire("42")
        clone.refusal(8, "init", "--store", "git")
        clone.run("claim", "release", "42").expect(0)
        check.equal(clone.reply("init", "--store", "git")["store"], "git")
        check.equal(clone.reply("init")["already"], True)
        clone.acquire("42")
        check.contains(str(remote.refs()), "item_3a42")
        check.equal(clone.reply("config", "get", "coordination.default_ttl_secs")["value"], 3600)


@case
def a_committed_choice_is_all_that_a_clone_needs():
    with Remote(clones=1, init=False) as remote:
        clone = remote.clones[0]
        (clone.root / ".dibs").mkdir()
        (clone.root / ".dibs/config.toml").write_text('[store]\nkind = "git"\n')
        check.equal(clone.reply("init")["store"], "git")
        clone.acquire("42")
        check.contains(str(remote.refs()), "item_3a42")
        check.equal(clone.reply("config", "get", "coordination.default_ttl_secs")["value"], 3600)


@case
def a_namespace_of_branches_works_too():
    with Remote(clones=2) as remote:
        for clone in remote.clones:
            clone.run("config", "set", "store.ref_prefix", "refs/heads/dibs/").expect(0)
        one, two = remote.clones
        one.run("init", "--store", "git", "--remote", "origin").expect(0)
        one.acquire("42", agent="agent:a")
        two.refusal(3, "claim", "acquire", "42", agent="agent:b")
        check.contains(remote.git("for-each-ref", "refs/heads/dibs", cwd=remote.path), "item_3a42")


@case
def sha256_repositories_work():
    with Remote(clones=2, remote_format="sha256") as remote:
        one, two = remote.clones
        one.acquire("42", agent="agent:a")
        two.refusal(3, "claim", "acquire", "42", agent="agent:b")


@case
def every_race_has_one_winner():
    with Remote(clones=6) as remote:
        for n in range(4):
            check.equal(len(remote.race(f"item-{n}")), 1, f"winners of round {n}")


@case
def claims_of_different_items_do_not_get_in_each_others_way():
    with Remote(clones=4) as remote:
        running = [subprocess.Popen([DIBS, "claim", "acquire", f"item-{n}", "--json"], cwd=clone.root, env=remote.env,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                   for n, clone in enumerate(remote.clones)]
        for process in running:
            out, err = process.communicate(timeout=60)
            check.equal(process.returncode, 0, err.decode())
            check.true(json.loads(out)["fence"] > 0)


@case
def following_shows_changes_that_share_a_number():
    """A clone that has seen nothing gives its change a number that others have given before."""
    with Remote(clones=2) as remote:
        one, two = remote.clones
        one.acquire("1")
        last = one.acquire("2")
        stream = one.spawn(DIBS, "events", "--follow", "--json", stdout=subprocess.PIPE)
        check.equal([json.loads(stream.stdout.readline())["resource"] for _ in range(2)], ["item:1", "item:2"])
        late = two.acquire("3", agent="agent:two")
        check.true(late["fence"] <= last["fence"], "it was to be late")
        check.equal(json.loads(stream.stdout.readline())["resource"], "item:3")
        one.acquire("4")
        check.equal(json.loads(stream.stdout.readline())["resource"], "item:4", "each is shown once")


if __name__ == "__main__":
    main()
