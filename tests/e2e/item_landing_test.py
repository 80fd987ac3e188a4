"""`done` where leases and items are on a git remote: target, lease and item move in one push, or none of them."""

import json

from harness import add_case, check, main
from landing_site import GitSite

LAYOUTS = ("refs", "branches", "lock-branch")
# Keeps a line for every push: the refs that it moves.
PUSHES = """#!/bin/sh
while read old new name; do printf '%s ' "$name"; done >> {0}
echo >> {0}
"""
NO_ITEMS = """#!/bin/sh
while read old new name; do test "$name" != refs/dibs/items || { echo no items here >&2; exit 1; }; done
"""


class ItemSite(GitSite):
    def add(self, title, clone=None):
        return (clone or self).reply("item", "add", title)["id"]

    def state_there(self, item):
        """As the remote has it."""
        paths = self.on_target("ls-tree", "-r", "--name-only", "refs/dibs/items").splitlines()
        path = next(path for path in paths if item in path)
        return json.loads(self.on_target("show", f"refs/dibs/items:{path}"))

    def hook(self, name, text):
        hook = self.remote.path / "hooks" / name
        hook.write_text(text)
        hook.chmod(0o755)

    def same_here_and_there(self):
        return self.on_target("rev-parse", "refs/dibs/items") == self.git("rev-parse", "refs/dibs/items", cwd=self.root)


def on_every_layout(function):
    for layout in LAYOUTS:
        def run(layout=layout):
            with ItemSite(layout=layout) as site:
                function(site)
        add_case(f"{function.__name__.replace('_', ' ')} ({layout})", run)
    return function


@on_every_layout
def target_lease_and_item_move_in_one_push(site):
    item = site.add("First")
    made = site.start(item)
    site.work(made)
    pushes = site.dir / "pushes"
    site.hook("post-receive", PUSHES.format(pushes))
    landed = site.reply("done", cwd=made["path"])
    check.equal((landed["item_state"], site.state_there(item)["state"]), ("done", "done"))
    lines = pushes.read_text().splitlines()
    check.equal(len(lines), 1, "pushes of `done`")
    check.true({"refs/heads/main", "refs/dibs/items"} < set(lines[0].split()), lines[0])
    check.true(site.same_here_and_there(), "the clone's own items")
    check.equal(site.reply("item", "show", item)["state"], "done")
    check.contains(site.reply("item", "history", item)["revisions"][0]["message"], "landed")


@on_every_layout
def what_others_did_to_items_meanwhile_is_kept(site):
    item, made = (found := site.add("First")), site.start(found)
    site.work(made)
    other = site.another_clone()
    other.reply("item", "sync")
    other.reply("item", "comment", item, "mind the gap")
    second = site.add("Second", clone=other)
    check.equal(site.reply("done", cwd=made["path"])["item_state"], "done")
    there = site.state_there(item)
    check.equal((there["state"], [comment["text"] for comment in there["comments"]]), ("done", ["mind the gap"]))
    check.equal(site.state_there(second)["title"], "Second")
    check.true(site.same_here_and_there(), "the clone's own items")


@on_every_layout
def what_was_not_sent_before_goes_along(site):
    item = site.reply("item", "add", "Made alone", env={"DIBS_ITEMS_SYNC": "manual"})["id"]
    made = site.start(item)
    site.work(made)
    check.equal(site.reply("done", cwd=made["path"])["item_state"], "done")
    check.equal(site.state_there(item)["state"], "done")


@on_every_layout
def a_remote_that_takes_no_items_takes_the_landing(site):
    site.hook("pre-receive", NO_ITEMS)
    reply = site.run("item", "add", "Here only", "--json").expect(0)
    made = site.start(item := reply.json()["id"])
    site.work(made)
    landed = site.run("done", "--json", cwd=made["path"]).expect(0)
    check.equal(landed.json()["item_state"], "done")
    check.equal(site.reply("item", "show", item)["state"], "done")
    check.true(any("does not take dibs' items" in warning for warning in landed.warnings()), repr(landed))


@on_every_layout
def with_items_synced_by_hand_it_is_a_step_after(site):
    item = site.add("First")
    site.run("config", "set", "items.sync", "manual").expect(0)
    made = site.start(item)
    site.work(made)
    check.equal(site.reply("done", cwd=made["path"])["item_state"], "done")
    check.equal(site.reply("item", "show", item)["state"], "done")
    check.true(site.state_there(item)["state"] != "done", "it was sent by itself")


if __name__ == "__main__":
    main()
