"""The layout with a visible branch for every claimed item, which is also the branch that the work is done on."""

import json
import subprocess

from harness import case, check, main
from remote import Remote

LAYOUT = "branches"


def branches(remote):
    """Name → commit."""
    lines = remote.git("for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads", cwd=remote.path)
    return dict(line.split() for line in lines.splitlines())


def work(remote, path, name, text="work\n"):
    (path / name).write_text(text)
    remote.git("add", "-A", cwd=path)
    remote.git("commit", "-q", "-m", f"add {name}", cwd=path)


def started(clone, item, agent, *more):
    return type(clone.root)(clone.reply("start", item, *more, agent=agent)["path"])


@case
def a_claim_shows_as_a_branch_and_a_release_takes_it_away():
    with Remote(clones=2, layout=LAYOUT) as remote:
        one, two = remote.clones
        one.acquire("42", agent="agent:a")
        check.true("indevelopment-42" in branches(remote), str(branches(remote)))
        check.equal(remote.git("log", "-1", "--format=%s", "indevelopment-42", cwd=remote.path).strip(), "Claim item:42")
        two.refusal(3, "claim", "acquire", "42", agent="agent:b")
        one.run("claim", "release", "42", agent="agent:a").expect(0)
        check.equal(list(branches(remote)), ["main"])
        one.acquire("lock:x", agent="agent:a")
        check.equal(list(branches(remote)), ["main"], "only items have branches")


@case
def two_claims_are_never_the_same_commit():
    with Remote(clones=2, layout=LAYOUT) as remote:
        seen = set()
        for n, clone in enumerate(remote.clones * 2):
            clone.acquire("42", agent=f"agent:{n}")
            seen.add(branches(remote)["indevelopment-42"])
            clone.run("claim", "release", "42", agent=f"agent:{n}").expect(0)
        check.equal(len(seen), 4)


@case
def several_items_are_one_push():
    with Remote(clones=2, layout=LAYOUT) as remote:
        one, two = remote.clones
        one.acquire("b", agent="agent:a")
        two.refusal(3, "claim", "acquire", "a", "b", "c", agent="agent:b")
        check.equal(sorted(branches(remote)), ["indevelopment-b", "main"])
        one.run("claim", "release", "b", agent="agent:a").expect(0)
        two.reply("claim", "acquire", "a", "b", "c", agent="agent:b")
        check.equal(sorted(branches(remote)), ["indevelopment-a", "indevelopment-b", "indevelopment-c", "main"])


@case
def the_work_is_done_on_the_branch_and_lands_with_it():
    for mode in ("merge", "rebase", "squash"):
        with Remote(clones=1, layout=LAYOUT) as remote:
            clone = remote.clones[0]
            path = started(clone, "42", "agent:a")
            check.equal(remote.git("branch", "--show-current", cwd=path).strip(), "indevelopment-42")
            work(remote, path, "g")
            remote.git("push", "-q", "origin", "HEAD", cwd=path)
            work(remote, path, "h")
            clone.reply("done", "--mode", mode, agent="agent:a", cwd=path)
            check.equal(list(branches(remote)), ["main"])
            check.equal(remote.git("ls-tree", "--name-only", "main", cwd=remote.path).split(), ["g", "h"])
            check.absent(str(remote.refs()), "rescue", "landed work is not kept twice")


@case
def work_that_was_pushed_and_given_up_is_kept():
    with Remote(clones=2, layout=LAYOUT) as remote:
        one, two = remote.clones
        path = started(one, "42", "agent:a")
        work(remote, path, "g")
        remote.git("push", "-q", "origin", "HEAD", cwd=path)
        tip = branches(remote)["indevelopment-42"]
        two.reply("claim", "force-evict", "42", "--reason", "gone", agent="human:b")
        check.equal(list(branches(remote)), ["main"])
        kept = [commit for ref, commit in remote.refs().items() if "rescue" in ref]
        check.equal(kept, [tip])


@case
def whoever_lost_the_item_cannot_push_on():
    with Remote(clones=2, layout=LAYOUT) as remote:
        one, two = remote.clones
        path = started(one, "42", "agent:a")
        work(remote, path, "g")
        started(two, "42", "agent:b", "--strategy", "force", "--reason", "taken over")
        claimed = branches(remote)["indevelopment-42"]
        pushed = subprocess.run(["git", "push", "-q", "origin", "HEAD"], cwd=path, env=one.env, capture_output=True, check=False)
        check.true(pushed.returncode != 0, "git took it")
        check.equal(branches(remote)["indevelopment-42"], claimed)
        error = one.refusal(5, "done", agent="agent:a", cwd=path)
        check.equal(error["holder"], "agent:b")
        check.true(error["rescue"], str(error))


@case
def a_branch_that_another_tool_made_is_a_claim():
    with Remote(clones=2, layout=LAYOUT) as remote:
        one, two = remote.clones
        one.acquire("other")  # its last look is of now
        remote.git("branch", "indevelopment-42", "main", cwd=remote.path)
        error = one.refusal(3, "claim", "acquire", "42")
        check.contains(error["message"], "indevelopment-42")
        check.contains(error["hint"], "git push origin --delete indevelopment-42")
        remote.git("branch", "-D", "indevelopment-42", cwd=remote.path)
        two.acquire("42")


@case
def the_state_in_the_name_can_be_chosen():
    with Remote(clones=1, layout=LAYOUT) as remote:
        clone = remote.clones[0]
        clone.run("config", "set", "store.claim_state", "intesting").expect(0)
        clone.acquire("a b")
        check.true("intesting-a_20b" in branches(remote), str(branches(remote)))


WORKFLOW = """initial = "ready"
[[state]]
name = "ready"
kind = "open"
to = ["checking"]
claim = "building"
[[state]]
name = "checking"
kind = "open"
to = ["ready", "done"]
claim = "checking"
[[state]]
name = "plain"
kind = "open"
to = ["done"]
[[state]]
name = "done"
kind = "done"
to = []
"""


def with_workflow(remote):
    seed = remote.dir / "seed"
    (seed / ".dibs").mkdir()
    work(remote, seed, ".dibs/workflow.toml", WORKFLOW)
    remote.git("push", "-q", remote.path, "main", cwd=seed)
    for clone in remote.clones:
        remote.git("pull", "-q", cwd=clone.root)
    return remote.clones


@case
def the_state_in_the_name_is_what_the_workflow_calls_a_claim():
    with Remote(clones=1, layout=LAYOUT) as remote:
        clone = with_workflow(remote)[0]
        for item, state in (("a", "ready"), ("b", "checking"), ("c", "plain")):
            clone.reply("item", "add", "--batch", "-", stdin=json.dumps({"id": item, "title": "T", "state": state}).encode())
        clone.reply("claim", "acquire", "a", "b", "c", "unknown")
        check.equal(sorted(branches(remote)), ["building-a", "checking-b", "indevelopment-c", "indevelopment-unknown", "main"])
        for item in ("a", "b", "c", "unknown"):
            clone.run("claim", "release", item).expect(0)
        check.equal(list(branches(remote)), ["main"])


@case
def a_branch_keeps_its_name_while_the_item_and_the_settings_change():
    with Remote(clones=2, layout=LAYOUT) as remote:
        one, two = with_workflow(remote)
        one.reply("item", "add", "--batch", "-", stdin=b'{"id": "a", "title": "T"}')
        path = started(one, "a", "agent:a")
        check.equal(remote.git("branch", "--show-current", cwd=path).strip(), "building-a")
        one.reply("item", "update", "a", "--state", "checking", agent="agent:a", cwd=path)
        two.run("config", "set", "store.claim_state", "other").expect(0)
        work(remote, path, "g")
        one.reply("done", agent="agent:a", cwd=path)
        check.equal(list(branches(remote)), ["main"])
        check.true(not path.exists(), "the worktree that start made goes")
        check.equal(remote.git("branch", "--list", "*-a", cwd=one.root), "")


@case
def whoever_takes_over_has_the_branch_of_the_state_it_is_in_then():
    with Remote(clones=2, layout=LAYOUT) as remote:
        one, two = with_workflow(remote)
        one.reply("item", "add", "--batch", "-", stdin=b'{"id": "a", "title": "T"}')
        path = started(one, "a", "agent:a")
        work(remote, path, "g")
        remote.git("push", "-q", "origin", "HEAD", cwd=path)
        tip = branches(remote)["building-a"]
        one.reply("item", "update", "a", "--state", "checking", agent="agent:a", cwd=path)
        two.reply("item", "sync")
        taken = started(two, "a", "agent:b", "--strategy", "force", "--reason", "taken over")
        check.equal(sorted(branches(remote)), ["checking-a", "main"])
        check.equal(remote.git("branch", "--show-current", cwd=taken).strip(), "checking-a")
        check.equal([commit for ref, commit in remote.refs().items() if "rescue" in ref], [tip])
        two.reply("claim", "release", "a", agent="agent:b", cwd=taken)
        check.equal(list(branches(remote)), ["main"])


@case
def every_race_has_one_winner_whatever_the_clones_know():
    """Some at the same commit, some at a later one, some with a commit of their own."""
    with Remote(clones=6, layout=LAYOUT) as remote:
        work(remote, remote.dir / "seed", "later")
        remote.git("push", "-q", remote.path, "main", cwd=remote.dir / "seed")
        for clone in remote.clones[2:4]:
            remote.git("pull", "-q", cwd=clone.root)
        for clone in remote.clones[4:]:
            work(remote, clone.root, "own")
        for n in range(4):
            check.equal(len(remote.race(f"item-{n}")), 1, f"winners of round {n}")


if __name__ == "__main__":
    main()
