"""Places to land in: the same repository with its leases beside it, or on a git remote. What landing and zombie tests share.

    @on_every_store
    def work_lands(site):
        made = site.start("42")
        site.work(made)
        site.reply("done", cwd=made["path"])
"""

import os
import subprocess
import time
from pathlib import Path

from harness import Repo, add_case, check
from remote import Clone, Remote

START_FILES = {"README": "read me\n", "lines": "".join(f"line {n}\n" for n in range(40)), "other": "other\n"}


class LandingSite:
    """What both places can do; mixed into a Repo."""

    def start(self, item, *more, **options):
        return self.reply("start", item, *more, **options)

    def write(self, path, text):
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit_all(self, tree, message="work"):
        self.git("add", "-A", cwd=tree)
        self.git("commit", "-q", "-m", message, cwd=tree)
        return self.git("rev-parse", "HEAD", cwd=tree)

    def work(self, made, name="work", text="work\n", message="work"):
        """A file, and a commit that has it."""
        self.write(Path(made["path"]) / name, text)
        return self.commit_all(made["path"], message)

    def first_parents(self):
        """The commits of the target, newest first."""
        return self.on_target("rev-list", "--first-parent", "main").splitlines()

    def target(self):
        return self.on_target("rev-parse", "refs/heads/main")

    def file_on_target(self, name):
        return self.on_target("show", f"main:{name}")

    def files_on_target(self):
        return set(self.on_target("ls-tree", "-r", "--name-only", "-z", "main").strip("\0").split("\0"))

    def trailers(self, commit):
        text = self.on_target("log", "-1", "--format=%(trailers:only,unfold)", commit)
        return dict(line.split(": ", 1) for line in text.splitlines())

    def rescues(self):
        return self.reply("worktree", "rescue", "list")["rescues"]

    def branches(self):
        return set(self.git("for-each-ref", "--format=%(refname:short)", "refs/heads", cwd=self.root).splitlines())

    def state(self, tree):
        """All that must be as before when nothing happened: refs, leases, and the files and index of a worktree."""
        return {"refs": self.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/dibs",
                                 cwd=self.root),
                "target": self.target(),
                "leases": self.reply("claim", "list")["leases"],
                "head": self.git("rev-parse", "HEAD", cwd=tree),
                "status": self.git("status", "--porcelain=v2", "--untracked-files=all", cwd=tree),
                "files": {path: (Path(tree) / path).read_bytes() for path in sorted(os.listdir(tree))
                          if (Path(tree) / path).is_file()}}


class LocalSite(LandingSite, Repo):
    store_kind = "local"

    def __init__(self, object_format="sha1", init=True):
        Repo.__init__(self, init=False, object_format=object_format)
        for name, text in START_FILES.items():
            self.write(self.root / name, text)
        self.commit_all(self.root, "start")
        if init:
            self.run("init").expect(0)

    def on_target(self, *words):
        return self.git(*words, cwd=self.root)

    def move_target(self, name, text, message="news"):
        """Somebody else's commit on the target."""
        self.write(self.root / name, text)
        return self.commit_all(self.root, message)


class GitSite(LandingSite, Clone):
    """A clone whose leases are on its remote."""

    store_kind = "git"

    def __init__(self, object_format="sha1", init=True, layout=None):
        self.remote = Remote(clones=0, remote_format=object_format)
        Clone.__init__(self, self.remote, "clone")
        seed = self.dir / "seed"
        for name, text in START_FILES.items():
            self.write(seed / name, text)
        self.commit_all(seed, "start")
        self.git("push", "-q", self.remote.path, "main", cwd=seed)
        self.layout = layout
        self.remote.clone("clone", init=False)
        if init:
            self.set_up(self)

    def set_up(self, clone):
        clone.run("init", "--store", "git", *(["--layout", self.layout] if self.layout else [])).expect(0)

    def another_clone(self, name="another"):
        clone = self.remote.clone(name, init=False)
        self.set_up(clone)
        return clone

    def on_target(self, *words):
        return self.git(*words, cwd=self.remote.path)

    def move_target(self, name, text, message="news"):
        seed = self.dir / "seed"
        self.git("pull", "-q", "--ff-only", self.remote.path, "main", cwd=seed)
        self.write(seed / name, text)
        commit = self.commit_all(seed, message)
        self.git("push", "-q", self.remote.path, "main", cwd=seed)
        return commit


def run_hint(site, hint, marker):
    """Types what the hint says after `marker`, as a person would; the exit code."""
    check.contains(hint, marker)
    return subprocess.run(hint[hint.index(marker):], shell=True, cwd=site.root, env=site.env, capture_output=True,
                          timeout=60).returncode


def take_over(site, item, agent="agent:two"):
    """Another agent has the item from now on."""
    if site.store_kind == "local":
        time.sleep(1.2)
        return site.start(item, agent=agent)
    return site.start(item, "--strategy", "force", "--reason", "test", agent=agent)


def short_ttl(site):
    return ["--ttl", "1"] if site.store_kind == "local" else []


SITES = {"local": LocalSite, "git": GitSite}


def on_every_store(function):
    """Registers a case for each store; it gets a fresh site."""
    for kind, make in SITES.items():
        def run(make=make):
            with make() as site:
                function(site)
        add_case(f"{function.__name__.replace('_', ' ')} ({kind})", run)
    return function


def check_landed(site, reply, made):
    """One landing of `made` is on the target, whole, with its trailers, and the item is free."""
    check.equal(reply["released"], True)
    commit = reply["landed_commit"]
    check.true(commit in site.on_target("rev-list", "main").splitlines(), f"{commit} is not on the target")
    check.equal(site.trailers(commit), {
        "Dibs-Lease": made["lease_id"], "Dibs-Agent": made["agent_id"], "Dibs-Worktree": made["worktree_id"],
        "Dibs-Fence": str(made["fence"])}, "trailers")
    check.equal(site.holder(made["resource"]), None, "the lease")
