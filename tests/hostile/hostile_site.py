"""A repository in the middle of what must not be touched, and how an attack on it is judged.

Every case is a line of a table. It runs dibs once or more, and afterwards:
  - dibs ended by itself, with an exit code of the contract, and an error is one with words
  - nothing of the attack reached the terminal raw
  - no trap was sprung: a trap is a program that only somebody who means harm would have run
  - outside `.git/dibs`, and what the case names, not a byte changed
"""

import hashlib
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from harness import DIBS, HANG_SECS, Repo, add_case, case, check, main, sealed  # noqa: E402,F401  for the tables too
from remote import Clone, Remote  # noqa: E402

EXIT_CODES = {0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 64}
OUTPUT_MAX = 64 * 1024
# Below the scratch directory. What dibs keeps in `.git/dibs` always may.
ITEMS = ("repo/.git/objects/", "repo/.git/refs/dibs/", "repo/.git/logs/refs/dibs/")
# Making a worktree and landing its work, as `start` and `done` promise.
WORK = (*ITEMS, "repo/.git/refs/heads/", "repo/.git/logs/", "repo/.git/worktrees/", "repo.worktrees/", "repo/.git/index",
        "repo/.git/HEAD", "repo/.git/config", "repo/landed")
INVISIBLE = "\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"


def fingerprint(path):
    """What stands at a path, told from anything else that could."""
    status = path.lstat()
    if path.is_symlink():
        return "link", os.readlink(path)
    if path.is_file():
        return "file", status.st_mode, hashlib.sha256(path.read_bytes()).hexdigest()
    return "directory" if path.is_dir() else "other", status.st_mode


def snapshot(directory, may_change=()):
    """Every path below a directory with its fingerprint, but for those that may change. No link is followed."""
    def looked_at(name):
        return not f"{name}/".startswith(may_change) and name not in may_change

    seen = {}
    for folder, folders, files in os.walk(directory):
        below = os.path.relpath(folder, directory)
        names = {name: os.path.normpath(os.path.join(below, name)) for name in folders + files}
        folders[:] = [name for name in folders if looked_at(names[name])]
        for path in filter(looked_at, names.values()):
            seen[path] = fingerprint(Path(directory, path))
    return seen


def check_same(before, after, what):
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    check.equal(changed, [], f"{what}: changed although nobody may")


def check_harmless(text, what):
    for character in text:
        code = ord(character)
        raw = (code < 0x20 and character not in "\n\t") or 0x7F <= code <= 0x9F or character in INVISIBLE
        check.true(not raw, f"{what}: raw character U+{code:04X} in {text[:300]!r}")
    check.true(len(text) <= OUTPUT_MAX, f"{what}: {len(text)} characters of output")


class Site:
    """Mixed into a scratch directory: traps, a file that is not to be touched, and the judgement."""

    def arm(self):
        (self.dir / "outside").mkdir()
        self.canary = self.dir / "outside/canary"
        self.canary.write_text("not to be touched\n")
        self.sprung = self.dir / "sprung"
        self.sprung.mkdir()

    def trap(self, name):
        """A program that notes that it was run; its path."""
        path = self.dir / f"trap-{name}"
        if not path.exists():
            path.write_text(f"#!/bin/sh\n: >'{self.sprung}/{name}'\nexit 1\n")
            path.chmod(0o755)
        return path

    def check_no_trap_sprung(self, what):
        traps = sorted(path.name for path in self.sprung.iterdir())
        for path in self.sprung.iterdir():
            path.unlink()
        check.equal(traps, [], f"{what}: traps that were sprung")

    def attack(self, *words, codes=EXIT_CODES, may_change=(), **more):
        """dibs with these words, judged; its answer."""
        may_change = (f"{self.root.name}/.git/dibs/", *may_change)
        before = snapshot(self.dir, may_change)
        reply = self.run(*words, **more)
        what = f"dibs {words!r:.200}"
        check.true(reply.code in codes, f"wanted one of {sorted(codes)}\n  {reply!r}")
        if reply.code:
            check.true("error: " in reply.err or '"error"' in reply.err, f"no error is told\n  {reply!r}")
        check_harmless(reply.out, what)
        check_harmless(reply.err, what)
        self.check_no_trap_sprung(what)
        check_same(before, snapshot(self.dir, may_change), what)
        return reply


class HostileRepo(Site, Repo):
    """One commit, who the user is, and dibs on the local store."""

    def __init__(self, init=True):
        super().__init__(init=False)
        self.arm()
        (self.root / "file").write_text("text\n")
        self.git("add", "file", cwd=self.root)
        self.commit()
        if init:
            self.run("init").expect(0)


class HostileClone(Site, Clone):
    """A clone with dibs on its remote, which is `site.remote`."""

    def __init__(self, layout="refs"):
        self.remote = Remote(1, layout=layout)
        super().__init__(self.remote, "clone-0")
        self.arm()

    def point_to(self, address):
        self.git("remote", "set-url", "origin", address, cwd=self.root)


_SITES = {}


def shared(make):
    """The site that all cases of a table share, made when the first needs it. Cases leave it as they found it."""
    if make not in _SITES:
        _SITES[make] = make()
    return _SITES[make]


def run_tables():
    try:
        main()
    finally:
        for site in _SITES.values():
            site.__exit__()
