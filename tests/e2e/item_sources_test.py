"""Items where other tools keep them: dibs is pointed at their files and changes nothing but what it is told to."""

import json

from harness import Repo, add_case, case, check, main

TASK = """---
priority: high   # said on Monday
effort: medium
depends: [108]
issue_type: feature
status: Ready
labels: [bash, ui]
assigned_to:
created_at: 2026-02-13 02:35
color: blue
---

## Problem

It races.
"""
BEADS = [
    {"id": "bd-1", "title": "First", "status": "open", "priority": 1, "issue_type": "bug", "zeta": [1, {"a": None}]},
    {"id": "bd-2", "title": "Second", "status": "open", "priority": 0,
     "dependencies": [{"issue_id": "bd-2", "depends_on_id": "bd-1", "type": "blocks"}]},
]


class Sources(Repo):
    def __init__(self, source=None):
        super().__init__(commit=True)
        if source:
            self.run("config", "set", "items.source", source).expect(0)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def ids(self, *command):
        return [item["id"] for item in self.reply(*command)["items"]]


def lines(items):
    return "".join(json.dumps(item) + "\n" for item in items)


@case
def aitasks_are_items_and_a_change_touches_its_own_line():
    with Sources("aitasks") as repo:
        path = repo.write("aitasks/t109_lock_tasks.md", TASK)
        repo.write("aitasks/t108_before.md", "---\nstatus: Ready\n---\n")
        check.equal(repo.ids("ready"), ["t108"])
        shown = repo.reply("item", "show", "t109")
        check.equal((shown["state"], shown["priority"], shown["labels"], shown["depends_on"]),
                    ("backlog", 1, ["bash", "ui"], ["t108"]))
        repo.reply("item", "update", "t109", "--priority", "3")
        now = path.read_text().splitlines()
        changed = [line for line in now if line not in TASK.splitlines()]
        check.equal(len(changed), 2, f"priority and updated_at: {changed}")
        check.contains(path.read_text(), "color: blue")
        made = repo.reply("item", "add", "Write it down", "--depends-on", "t109")
        check.equal(made["id"], "t110")
        check.true((repo.root / "aitasks/t110_write_it_down.md").is_file(), "the new task's file")


TREES = {"aitasks": ("t1", "aitasks/t1_one.md", "---\nstatus: Ready\ncolor: blue\n---\nbody\n", "status: Done"),
         "beads": ("bd-1", ".beads/issues.jsonl", lines(BEADS), '"status":"closed"'),
         "tree": ("one", ".dibs/items/one.json", '{"id": "one", "title": "One", "mine": [1]}\n', '"state":"done"')}


def landing_in(kind):
    """A repository whose target has one item of this kind, and a worktree where work on it is committed."""
    repo = Sources(kind)
    item, path, text, _ = TREES[kind]
    repo.write(path, text)
    repo.git("add", "-A", cwd=repo.root)
    repo.git("commit", "-q", "-m", "items", cwd=repo.root)
    place = repo.reply("start", item)["path"]
    repo.git("commit", "-q", "--allow-empty", "-m", "the work", cwd=place)
    return repo, place


def done_closes_the_item_on_top_of_what_lands(kind):
    item, path, text, closed = TREES[kind]
    repo, place = landing_in(kind)
    with repo:
        landed = repo.reply("done", cwd=place)
        check.equal(landed["item_state"], "done")
        check.equal(repo.reply("item", "show", item)["state"], "done")
        now = repo.git("show", f"main:{path}", cwd=repo.root)
        check.contains(now.replace(": ", ":").replace("status:Done", "status: Done"), closed)
        check.equal((repo.root / path).read_text().strip(), now, "the user's own checkout")
        check.equal(repo.git("status", "--porcelain", cwd=repo.root), "")
        check.equal(repo.git("diff", "--name-only", "main~1", "main", cwd=repo.root), path, "what its commit changes")
        for kept in ("color: blue", "body", "zeta", "mine"):
            check.equal(kept in now, kept in text, kept)


def an_item_that_the_work_closed_itself_is_left_as_it_is(kind):
    item, path, _, _ = TREES[kind]
    repo, place = landing_in(kind)
    with repo:
        repo.reply("item", "update", item, "--state", "done", cwd=place)
        repo.git("commit", "-q", "-a", "-m", "closed", cwd=place)
        mine = repo.git("show", f"HEAD:{path}", cwd=place)
        repo.reply("done", cwd=place)
        check.equal(repo.git("show", f"main:{path}", cwd=repo.root), mine)
        check.contains(repo.git("log", "-1", "--format=%s", "main", cwd=repo.root), "Land")


for each_kind in TREES:
    for promise in (done_closes_the_item_on_top_of_what_lands, an_item_that_the_work_closed_itself_is_left_as_it_is):
        add_case(f"{promise.__name__.replace('_', ' ')} ({each_kind})", lambda kind=each_kind, run=promise: run(kind))


@case
def beads_are_items_and_the_other_lines_stay():
    with Sources("beads") as repo:
        path = repo.write(".beads/issues.jsonl", lines(BEADS))
        check.equal(repo.ids("ready"), ["bd-1"])
        taken = repo.reply("next", "--claim")
        check.equal(taken["item"]["id"], "bd-1")
        repo.reply("item", "close", "bd-1")
        check.equal(repo.ids("ready"), ["bd-2"])
        first, second = path.read_text().splitlines()
        check.equal(second, lines(BEADS[1:]).strip())
        check.equal((json.loads(first)["status"], json.loads(first)["zeta"]), ("closed", [1, {"a": None}]))


@case
def files_in_the_tree_are_items():
    with Sources("tree") as repo:
        made = repo.reply("item", "add", "Fix login", "--label", "auth")
        files = list((repo.root / ".dibs/items").glob("*.json"))
        check.equal([json.loads(file.read_text())["id"] for file in files], [made["id"]])
        repo.reply("item", "update", "fix", "--state", "in_review")
        check.equal(repo.reply("item", "show", "fix")["state"], "in_review")


@case
def what_is_broken_is_named_with_its_line_and_left_as_it_is():
    with Sources("aitasks") as repo:
        repo.write("aitasks/t1_good.md", "---\nstatus: Ready\n---\n")
        texts = {"aitasks/t2_open.md": b"---\nstatus: Ready\n", "aitasks/t3_bytes.md": b"---\nstatus: \xff\xfe\n---\n",
                 "aitasks/t4_twice.md": b"---\nstatus: Ready\nstatus: Done\n---\n"}
        for name, text in texts.items():
            repo.write(name, text)
        repo.write("aitasks/t5_windows.md", "---\r\nstatus: Ready\r\npriority: low\r\n---\r\nbody\r\n")
        listing = repo.reply("item", "list")
        check.equal(sorted(item["id"] for item in listing["items"]), ["t1", "t5"])
        check.equal(sorted(entry["file"] for entry in listing["broken"]), sorted(texts))
        repo.reply("item", "update", "t5", "--priority", "1")
        check.contains((repo.root / "aitasks/t5_windows.md").read_bytes().decode(), "status: Ready\r\npriority: high\r\n")
        for name, text in texts.items():
            check.equal((repo.root / name).read_bytes(), text)


@case
def what_was_imported_is_exported_byte_for_byte():
    with Sources() as repo:
        path = repo.write("in.jsonl", lines(BEADS))
        check.equal(repo.reply("item", "import", "--from", "beads", str(path))["added"], 2)
        check.equal(repo.reply("item", "import", "--from", "beads", str(path))["unchanged"], 2)
        check.equal(repo.git("rev-list", "--count", "refs/dibs/items", cwd=repo.root), "1")
        check.equal(repo.ids("ready"), ["bd-1"])
        out = repo.root / "out.jsonl"
        check.equal(repo.reply("item", "export", "--to", "beads", str(out))["count"], 2)
        check.equal(out.read_bytes(), path.read_bytes())
        repo.reply("item", "export", "--to", "json", str(repo.root / "all.jsonl"))
        check.equal([json.loads(line)["id"] for line in (repo.root / "all.jsonl").read_text().splitlines()], ["bd-1", "bd-2"])


@case
def a_claim_means_the_item_that_begins_so():
    with Sources() as repo:
        item = repo.reply("item", "add", "Fix login")["id"]
        after = repo.reply("item", "add", "Ship it", "--depends-on", item)["id"]
        check.equal(repo.acquire("fix")["resource"], f"item:{item}")
        check.equal(repo.reply("claim", "status", "fix")["resource"], f"item:{item}")
        check.contains(repo.refusal(8, "claim", "acquire", "ship")["message"], f"{after} waits for {item}")
        repo.reply("item", "close", "fix")
        repo.reply("claim", "release", "fix")
        check.contains(repo.refusal(8, "start", "fix")["hint"], "dibs item reopen")
        reply = repo.run("--json", "claim", "acquire", "elsewhere-7").expect(0)
        check.contains("".join(reply.warnings()), "leased as written")
        repo.run("config", "set", "items.require", "true").expect(0)
        repo.refusal(4, "claim", "acquire", "elsewhere-8")
        check.equal(repo.acquire("ship")["resource"], f"item:{after}")


if __name__ == "__main__":
    main()
