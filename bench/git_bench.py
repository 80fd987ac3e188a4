"""Leases on a git remote, measured against the least that a remote can cost, and against what people use today."""
import os
import shutil
from pathlib import Path

from measure import Sample, Stopwatch, expect, quietly, row, time_row

SCRIPT = Path(__file__).resolve().parent.parent / "tests/e2e/aitask_lock.sh"
RESET_EVERY = 8  # rounds, so that remotes stay small
ROUNDS = 40
COMMITS = 200  # made beforehand, for `git push` to send: one for each run of a row
COMMIT_BYTES = 600  # about what a claim's has
MANY, FEW = 1_000, 10  # lock refs
AT_ONCE = 10  # claims in one call
CLONES, CLAIMS_EACH, BLOCKS = 8, 4, 6


class Site:
    """A bare remote and clones of it. What happened since `keep` is undone by `reset`."""

    def __init__(self, path, clones, environment):
        self.path, self.remote, self.environment = path, path / "remote.git", environment
        self.kept = path.with_name(path.name + ".kept")
        path.mkdir()
        self.git(path, "init", "-q", "--bare", "-b", "main", self.remote)
        self.git(path, "init", "-q", "-b", "main", path / "seed")
        self.git(path / "seed", "commit", "-q", "--allow-empty", "-m", "start")
        self.git(path / "seed", "push", "-q", self.remote, "main")
        self.clones = [self.clone(f"clone-{n}") for n in range(clones)]

    def git(self, cwd, *words):
        return quietly(["git", *map(str, words)], env=self.environment, cwd=cwd).strip()

    def clone(self, name):
        self.git(self.path, "clone", "-q", self.remote, self.path / name)
        return self.path / name

    def keep(self):
        shutil.rmtree(self.kept, ignore_errors=True)
        shutil.copytree(self.path, self.kept, symlinks=True)

    def reset(self):
        shutil.rmtree(self.path)
        shutil.copytree(self.kept, self.path, symlinks=True)

    def remove(self):
        """It is not needed any more, and its files would be in the way of others' flushes."""
        shutil.rmtree(self.path)
        shutil.rmtree(self.kept)


def reset_all(sites):
    """The flush is here so that no measured run pays for ours."""
    for site in sites:
        site.reset()
    os.sync()


class GitBench:
    """Each method measures some rows of the table. `rounds` makes a number of rounds smaller if need be."""

    def __init__(self, dibs, stopwatch, scratch, rounds):
        self.dibs, self.stopwatch, self.scratch, self.rounds = dibs, stopwatch, scratch, rounds
        self.git = shutil.which("git")
        identity = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
                    for what, value in (("NAME", "bench"), ("EMAIL", "bench@example.com"))}
        self.settings = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", **identity}
        self.environment = self.watch().environment

    def watch(self):
        """One for each row, so that its rounds are counted from 1."""
        return Stopwatch(self.stopwatch, self.dibs, self.scratch / "home", **self.settings)

    def site(self, name, clones, locks=0):
        """With dibs set up in every clone, and so many locks on the remote, that all of them saw."""
        site = Site(self.scratch / name, clones, self.environment)
        if locks:
            filler = site.clone("filler")
            self.run_dibs(filler, "init", "--store", "git")
            for first in range(0, locks, AT_ONCE):
                self.run_dibs(filler, "claim", "acquire", *(f"lock-{first + n}" for n in range(AT_ONCE)))
        for clone in site.clones:
            self.run_dibs(clone, "init", "--store", "git")
        return site

    def run_dibs(self, clone, *words):
        quietly([self.dibs, *words, "-C", str(clone)], env=self.environment)

    def claim(self, site, *items):
        return [self.dibs, "claim", "acquire", *items, "-C", str(site.clones[0])]

    def push(self, site):
        """`git push` of a new ref that points to a new commit: parent {n} of one that has them all for parents, so that
        git can name each without a ref for each."""
        pusher = site.clone("pusher")
        tree = site.git(pusher, "mktree")
        commits = [site.git(pusher, "commit-tree", tree, "-m", f"{n} {'x' * COMMIT_BYTES}") for n in range(COMMITS)]
        parents = [word for commit in commits for word in ("-p", commit)]
        site.git(pusher, "update-ref", "refs/bench/commits", site.git(pusher, "commit-tree", tree, "-m", "all", *parents))
        return [self.git, "-C", str(pusher), "push", "-q", "origin", "refs/bench/commits^{n}:refs/dibs/r/pushed-{n}"]

    def alternate(self, sites, commands):
        """The commands' times, one list each. The sites are as before in the end."""
        for site in sites:
            site.keep()
        watch, times, rounds = self.watch(), [[] for _ in commands], self.rounds(ROUNDS)
        for done in range(0, rounds, RESET_EVERY):
            reset_all(sites)
            seen = watch.alternate(self.scratch, min(RESET_EVERY, rounds - done), commands)
            times = [before + some for before, some in zip(times, seen)]
        reset_all(sites)
        return times

    def one_claim(self):
        ours, bare = (self.site(name, clones=1) for name in ("claimed", "pushed"))
        claims, pushes = self.alternate((ours, bare), [self.claim(ours, "item-{n}"), self.push(bare)])
        return [time_row("git_acquire", "git: claim acquire", claims, "git push", pushes, 1.3)]

    def ten_claims(self):
        one, ten = (self.site(name, clones=1) for name in ("one", "ten"))
        ones, tens = self.alternate((one, ten), [
            self.claim(one, "item-{n}"), self.claim(ten, *(f"item-{{n}}-{i}" for i in range(AT_ONCE)))])
        return [time_row("git_ten", f"git: {AT_ONCE} claims in one call", tens, "one claim", ones, 1.5)]

    def many_refs(self):
        sites = [self.site(f"locks-{locks}", clones=1, locks=locks) for locks in (FEW, MANY)]
        claims, pushes = [self.claim(site, "item-{n}") for site in sites], [self.push(site) for site in sites]
        rows = []
        for how in ("loose", "packed"):
            for site in sites if how == "packed" else []:
                site.git(site.remote, "pack-refs", "--all")
            for name, commands, what, limit in (("claim", claims, "git: claim acquire", 1.5),
                                                ("push", pushes, "     git push", None)):
                with_few, with_many = self.alternate(sites, commands)
                rows.append(time_row(f"git_{name}_{how}", f"{what}, {MANY:,} refs {how}", with_many,
                                     f"{FEW} refs", with_few, limit))
        for site in sites:
            site.remove()
        return rows

    def eight_clones(self):
        """`env -C` on both sides, because the script knows no other way to be told where it is. Pushes that claim nothing are the most
        that there can be."""
        ours, theirs = self.site("ours", CLONES), Site(self.scratch / "theirs", CLONES, self.environment)
        bare = self.site("bare", clones=1)
        quietly([str(SCRIPT), "--init"], env=self.environment, cwd=theirs.clones[0])
        commands = {
            ours: ["/usr/bin/env", "-C", f"{ours.path}/clone-{{w}}", self.dibs, "claim", "acquire", "item-{n}"],
            theirs: ["/usr/bin/env", "-C", f"{theirs.path}/clone-{{w}}", str(SCRIPT), "--lock", "{n}",
                     "--email", "clone{w}@example.com"],
            bare: self.push(bare)}
        rates, failures = {site: [] for site in commands}, dict.fromkeys(commands, 0)
        watches = {site: self.watch() for site in commands}
        for site in commands:
            site.keep()
        blocks = max(2, self.rounds(BLOCKS))
        for _ in range(blocks):
            for site, command in commands.items():
                reset_all([site])
                rate, failed = watches[site].parallel(self.scratch, command, CLONES, CLAIMS_EACH)
                rates[site].append(rate)
                failures[site] += failed
        expect(failures[ours] + failures[bare] == 0, f"{failures[ours]} claims and {failures[bare]} pushes failed")
        result = row("git_eight", f"git: {CLONES} clones at once, different items", "claims/s", Sample(rates[ours]),
                     "lock script", Sample(rates[theirs]), 8, at_least=True)
        result["failed"] = failures[theirs]
        result["note"] = f"of the script's claims {failures[theirs]} of {blocks * CLONES * CLAIMS_EACH} failed"
        floor = row("git_eight_pushes", f"     {CLONES} git pushes at once", "pushes/s", Sample(rates[bare]), "lock script",
                    Sample(rates[theirs]), None, at_least=True)
        return [result, floor]

    def all_rows(self):
        return [*self.one_claim(), *self.ten_claims(), *self.many_refs(), *self.eight_clones()]
