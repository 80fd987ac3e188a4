"""A bare repository that serves as the remote, and clones of it with dibs set up on it."""

import json
import subprocess

from harness import DIBS, Repo, Scratch, check

HELD = 3


class Clone(Repo):
    """One clone; its scratch directory is the remote's."""

    def __init__(self, owner, name):  # noqa: the scratch directory is borrowed, so Repo's own is not made
        self.dir, self.home, self.env, self._processes = owner.dir, owner.home, owner.env, owner._processes
        self.root = owner.dir / name


class Remote(Scratch):
    clone_options = ()  # of `git clone`

    def __init__(self, clones, init=True, remote_format="sha1", layout="refs"):
        super().__init__()
        self.layout = layout
        self.path = self.dir / "remote.git"
        self.git("init", "-q", "--bare", "-b", "main", f"--object-format={remote_format}", self.path)
        seed = self.dir / "seed"
        self.git("init", "-q", "-b", "main", f"--object-format={remote_format}", seed)
        self.git("commit", "-q", "--allow-empty", "-m", "start", cwd=seed)
        self.git("push", "-q", self.path, "main", cwd=seed)
        self.clones = [self.clone(f"clone-{n}", init) for n in range(clones)]

    def address(self):
        """What clones know the remote by."""
        return self.path

    def clone(self, name, init=True):
        self.git("clone", "-q", *self.clone_options, self.address(), self.dir / name)
        clone = Clone(self, name)
        if init:
            clone.run("init", "--store", "git", "--layout", self.layout).expect(0)
        return clone

    def refs(self):
        """Name → commit of every ref that is dibs'."""
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/dibs", cwd=self.path).splitlines()
        return dict(line.split() for line in lines)

    def log_of(self, resource):
        """What the commits say that made the record of an item what it is, oldest first."""
        where = {"refs": [f"refs/dibs/r/item_3a{resource}"], "branches": [f"refs/dibs/r/item_3a{resource}"],
                 "lock-branch": ["refs/heads/aitask-locks", "--", f"t{resource}_lock.yaml"]}[self.layout]
        return self.git("log", "--reverse", "--format=%B", *where, cwd=self.path)

    def entries_of(self, resource):
        """The same as parsed lines of a log."""
        return [json.loads(line) for line in self.log_of(resource).splitlines() if line.startswith('{"schema_version"')]

    def race(self, resource):
        """All clones at once for one resource: the numbers of those that got it. All others must be told who did."""
        running = [subprocess.Popen([DIBS, "claim", "acquire", resource, "--json"], cwd=clone.root,
                                    env=self.environment(agent=f"agent:{n}"), stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                   for n, clone in enumerate(self.clones)]
        ends = [(process.communicate(timeout=300), process.returncode) for process in running]
        for (out, err), code in ends:
            check.true(code in (0, HELD), f"exit {code}: {out!r} {err!r}")
        return [n for n, (_, code) in enumerate(ends) if code == 0]
