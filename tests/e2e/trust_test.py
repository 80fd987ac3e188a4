"""trust: what came with the repository runs only after somebody here allowed it, and never once it has changed."""

import json
import os
import pty
import select
import stat
import subprocess
from pathlib import Path

from harness import DIBS, case, check, main
from landing_site import LocalSite

EXIT_REFUSED, EXIT_USAGE = 8, 64


class Site(LocalSite):
    """A repository whose committed configuration names commands that leave a trace when they run."""

    def __init__(self):
        super().__init__()
        self.trace = self.dir / "trace"

    def commit_config(self, text, tree=None):
        tree = tree or self.root
        self.write(Path(tree) / ".dibs/config.toml", text)
        return self.commit_all(tree, "configure")

    def hostile(self, stage="postcheck", words="ran"):
        return f'[gates.bad]\ncommand = "echo {words} >> {self.trace}"\nstage = "{stage}"\n'

    def ran(self):
        return self.trace.read_text().split() if self.trace.exists() else []


@case
def a_committed_gate_never_runs_untrusted():
    with Site() as site:
        site.reply("item", "add", "work")
        site.commit_config(site.hostile("precheck"))
        for words in (("start", "42"), ("next", "--start")):
            error = site.refusal(EXIT_REFUSED, *words)
            check.equal(error["untrusted"], "bad")
            check.contains(error["message"], str(site.trace))
            check.contains(error["hint"], "dibs trust")
        check.equal((site.ran(), site.reply("claim", "list")["leases"]), ([], []))
        site.commit_config(site.hostile("postcheck"))
        made = site.start("42")
        site.work(made)
        before = site.state(made["path"])
        for words in (("done",), ("gate", "run", "42")):
            check.equal(site.refusal(EXIT_REFUSED, *words, cwd=made["path"])["untrusted"], "bad")
        for words in (("gate", "list"), ("gate", "list", "42"), ("conflicts",), ("trust", "--list"), ("config", "list"),
                      ("doctor",), ("claim", "list"), ("item", "list")):
            site.run(*words, cwd=made["path"]).expect(0)
        check.equal(site.ran(), [])
        check.equal(site.state(made["path"]), before, "nothing changed")


@case
def a_run_does_not_even_begin():
    for stage in ("precheck", "postcheck"):
        with Site() as site:
            site.reply("item", "add", "work")
            site.commit_config(site.hostile(stage))
            refused = site.run("run", "--workers", "1", "--", "touch", str(site.trace)).expect(EXIT_REFUSED)
            check.contains(refused.err, "the gate bad came with the repository and is not trusted here")
            check.equal((site.ran(), site.reply("item", "list")["items"][0]["state"]), ([], "ready"))


@case
def what_a_branch_brings_along_is_not_run_either():
    with Site() as site:
        made = site.start("42")
        site.commit_config(site.hostile(), made["path"])
        check.equal(site.refusal(EXIT_REFUSED, "done", cwd=made["path"])["untrusted"], "bad")
        check.equal(site.ran(), [])


@case
def trusted_it_runs_until_it_changes():
    with Site() as site:
        site.commit_config(site.hostile())
        reply = site.reply("trust", "--yes")
        check.equal((reply["trusted_now"], [one["standing"] for one in reply["commands"]]), (1, ["trusted"]))
        check.equal(site.reply("trust", "--yes")["trusted_now"], 0)
        made = site.start("1")
        site.work(made)
        site.reply("done", cwd=made["path"])
        check.equal(site.ran(), ["ran"])
        made = site.start("2")
        site.commit_config(site.hostile(words="changed"), made["path"])
        error = site.refusal(EXIT_REFUSED, "done", cwd=made["path"])
        check.contains(error["message"], "changed since it was trusted")
        check.equal(site.ran(), ["ran"])
        site.reply("trust", "--yes", cwd=made["path"])
        site.reply("done", cwd=made["path"])
        check.equal(site.ran(), ["ran", "changed"])


@case
def another_gate_beside_a_trusted_one_is_not_trusted():
    with Site() as site:
        site.commit_config(site.hostile())
        site.reply("trust", "--yes")
        site.commit_config(site.hostile() + f'[gates.more]\ncommand = "echo more >> {site.trace}"\n')
        made = site.start("1")
        site.work(made)
        check.equal(site.refusal(EXIT_REFUSED, "done", cwd=made["path"])["untrusted"], "more")
        check.equal(site.ran(), [])


@case
def trust_is_of_one_clone():
    with Site() as site:
        site.commit_config(site.hostile())
        site.reply("trust", "--yes")
        other = site.dir / "other"
        site.git("clone", "-q", site.root, other, cwd=site.dir)
        site.run("init", cwd=other).expect(0)
        made = site.start("1", cwd=other)
        site.work(made)
        check.equal(site.refusal(EXIT_REFUSED, "done", cwd=made["path"])["untrusted"], "bad")
        check.equal(site.ran(), [])


@case
def without_a_terminal_it_needs_to_be_told():
    with Site() as site:
        check.contains(site.run("trust").expect(0).out, "nothing to trust")
        site.commit_config(site.hostile())
        run = site.run("trust").expect(EXIT_USAGE)
        check.contains(run.out, str(site.trace))
        check.contains(run.err, "dibs trust --yes")
        check.equal(site.refusal(EXIT_USAGE, "trust")["code"], "usage")
        check.true(not (site.root / ".git/dibs/trusted.json").exists(), "nothing was written")


def answered(site, answer):
    """What `dibs trust` says on a terminal to someone who answers so, and its exit code."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([DIBS, "trust"], cwd=site.root, env=site.env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    while select.select([ours], [], [], 30)[0]:
        try:
            said += os.read(ours, 4096)
        except OSError:
            break
        if answer and b"[y/N]" in said:
            os.write(ours, answer)
            answer = None
    os.close(ours)
    return said.decode(), process.wait(30)


@case
def on_a_terminal_it_asks():
    with Site() as site:
        site.commit_config(site.hostile())
        said, code = answered(site, b"n\n")
        check.contains(said, str(site.trace))
        check.equal((code, site.reply("trust", "--list")["commands"][0]["may_run"]), (EXIT_REFUSED, False))
        said, code = answered(site, b"yes\n")
        check.equal((code, site.reply("trust", "--list")["commands"][0]["may_run"]), (0, True))


@case
def revoked_nothing_runs_any_more():
    with Site() as site:
        site.commit_config(site.hostile())
        site.reply("trust", "--yes")
        check.equal(site.reply("trust", "--revoke")["revoked"], 1)
        check.equal(site.reply("trust", "--revoke")["revoked"], 0)
        made = site.start("1")
        site.work(made)
        site.refusal(EXIT_REFUSED, "done", cwd=made["path"])
        check.equal(site.ran(), [])


@case
def what_one_configured_oneself_needs_no_trust():
    with Site() as site:
        for place, name in ((site.root / ".git/dibs", "clone"), (site.dir / "home/.config/dibs", "person")):
            place.mkdir(parents=True, exist_ok=True)
            with open(place / "config.toml", "a", encoding="utf-8") as file:
                file.write(f'[gates.{name}]\ncommand = "echo {name} >> {site.trace}"\n')
        site.env["XDG_CONFIG_HOME"] = str(site.dir / "home/.config")
        check.equal({one["standing"] for one in site.reply("trust", "--list")["commands"]}, {"own"})
        made = site.start("1")
        site.work(made)
        site.reply("done", cwd=made["path"])
        check.equal(site.ran(), ["clone", "person"])


@case
def a_committed_gate_does_not_hide_behind_ones_own_name():
    with Site() as site:
        place = site.dir / "home/.config/dibs"
        place.mkdir(parents=True)
        (place / "config.toml").write_text('[gates.bad]\ncommand = "true"\n')
        site.env["XDG_CONFIG_HOME"] = str(place.parent)
        site.commit_config(site.hostile())
        made = site.start("1")
        site.work(made)
        site.refusal(EXIT_REFUSED, "done", cwd=made["path"])
        check.equal(site.ran(), [])


@case
def a_configuration_that_is_a_link_is_not_followed():
    with Site() as site:
        made = site.start("1")
        site.write(site.dir / "elsewhere.toml", site.hostile())
        tree = Path(made["path"])
        (tree / ".dibs").mkdir()
        (tree / ".dibs/config.toml").symlink_to(site.dir / "elsewhere.toml")
        site.commit_all(tree)
        check.true(site.run("done", cwd=tree).code != 0, "it must not land")
        check.equal(site.ran(), [])
        (tree / ".dibs/config.toml").unlink()
        (tree / ".dibs").rmdir()
        (tree / ".dibs").symlink_to(site.root / ".git/dibs")
        (site.root / ".git/dibs/config.toml").write_text("")
        site.commit_all(tree)
        site.write(site.dir / "hidden/config.toml", site.hostile())
        (tree / ".dibs").unlink()
        (tree / ".dibs").symlink_to(site.dir / "hidden")
        site.commit_all(tree)
        check.equal(site.refusal(EXIT_REFUSED, "done", cwd=tree)["untrusted"], "bad")
        check.equal(site.ran(), [])


@case
def the_record_is_the_owners_and_damaged_it_trusts_nothing():
    with Site() as site:
        site.commit_config(site.hostile())
        site.reply("trust", "--yes")
        record = site.root / ".git/dibs/trusted.json"
        check.equal(stat.S_IMODE(record.stat().st_mode), 0o600)
        good = json.loads(record.read_text())
        for text in ("", "{", "[]", json.dumps({"commands": [1]}), json.dumps({**good, "commands": [
                {**good["commands"][0], "sha256": "0" * 64}]})):
            record.write_text(text)
            check.equal(site.reply("trust", "--list")["commands"][0]["may_run"], False, text)
        record.unlink()
        site.write(site.dir / "mine.json", json.dumps(good))
        record.symlink_to(site.dir / "mine.json")
        check.equal(site.reply("trust", "--list")["commands"][0]["may_run"], False, "a link")


@case
def workers_and_resolvers_are_judged_too():
    with Site() as site:
        site.commit_config('[workers.fast]\ncommand = ["agent", "a b"]\ncount = 2\n[resolvers.join]\ncommand = "join"\n')
        commands = site.reply("trust", "--list")["commands"]
        check.equal([(one["kind"], one["name"], one["command"], one["may_run"]) for one in commands],
                    [("worker", "fast", ["agent", "a b"], False), ("resolver", "join", ["/bin/sh", "-c", "join"], False)])
        check.contains(site.run("trust", "--list").expect(0).out, "agent 'a b'")
        check.equal(site.reply("trust", "--yes")["trusted_now"], 2)


if __name__ == "__main__":
    main()
