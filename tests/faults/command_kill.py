"""Commands of the local store that start git, killed at one system call after another; `dibs done` has landing_kill.py.

However it ended: others can go on at once, what it acknowledged is there, nobody has to repair anything, and the same command again ends
where it would have ended undisturbed.
"""

import json
import signal
from pathlib import Path

from injection import acknowledged, kill_at
from landing_kill import DAY_SECS, Stage, each

from gate_site import configure
from harness import check
from landing_site import LocalSite

HELD = 3


class Command:
    """`prepare(site)` sets the stage and may name what else the command is given; `end(site)` fails unless all is as the command leaves it;
    `seen(site, answer)` looks before the command is repeated, and has its answer if it gave one; `again`: what repeating it may answer."""

    def __init__(self, name, words, end, prepare=lambda site: None, again=(0,), seen=lambda site, answer: None):
        self.name, self.words, self.end, self.prepare, self.again, self.seen = name, words, end, prepare, again, seen


class CommandStage(Stage):
    """A repository where one command is about to be given; put back as it was before every try."""

    def __init__(self, command):
        super().__init__(LocalSite)
        self.command = command

    def __enter__(self):
        site = self.site
        site.acquire("other", "--ttl", DAY_SECS, agent="agent:bystander")
        add_items(site, "42", "43")
        (site.dir / "repo.worktrees").mkdir()
        self.words = [*self.command.words, *(self.command.prepare(site) or []), "--json"]
        self.log = site.log_bytes()
        self.keep()
        return self

    def _places(self):
        return [self.site.root, self.site.dir / "repo.worktrees"]

    def judge(self, reply):
        site = self.site
        site.run("claim", "acquire", "lock:next", agent="agent:two", timeout=20).expect(0)
        check.equal(site.holder("other"), "agent:bystander")
        answer = acknowledged(reply)
        self.command.seen(site, answer)
        if answer:
            self.command.end(site)
        again = site.run(*self.words, timeout=30)
        if again.code == HELD:  # by the one that was killed, before it had a worktree: until its time is over
            site.run("claim", "force-evict", "42", "--reason", "its time is over").expect(0)
            again = site.run(*self.words, timeout=30)
        check.true(again.code in self.command.again, f"doing it again: {again!r}")
        self.command.end(site)
        check.true(site.log_bytes().startswith(self.log), "the log was rewritten")
        site.git("fsck", "--connectivity-only", cwd=site.root)
        site.healthy()


def kill(command, every, together):
    """At every `every`-th system call, with what it had started or without."""
    with CommandStage(command) as stage:
        each(stage, stage.calls()[::every], lambda name, number: stage.strace(
            kill_at(name, number), reap=signal.SIGKILL if together else None))


def add_items(site, *names):
    lines = "".join(json.dumps({"id": name, "title": f"Item {name}"}) + "\n" for name in names)
    site.run("item", "add", "--batch", "-", stdin=lines.encode()).expect(0)


def item(site, name):
    return site.reply("item", "show", name)


def started(site):
    """With work in a commit and in a file that is in none."""
    made = site.start("42", "--ttl", DAY_SECS)
    site.work(made)
    site.write(Path(made["path"]) / "loose", "loose\n")


def rescued(site):
    started(site)
    site.reply("abandon", "42")
    return [site.rescues()[0]["name"]]


def is_started(site):
    check.equal(site.holder("42"), "agent:one")
    check.equal((site.dir / "repo.worktrees/42/README").read_text(), "read me\n")


def is_abandoned(site):
    check.equal(site.holder("42"), None)
    is_kept(site, "work", "loose")


def is_kept(site, *names):
    """Perhaps twice."""
    for rescue in site.rescues():
        kept = site.git("ls-tree", "-r", "--name-only", rescue["commit"], cwd=site.root).split()
        check.true(set(names) <= set(kept), f"kept: {kept}")
    check.true(site.rescues(), "nothing is kept")


def is_taken(site):
    """By one that was killed before it had a worktree; the next one is given out then."""
    check.equal(site.holder("42"), "agent:one")
    made = [path.parent.name for path in (site.dir / "repo.worktrees").glob("*/README")]
    check.true(made in (["42"], ["43"], ["42", "43"], ["43", "42"]), f"worktrees: {made}")


def has_worktree(site):
    check.true((site.dir / "repo.worktrees/42/README").exists(), "the worktree")


def has_no_worktree(site):
    check.true(not (site.dir / "repo.worktrees/42").exists(), "the worktree")
    is_kept(site, "loose")


def can_be_restored(site):
    """Where it was, or, if what was killed left something there, elsewhere: it stays kept until it is dropped."""
    place = site.dir / "repo.worktrees/elsewhere"
    if not (site.dir / "repo.worktrees/42/loose").exists():
        site.reply("worktree", "rescue", "restore", site.rescues()[0]["name"], str(place))
        check.equal((place / "loose").read_text(), "loose\n")


def add_worktree(site):
    site.reply("worktree", "add", "42")
    site.write(site.dir / "repo.worktrees/42/loose", "loose\n")


def state_is(name, state):
    return lambda site: check.equal(item(site, name)["state"], state)


def titled(title):
    def end(site):
        titles = [one["title"] for one in site.reply("item", "list")["items"]]
        check.true(title in titles, f"items: {titles}")
    return end


def comments(site):
    check.true(len(item(site, "42")["comments"]) >= 1, "comments")


def closed(site):
    site.run("item", "close", "42").expect(0)


def dependent(site):
    site.run("item", "dep", "add", "42", "43").expect(0)


def reviewed(site):
    configure(site, "[gates.review]\nmanual = true\n")
    site.work(site.start("42", "--ttl", DAY_SECS))


def is_passed(site):
    check.equal(site.reply("gate", "list", "42")["gates"][0]["last"]["outcome"], "passed")


def with_commands(site):
    site.write(site.root / ".dibs/config.toml", '[gates.look]\ncommand = "true"\n')
    site.commit_all(site.root, "configure")


def is_trusted(site):
    check.equal(site.reply("trust", "--yes")["trusted_now"], 0, "commands that were not trusted yet")


SETTINGS = [
    Command("gate pass", ["gate", "pass", "42", "review", "--reason", "read it"], is_passed, prepare=reviewed),
    Command("trust", ["trust", "--yes"], is_trusted, prepare=with_commands),
]
ITEMS = [
    Command("item add", ["item", "add", "Another"], titled("Another")),
    Command("item update", ["item", "update", "42", "--title", "Changed"], titled("Changed")),
    Command("item close", ["item", "close", "42"], state_is("42", "done"), again=(0, 8)),
    Command("item reopen", ["item", "reopen", "42"], state_is("42", "ready"),
            prepare=closed, again=(0, 8)),
    Command("item comment", ["item", "comment", "42", "word"], comments),
    Command("item dep add", ["item", "dep", "add", "42", "43"],
            lambda site: check.equal(item(site, "42")["depends_on"], ["43"])),
    Command("item dep rm", ["item", "dep", "rm", "42", "43"], lambda site: check.equal(item(site, "42")["depends_on"], []),
            prepare=dependent),
    Command("item fail", ["item", "fail", "42", "--reason", "x"], lambda site: check.true(item(site, "42")["tries"] >= 1)),
]
TREES = [
    Command("start", ["start", "42", "--ttl", DAY_SECS], is_started),
    Command("next --start", ["next", "--start"], is_taken),
    Command("next --claim", ["next", "--claim"], lambda site: check.equal(site.holder("42"), "agent:one")),
    Command("abandon", ["abandon", "42"], is_abandoned, prepare=started, again=(0, 8)),
    Command("worktree add", ["worktree", "add", "42"], has_worktree, again=(0, 8)),
    Command("worktree remove", ["worktree", "remove", "../repo.worktrees/42"], has_no_worktree, prepare=add_worktree, again=(0, 4)),
    Command("worktree rescue restore", ["worktree", "rescue", "restore"], can_be_restored, prepare=rescued, again=(0, 8)),
    Command("worktree rescue drop", ["worktree", "rescue", "drop"], lambda site: check.equal(site.rescues(), []),
            prepare=rescued, again=(0, 4)),
]
