"""Items: made, changed, listed, ordered and taken, as a person and a script see them."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor

from harness import LEASE_FIELDS, Repo, case, check, main

ITEM_FIELDS = {"id", "title", "body", "state", "priority", "labels", "depends_on", "files", "type", "created_at",
               "updated_at", "created_by"}


class Items(Repo):
    """A repository with dibs set up and one agent."""

    def __init__(self):
        super().__init__(commit=True)

    def add(self, title, *options, **more):
        return self.reply("item", "add", title, *options, **more)["id"]

    def batch(self, *items):
        lines = "".join(json.dumps(item) + "\n" for item in items)
        return self.reply("item", "add", "--batch", "-", stdin=lines.encode())

    def ids(self, *command):
        return [item["id"] for item in self.reply(*command)["items"]]

    def state(self, item):
        return self.reply("item", "show", item)["state"]

    def put_file(self, path, text):
        """What a person does who edits the tree of the items by hand."""
        def plumb(*words, text=None):
            return subprocess.run(["git", *words], cwd=self.root, check=True, input=text, capture_output=True, text=True,
                                  env=self.environment(env={"GIT_INDEX_FILE": str(self.dir / "index")})).stdout.strip()
        blob = plumb("hash-object", "-w", "--stdin", text=text)
        plumb("read-tree", "refs/dibs/items")
        plumb("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
        commit = plumb("commit-tree", plumb("write-tree"), "-p", "refs/dibs/items", "-m", "by hand")
        plumb("update-ref", "refs/dibs/items", commit)


@case
def an_item_is_there_in_every_worktree_at_once():
    with Items() as repo:
        made = repo.reply("item", "add", "Fix login", "--priority", "1", "--label", "auth", "--files", "src/auth/**",
                          "--estimate", "90", "--type", "bug", "--body", "Twice a day.\n")
        check.has_fields(made, ITEM_FIELDS | {"estimate_min"})
        check.true(made["id"].startswith("fix-login-") and len(made["id"]) == len("fix-login-") + 8, made["id"])
        check.equal((made["state"], made["priority"], made["created_by"]), ("ready", 1, "agent:one"))
        other = repo.worktree("other")
        check.equal(repo.reply("item", "show", "fix", cwd=other), made)
        check.equal(repo.git("status", "--porcelain", cwd=repo.root), "")


@case
def a_beginning_of_an_id_will_do_if_it_is_unique():
    with Items() as repo:
        repo.batch({"id": "one-11111111", "title": "One"}, {"id": "one-22222222", "title": "Other"})
        check.equal(repo.reply("item", "show", "one-1")["title"], "One")
        error = repo.refusal(8, "item", "show", "one")
        check.contains(error["message"], "one-11111111, one-22222222")
        check.contains(repo.refusal(4, "item", "show", "two")["hint"], "dibs item list")


@case
def ready_backlog_and_in_progress_follow_from_dependencies_and_leases():
    with Items() as repo:
        first = repo.add("First")
        second = repo.add("Second", "--depends-on", first)
        check.equal((repo.state(first), repo.state(second)), ("ready", "backlog"))
        repo.acquire(first)
        check.equal(repo.state(first), "in_progress")
        check.equal(repo.ids("ready"), [])
        repo.reply("claim", "release", f"item:{first}")
        repo.reply("item", "close", first)
        check.equal((repo.state(first), repo.state(second)), ("done", "ready"))
        repo.reply("item", "reopen", first)
        check.equal((repo.state(first), repo.state(second)), ("ready", "backlog"))


@case
def a_move_that_the_table_lacks_is_refused_with_the_legal_ones():
    with Items() as repo:
        item = repo.add("Work")
        repo.reply("item", "close", item)
        error = repo.refusal(8, "item", "update", item, "--state", "in_review")
        check.contains(error["hint"], "ready")
        repo.reply("item", "reopen", item)
        repo.reply("item", "update", item, "--state", "in_review")
        repo.reply("item", "update", item, "--state", "pending")
        check.contains(repo.refusal(8, "item", "update", item, "--state", "done")["hint"], "in_review")
        repo.reply("item", "update", item, "--state", "in_review")


@case
def a_table_of_the_teams_own_is_read_and_checked():
    with Items() as repo:
        folder = repo.root / ".dibs"
        folder.mkdir(exist_ok=True)
        (folder / "workflow.toml").write_text('preset = "folders"\n')
        item = repo.add("Work")
        check.equal(repo.state(item), "new")
        check.contains(repo.refusal(8, "item", "update", item, "--state", "signedoff")["hint"], "stamped")
        (folder / "workflow.toml").write_text('initial = "todo"\n[[state]]\nname = 5\n')
        check.contains(repo.refusal(64, "item", "list")["message"], ".dibs/workflow.toml:3")


@case
def whoever_does_not_hold_an_item_may_comment_and_label_but_not_change_it():
    with Items() as repo:
        item = repo.add("Work")
        repo.acquire(item, agent="agent:two")
        error = repo.refusal(3, "item", "update", item, "--title", "Mine")
        check.contains(error["message"], "agent:two")
        repo.reply("item", "comment", item, "how is it going?")
        shown = repo.reply("item", "update", item, "--label", "urgent")
        check.equal((shown["labels"], shown["comments"][0]["text"]), (["urgent"], "how is it going?"))
        repo.reply("item", "update", item, "--title", "Theirs", agent="agent:two")
        repo.run("config", "set", "worktree.enforce_leases", "warn").expect(0)
        reply = repo.run("--json", "item", "update", item, "--title", "Mine").expect(0)
        check.contains("".join(reply.warnings()), "held by agent:two")


@case
def a_dependency_that_closes_a_circle_is_refused_and_shown():
    with Items() as repo:
        repo.batch({"id": "a", "title": "A"}, {"id": "b", "title": "B", "depends_on": ["a"]},
                   {"id": "c", "title": "C", "depends_on": ["b"]})
        error = repo.refusal(8, "item", "dep", "add", "a", "c")
        check.contains(error["message"], "a → c → b → a")
        check.contains(repo.refusal(8, "item", "dep", "add", "a", "a")["message"], "a → a")
        batch = '{"id":"x","title":"X","depends_on":["y"]}\n{"id":"y","title":"Y","depends_on":["x"]}\n'
        check.contains(repo.refusal(8, "item", "add", "--batch", "-", stdin=batch.encode())["message"], "x → y → x")
        check.equal(sorted(repo.ids("item", "list")), ["a", "b", "c"])


@case
def circles_that_are_there_already_are_shown_and_hold_only_their_members():
    with Items() as repo:
        repo.batch({"id": "a", "title": "A"}, {"id": "b", "title": "B", "depends_on": ["a"]}, {"id": "free", "title": "F"})
        text = repo.git("show", "refs/dibs/items:" + path_of(repo, "a"), cwd=repo.root)
        repo.put_file(path_of(repo, "a"), text.replace('"depends_on":[]', '"depends_on":["b"]') + "\n")
        check.equal(repo.ids("ready"), ["free"])
        check.equal(repo.reply("blocked")["cycles"], [["a", "b"]])


def path_of(repo, item):
    paths = repo.git("ls-tree", "-r", "--name-only", "refs/dibs/items", cwd=repo.root).splitlines()
    return next(path for path in paths if path.endswith(f"/{item}.json"))


@case
def blocked_says_what_for():
    with Items() as repo:
        repo.batch({"id": "a", "title": "A"}, {"id": "b", "title": "B"},
                   {"id": "c", "title": "C", "depends_on": ["a", "b", "ghost"]})
        repo.reply("item", "close", "b", "--rejected", "--reason", "a duplicate")
        only = repo.reply("blocked")["items"]
        check.equal([(item["id"], [(by["id"], by["why"]) for by in item["blocked_by"]]) for item in only],
                    [("c", [("a", "unfinished"), ("b", "dropped"), ("ghost", "missing")])])
        repo.reply("item", "dep", "rm", "c", "ghost", "b")
        repo.reply("item", "close", "a")
        check.equal(repo.ids("ready"), ["c"])


@case
def the_graph_shows_nothing_before_what_it_depends_on():
    with Items() as repo:
        repo.batch({"id": "c", "title": "C", "priority": 0}, {"id": "b", "title": 'say "b"'}, {"id": "a", "title": "A"})
        repo.reply("item", "dep", "add", "c", "b")
        repo.reply("item", "dep", "add", "b", "a")
        check.equal(repo.ids("graph"), ["a", "b", "c"])
        check.equal(json.loads(repo.run("graph", "--format", "json").expect(0).out)["count"], 3)
        dot = repo.run("graph", "--format", "dot").expect(0).out
        check.contains(dot, '  "a" -> "b";')
        check.contains(dot, 'label="say \\"b\\" (backlog)"')
        check.contains(repo.run("graph").expect(0).out, "  after b")


@case
def the_more_urgent_comes_first_then_what_most_wait_for_then_the_shorter():
    with Items() as repo:
        repo.run("config", "set", "schedule.oldest_every", "0").expect(0)
        repo.batch({"id": "plain", "title": "P"}, {"id": "short", "title": "S", "estimate_min": 5},
                   {"id": "root", "title": "R"}, {"id": "leaf", "title": "L", "depends_on": ["root"]},
                   {"id": "urgent", "title": "U", "priority": 0})
        check.equal(repo.ids("ready"), ["urgent", "root", "short", "plain"])
        check.equal(repo.ids("ready", "--limit", "2"), ["urgent", "root"])
        explained = repo.reply("next", "--explain")
        check.equal(explained["item"]["id"], "urgent")
        check.equal([other["id"] for other in explained["explanation"]["runners_up"]], ["root", "short", "plain"])


@case
def next_takes_what_it_names():
    with Items() as repo:
        repo.run("config", "set", "schedule.oldest_every", "0").expect(0)
        repo.batch({"id": "a", "title": "A", "priority": 0, "body": "what to do"}, {"id": "b", "title": "B"})
        looked = repo.reply("next")
        check.equal((looked["item"]["id"], looked["item"]["state"]), ("a", "ready"))
        taken = repo.reply("next", "--claim")
        check.has_fields(taken, LEASE_FIELDS | {"item"})
        check.equal((taken["item"]["id"], taken["item"]["body"], taken["resource"]), ("a", "what to do", "item:a"))
        started = repo.reply("next", "--start", agent="agent:two")
        check.equal((started["item"]["id"], started["path"]), ("b", f"{repo.root}.worktrees/b"))
        check.contains(repo.refusal(6, "next", "--claim")["hint"], "dibs blocked")


def lands(repo, *items, agent="agent:one"):
    """Each started, worked on and landed."""
    for item in items:
        path = type(repo.root)(repo.reply("start", item, agent=agent)["path"])
        (path / item).write_text("work\n")
        repo.git("add", "-A", cwd=path)
        repo.git("commit", "-q", "-m", f"add {item}", cwd=path)
        repo.reply("done", agent=agent, cwd=path)


def with_agents(repo, text):
    (repo.root / ".dibs").mkdir(exist_ok=True)
    (repo.root / ".dibs/agents.toml").write_text(text)
    repo.run("config", "set", "schedule.oldest_every", "0").expect(0)


def scores(repo, *more, agent="agent:one"):
    """By item: what `next --explain` says."""
    reply = repo.reply("next", "--explain", *more, agent=agent)
    explained = reply["explanation"]
    return {reply["item"]["id"]: explained["score"]} | {other["id"]: other["score"] for other in explained["runners_up"]}


@case
def next_prefers_the_type_that_a_worker_has_landed_before():
    with Items() as repo:
        with_agents(repo, '[agent."agent:w*"]\ncapacity = 3\n[agent."agent:other"]\ncapacity = 3\n')
        repo.batch(*({"id": f"{kind}{n}", "title": "T", "type": kind} for kind in ("bug", "doc") for n in range(5)))
        lands(repo, "doc0", "doc1", agent="agent:w1")
        lands(repo, "bug0", agent="agent:other")
        repo.acquire("bug1", agent="agent:w2")
        repo.run("claim", "release", "bug1", agent="agent:w2").expect(0)
        seen = scores(repo, agent="agent:w1")
        # As if two had landed and two been lost before: 4 of 6 docs, and, with what its like gave up, 2 of 5 bugs.
        check.equal((seen["doc2"]["success"], seen["bug2"]["success"]), (13.33, 8.0))
        check.equal(repo.reply("next", "--claim", agent="agent:w1")["item"]["id"], "doc2")
        seen = scores(repo, agent="agent:other")
        check.equal((seen["doc3"]["success"], seen["bug2"]["success"]), (10.0, 12.0))
        check.contains(repo.run("next", "--explain", agent="agent:w1").expect(0).out, "success 13.33")
        repo.run("config", "set", "schedule.success", "0").expect(0)
        check.equal(scores(repo, agent="agent:w1")["doc3"]["success"], 0)


@case
def next_stays_in_the_files_that_a_worker_knows():
    with Items() as repo:
        with_agents(repo, '[agent."agent:one"]\ncapacity = 3\n')
        repo.batch({"id": "a", "title": "A", "files": ["src/auth/**"]}, {"id": "b", "title": "B", "files": ["docs/**"]},
                   {"id": "c", "title": "C", "files": ["src/*/login.c"]}, {"id": "d", "title": "D"})
        lands(repo, "a")
        seen = scores(repo)
        check.equal([seen[item]["same files"] for item in "bcd"], [0, 15, 0])
        check.equal(repo.reply("next", "--claim")["item"]["id"], "c")
        repo.run("claim", "release", "c").expect(0)
        check.equal(scores(repo, agent="agent:two")["c"]["same files"], 0, "another worker")


@case
def a_workers_past_is_only_read_where_it_could_decide():
    with Items() as repo:
        with_agents(repo, '[agent."agent:one"]\ncapacity = 3\n')
        repo.batch({"id": "a", "title": "A"}, {"id": "b", "title": "B", "priority": 1}, {"id": "c", "title": "C", "priority": 3})
        lands(repo, "a")
        check.equal(scores(repo)["b"]["success"], 10.0, "one of its priority")
        repo.batch({"id": "e", "title": "E", "priority": 1})
        check.equal(scores(repo)["b"]["success"], 12.0)


@case
def next_passes_over_what_overlaps_with_somebodys_files_while_there_is_another():
    with Items() as repo:
        repo.run("config", "set", "schedule.oldest_every", "0").expect(0)
        repo.batch({"id": "held", "title": "H", "files": ["src/auth/**"]},
                   {"id": "same", "title": "S", "priority": 0, "files": ["src/*/login.c"]},
                   {"id": "other", "title": "O", "files": ["docs/**"]})
        repo.acquire("held", agent="agent:two")
        check.equal(repo.reply("next", "--claim")["item"]["id"], "other")
        last = repo.reply("next")
        check.equal(last["item"]["id"], "same")
        check.contains(last["overlap"], "src/auth/login.c")
        repo.run("config", "set", "schedule.overlapping", "never").expect(0)
        repo.refusal(6, "next")


@case
def done_closes_the_item_in_the_same_step():
    with Items() as repo:
        first = repo.add("First")
        second = repo.add("Second", "--depends-on", first)
        started = repo.reply("start", first)
        (repo.dir / "x").write_text("x")
        repo.git("commit", "-q", "--allow-empty", "-m", "work", cwd=started["path"])
        landed = repo.reply("done", cwd=started["path"])
        check.equal(landed["item_state"], "done")
        check.equal((repo.state(first), repo.ids("ready")), ("done", [second]))
        check.contains(repo.reply("item", "history", first)["revisions"][0]["message"], "landed")


@case
def what_is_broken_is_shown_and_left_alone_and_hides_nothing():
    with Items() as repo:
        repo.batch({"id": "good", "title": "G"}, {"id": "bad", "title": "B"})
        broken = '{\n  "id": "bad",\n  "title": oops\n}\n'
        path = path_of(repo, "bad")
        repo.put_file(path, broken)
        listing = repo.reply("item", "list")
        check.equal([item["id"] for item in listing["items"]], ["good"])
        check.equal([(entry["file"], entry["line"]) for entry in listing["broken"]], [(path, 3)])
        check.contains(repo.run("ready").expect(0).err, f"{path}:3")
        repo.reply("item", "update", "good", "--priority", "0")
        check.equal(repo.git("show", f"refs/dibs/items:{path}", cwd=repo.root) + "\n", broken)
        for text, why in (('{"id":"other","title":"O"}', "belongs in"), ('{"id":"bad"}', "title is empty"),
                          ('{"id":"bad","title":"' + "x" * (5 * 1024 * 1024) + '"}', "at most")):
            repo.put_file(path, text)
            check.contains(repo.reply("item", "list")["broken"][0]["why"], why)
        repo.put_file(path, '{"id":"bad","title":"mended"}')
        check.equal(repo.reply("item", "list")["broken"], [])
        check.equal(sorted(repo.ids("ready")), ["bad", "good"])


@case
def a_batch_is_all_or_nothing():
    with Items() as repo:
        for lines, why in (('{"title":"A"}\nnonsense\n', "line 2"), ('{"title":"A","priority":9}\n', "priority"),
                           ('{"id":"a","title":"A"}\n{"id":"a","title":"B"}\n', "twice"), ("\n", "empty")):
            check.contains(repo.refusal(64, "item", "add", "--batch", "-", stdin=lines.encode())["message"], why)
        check.equal(repo.ids("item", "list"), [])
        made = repo.batch({"title": "A"}, {"title": "B", "severity": {"level": 3}})
        check.equal(made["count"], 2)
        check.equal(repo.git("rev-list", "--count", "refs/dibs/items", cwd=repo.root), "1")
        check.equal(repo.reply("item", "show", made["ids"][1])["severity"], {"level": 3})
        check.contains(repo.refusal(8, "item", "add", "--batch", "-", stdin=json.dumps({"id": made["ids"][0], "title": "A"}).encode())
                       ["message"], "already")


@case
def many_that_change_items_at_once_lose_nothing():
    with Items() as repo:
        shared = repo.add("Shared")
        with ThreadPoolExecutor(16) as pool:
            added = list(pool.map(lambda n: repo.add(f"Item {n}", agent=f"agent:w{n}"), range(24)))
            list(pool.map(lambda n: repo.reply("item", "update", shared, "--label", f"label-{n}", agent=f"agent:w{n}"),
                          range(24)))
        check.equal(len(set(added)), 24)
        check.equal(sorted(repo.reply("item", "show", shared)["labels"]), sorted(f"label-{n}" for n in range(24)))
        check.equal(sorted(repo.ids("item", "list")), sorted([*added, shared]))
        check.equal(repo.git("rev-list", "--count", "refs/dibs/items", cwd=repo.root), "49")


@case
def the_index_is_only_a_memory():
    with Items() as repo:
        ids = repo.batch(*({"title": f"Item {n}", "priority": n % 5} for n in range(200)))["ids"]
        for n in range(80):
            repo.reply("item", "update", ids[n], "--label", f"l{n}")
        def answers():
            return (repo.ids("ready"), repo.ids("item", "list", "--label", "l7"), repo.reply("blocked")["items"])
        kept = answers()
        index = repo.root / ".git/dibs/items.index"
        index.unlink()
        check.equal(answers(), kept)
        bytes_ = index.read_bytes()
        for spoilt in (b"", bytes_[:100], b"x" * len(bytes_), bytes_[:-1]):
            index.write_bytes(spoilt)
            check.equal(answers(), kept)
        changes = repo.root / ".git/dibs/items.changes"
        repo.reply("item", "update", ids[3], "--label", "late")
        changes.write_bytes(b'{"from":"torn')
        check.equal(repo.ids("item", "list", "--label", "late"), [ids[3]])


if __name__ == "__main__":
    main()
