#!/usr/bin/env python3
"""`item fail` counts tries and keeps what was said, wherever items are kept; `next --except` leaves items alone."""

import json

from harness import Repo, case, check, main


class Items(Repo):
    def __init__(self, source=None):
        super().__init__(commit=True)
        if source:
            self.run("config", "set", "items.source", source).expect(0)

    def put(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def add(self, *names):
        lines = "".join(json.dumps({"id": name, "title": name}) + "\n" for name in names)
        self.run("item", "add", "--batch", "-", stdin=lines.encode()).expect(0)

    def item(self, name):
        return self.reply("item", "show", name)


@case
def a_failure_is_a_try_and_a_comment():
    with Items() as repo:
        repo.add("a")
        reply = repo.reply("item", "fail", "a", "--reason", "no luck", "--output", "one\ntwo")
        check.equal((reply["tries"], reply["state"], reply["parked"]), (1, "ready", False))
        check.equal(repo.item("a")["comments"][0]["text"], "try 1 failed: no luck\n\none\ntwo")


@case
def the_third_failure_parks_it_and_taking_it_up_counts_anew():
    with Items() as repo:
        repo.add("a")
        parked = [repo.reply("item", "fail", "a")["parked"] for _ in range(3)]
        check.equal(parked, [False, False, True])
        check.equal(repo.item("a")["state"], "pending")
        repo.run("next").expect(6)
        repo.run("item", "update", "a", "--state", "ready").expect(0)
        check.true("tries" not in repo.item("a"), "tries begin anew")


@case
def how_many_failures_are_too_many_can_be_said():
    with Items() as repo:
        repo.add("a", "b")
        check.equal(repo.reply("item", "fail", "a", "--max-tries", "1")["parked"], True)
        check.equal(repo.reply("item", "fail", "b", "--park")["parked"], True)


@case
def of_long_output_the_end_is_kept_and_nothing_in_it_reaches_a_terminal():
    with Items() as repo:
        repo.add("a")
        output = b"begin\n" + b"x" * 10_000 + b"\n\x1b[2Jthe \xff end\n"
        repo.run("item", "fail", "a", "--output", "-", stdin=output).expect(0)
        text = repo.item("a")["comments"][0]["text"]
        check.absent(text, "begin")
        check.absent(text, "\x1b")
        check.contains(text, "end")
        check.true(len(text) < 5000, f"{len(text)} bytes are kept")


@case
def only_the_holder_says_that_an_item_failed():
    with Items() as repo:
        repo.add("a")
        repo.acquire("a")
        check.contains(repo.refusal(3, "item", "fail", "a", agent="agent:two")["message"], "agent:one")
        repo.run("item", "fail", "a").expect(0)
        check.equal(repo.holder("a"), "agent:one", "the lease stays")


@case
def an_item_that_is_not_there_is_told():
    with Items() as repo:
        repo.refusal(4, "item", "fail", "nothing")


@case
def tries_are_kept_in_tasks_of_aitasks():
    with Items("aitasks") as repo:
        repo.put("aitasks/t1_first.md", "---\nstatus: Ready\n---\n\nDo it.\n")
        for tries in (1, 2):
            check.equal(repo.reply("item", "fail", "t1")["tries"], tries)
        check.contains((repo.root / "aitasks/t1_first.md").read_text(), '"tries":2')


@case
def tries_are_kept_in_issues_of_beads():
    with Items("beads") as repo:
        repo.put(".beads/issues.jsonl", json.dumps({"id": "bd-1", "title": "First", "status": "open"}) + "\n")
        for tries in (1, 2):
            check.equal(repo.reply("item", "fail", "bd-1")["tries"], tries)
        check.equal(repo.item("bd-1")["tries"], 2)


@case
def tries_are_kept_in_folders():
    with Items() as repo:
        repo.put("docs/work/features/readyfordevelopment/a/README.md", "# A\n")
        repo.git("add", "-A", cwd=repo.root)
        repo.git("commit", "-q", "-m", "work", cwd=repo.root)
        repo.run("config", "set", "items.source", "folders").expect(0)
        for tries in (1, 2):
            check.equal(repo.reply("item", "fail", "a")["tries"], tries)
        check.equal(repo.reply("item", "fail", "a")["state"], "pending")


@case
def next_passes_over_what_is_excepted():
    with Items() as repo:
        repo.add("a", "b")
        check.equal(repo.reply("next", "--except", "a")["item"]["id"], "b")
        check.equal(repo.reply("next", "--except", "b", "--claim")["item"]["id"], "a")
        repo.run("next", "--except", "a", "--except", "b").expect(6)


if __name__ == "__main__":
    main()
