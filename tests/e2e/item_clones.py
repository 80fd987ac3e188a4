"""Clones of one remote that exchange items."""

import json

from harness import check
from remote import Remote


class Clones(Remote):
    """Clones that exchange items only when told to."""

    def __init__(self, clones, sync="manual"):
        super().__init__(clones)
        self.env["DIBS_ITEMS_SYNC"] = sync

    def sync(self, *clones):
        return [clone.reply("item", "sync") for clone in clones or self.clones]

    def sync_twice(self):
        """The last clone's changes get to the first in the second round."""
        self.sync()
        self.sync()

    def all_alike(self):
        """All clones and the remote have the same items; they."""
        tips = {self.git("rev-parse", "refs/dibs/items", cwd=where)
                for where in [self.path, *(clone.root for clone in self.clones)]}
        check.equal(len(tips), 1, "commits that clones and remote are at")
        return items_of(self.clones[0])


def add(clone, title, *args, **more):
    return clone.reply("item", "add", title, *args, **more)["id"]


def items_of(clone):
    """Id → item, finished ones too, read from the ref and not by dibs."""
    paths = clone.git("ls-tree", "-r", "--name-only", "refs/dibs/items", cwd=clone.root).splitlines()
    texts = [clone.git("show", f"refs/dibs/items:{path}", cwd=clone.root) for path in paths]
    items = [json.loads(text) for text in texts]
    check.equal(len({item["id"] for item in items}), len(items), "items by id")
    return {item["id"]: item for item in items}
