"""Symbolic links in `.git/dibs`, planted by whoever may write there or handed over with a copied repository: no file behind one is
written, made, locked or read as ours, and a directory that is one is no directory of ours."""

import os
import shutil

from hostile_site import WORK, HostileRepo, add_case, case, check, run_tables, shared

ACQUIRE = [["claim", "acquire", "x"], ["claim", "list"], ["claim", "release", "x"]]
ITEM = [["item", "add", "x"], ["item", "list"], ["ready"]]
UPKEEP = [["recover"], ["doctor"], ["doctor", "--fix"]]

# A file of ours, and the commands that read and write it.
FILES = {
    "claims.jsonl": ACQUIRE + UPKEEP,
    "claims.index.json": ACQUIRE + UPKEEP,
    "counters": ACQUIRE + [["metrics"]],
    "reserve": ACQUIRE + UPKEEP,
    "totals.json": [["metrics"]],
    "config.toml": [["config", "set", "worktree.mode", "auto"], ["config", "list"], *ACQUIRE],
    "worktree.json": [["worktree", "info"], *ACQUIRE],
    "worktree.lock": [["worktree", "init"], *ACQUIRE],
    "landing.json": ACQUIRE + UPKEEP,
    "trusted.json": [["trust"], ["gate", "list"]],
    "conflicts.cache": [["conflicts"]],
    "items.index": ITEM,
    "items.changes": ITEM,
    "items.moving": ITEM,
    "items.next": ITEM,
    "items.synced": ITEM,
    "locks/claims.lock": ACQUIRE,
    "locks/index.lock": ACQUIRE + UPKEEP,
    "locks/config.lock": [["config", "set", "worktree.mode", "auto"]],
    "locks/items.lock": ITEM,
    "locks/items-index.lock": ITEM,
    "locks/worktrees.lock": [["worktree", "add", "--branch=linked"]],
    "heartbeat/agent_3aone.json": [["claim", "acquire", "x"], ["claim", "heartbeat"], ["claim", "release", "x"]],
    "gates/x.json": [["gate", "list", "x"]],
}
FOLDERS = {
    "locks": ACQUIRE + ITEM,
    "heartbeat": [["claim", "acquire", "x"], ["claim", "heartbeat"], ["claim", "release", "x"]],
    "gates": [["gate", "list", "x"]],
    "run": [["run", "--workers=1", "--", "true"]],
    "landing.git": [["item", "add", "x"]],
}


def make_site():
    site = HostileRepo()
    for words in (*ACQUIRE, *ITEM, ["worktree", "info"], ["metrics"], ["conflicts"]):
        site.run(*words).expect(0)
    (site.dir / "outside/folder").mkdir()
    site.kept = site.dir / "kept"
    shutil.copytree(site.store, site.kept)
    return site


def with_link(name, target, commands):
    """The store as it was made, but for one link; then the commands."""
    site = shared(make_site)
    shutil.rmtree(site.store)
    shutil.copytree(site.kept, site.store)
    place = site.store / name
    place.parent.mkdir(exist_ok=True)
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    os.symlink(site.dir / target, place)
    for words in commands:
        site.attack(*words, may_change=WORK)
    check.equal(site.canary.read_text(), "not to be touched\n")
    check.true(not (site.dir / "outside/new").exists(), "a file was made through the link")
    check.equal(list((site.dir / "outside/folder").iterdir()), [], "made through the link")


for file, using in FILES.items():
    add_case(f"{file} is a link to a file", lambda name=file, words=using: with_link(name, "outside/canary", words))
    add_case(f"{file} is a link to nothing", lambda name=file, words=using: with_link(name, "outside/new", words))
for folder, using in FOLDERS.items():
    add_case(f"{folder}/ is a link to a folder", lambda name=folder, words=using: with_link(name, "outside/folder", words))


def whole_directory(target):
    """`.git/dibs` itself is a link."""
    with HostileRepo(init=False) as site:
        (site.dir / "outside/folder").mkdir()
        os.symlink(site.dir / target, site.root / ".git/dibs")
        for words in (["init"], *ACQUIRE, ["item", "add", "x"], ["doctor"], ["config", "set", "worktree.mode", "auto"]):
            site.attack(*words, codes={1, 10, 11, 64}, may_change=())
        check.equal(list((site.dir / "outside/folder").iterdir()), [], "made through the link")


add_case(".git/dibs is a link to a folder", lambda: whole_directory("outside/folder"))
add_case(".git/dibs is a link to nothing", lambda: whole_directory("outside/new"))
add_case(".git/dibs is a link to a file", lambda: whole_directory("outside/canary"))


@case
def temporary_names_cannot_be_guessed():
    """Whoever makes links ahead of time would have to make them all: two runs share no name, and each is random."""
    site = shared(make_site)
    names = set()
    for _ in range(3):
        trace = site.dir / "trace"
        site.run("config", "set", "worktree.mode", "auto", prefix=("strace", "-f", "-e", "trace=openat", "-o", str(trace)))
        words = [word for line in trace.read_text().splitlines() for word in line.split('"')[1:2] if word.endswith(".tmp")]
        check.true(words, "no temporary file was opened")
        names.update(words)
        trace.unlink()
    check.equal(len(names), 3, f"names {names}")
    check.true(all(len(os.path.basename(name)) >= 16 for name in names), f"short names {names}")


@case
def the_store_is_for_its_owner_alone():
    site = shared(make_site)
    check.equal(site.kept.stat().st_mode & 0o777, 0o700)
    modes = {path.name: path.stat().st_mode & 0o777 for path in site.kept.rglob("*")}
    wide = {name: oct(mode) for name, mode in modes.items() if mode & 0o077}
    check.equal(wide, {}, "readable by others")


if __name__ == "__main__":
    run_tables()
