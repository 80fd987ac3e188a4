"""A repository whose own settings, hooks and attributes mean harm: handed over as an archive, or on a shared disk. Leasing, items,
worktrees and landings run none of the programs that they name, but for those without which the result would be another than
git's: docs/adr/0017-hostile-input.md has the list.

All settings are in place at once, each with a trap of its own; one life of an item goes through everything, and every setting
is a case that looks whether its trap was sprung."""

import functools
import subprocess

from hostile_site import HostileRepo, add_case, case, check, run_tables

# Never run. {} is the trap.
NEVER = {
    "core.fsmonitor": "{}",
    "core.pager": "{}",
    "core.editor": "{}",
    "sequence.editor": "{}",
    "core.askPass": "{}",
    "core.sshCommand": "{}",
    "core.gitProxy": "{}",
    "core.alternateRefsCommand": "{}",
    "credential.helper": "!{}",
    "diff.external": "{}",
    "diff.evil.textconv": "{}",
    "diff.evil.command": "{}",
    "gpg.program": "{}",
    "gpg.ssh.program": "{}",
    "gpg.x509.program": "{}",
    "interactive.diffFilter": "{}",
    "trailer.evil.command": "{}",
    "trailer.evil2.cmd": "{}",
    "uploadpack.packObjectsHook": "{}",
    "alias.status": "!{}",
    "alias.worktree": "!{}",
    "alias.fast-import": "!{}",
    "alias.merge-tree": "!{}",
    "browser.evil.cmd": "{}",
    "man.evil.cmd": "{}",
    "mergetool.evil.cmd": "{}",
    "difftool.evil.cmd": "{}",
    "pager.log": "{}",
    "pager.for-each-ref": "{}",
    "sendemail.smtpServer": "{}",
    "submodule.evil.update": "!{}",
    "ssh.variant": "{}",
    "init.templateDir": "{}",
    "receive.procReceiveRefs": "refs/dibs",
}
# Not programs, but what lets programs run or makes git say other things.
BESIDES = {"log.showSignature": "true", "commit.gpgSign": "true", "tag.gpgSign": "true", "push.gpgSign": "true",
           "protocol.ext.allow": "always", "color.ui": "always", "submodule.recurse": "true", "gc.auto": "1",
           "gc.autoDetach": "false", "core.quotePath": "false", "status.submoduleSummary": "true", "format.pretty": "raw",
           "log.decorate": "full", "diff.noprefix": "true", "column.ui": "always", "grep.lineNumber": "true",
           "core.abbrev": "4", "merge.verbosity": "5", "core.splitIndex": "true", "core.untrackedCache": "true"}
HOOKS = ["applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-checkout", "post-commit", "post-index-change",
         "post-merge", "post-receive", "post-rewrite", "post-update", "pre-applypatch", "pre-auto-gc", "pre-commit",
         "pre-merge-commit", "pre-push", "pre-rebase", "pre-receive", "prepare-commit-msg", "proc-receive",
         "push-to-checkout", "reference-transaction", "update"]
# What git does to files by the settings of whoever owns the clone: in a work tree, and in a merge.
AS_GIT_DOES = {"filter.evil.smudge": "{}", "filter.evil.clean": "{}", "merge.evil.driver": "{} %O %A %B"}


def git(site, *words, cwd):
    """The user's own work, without the traps."""
    quiet = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false"]
    subprocess.run(["git", *quiet, *words], cwd=cwd, env=site.env, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def arm(site):
    for number, (name, value) in enumerate((NEVER | BESIDES).items()):
        site.git("config", "--add", name, value.format(site.trap(name)), cwd=site.root)
        if number == 0:  # settings can hide in other files
            site.git("config", "include.path", "../../more-settings", cwd=site.root)
    (site.dir / "more-settings").write_text(f"[core]\n\tnotesRef = x\n[alias]\n\tinit = !{site.trap('include.path')}\n")
    hooks = site.root / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for hook in HOOKS:
        (hooks / hook).write_text(site.trap(f"hook {hook}").read_text())
        (hooks / hook).chmod(0o755)


def work_on(site, item, file):
    path = site.run("start", item, "--json").expect(0).json()["path"]
    with open(f"{path}/{file}", "a") as work:
        work.write(f"work on {item}\n")
    return path


@functools.cache
def sprung_in_a_life():
    """The traps that the life of an item sprang; what it does must have worked all the same."""
    with HostileRepo() as site:
        git(site, "-c", "gpg.program=true", "commit", "-q", "--allow-empty", "-m", "second\n\nwith a body\nof two lines", cwd=site.root)
        arm(site)
        ids = [site.run("item", "add", title, "--json").expect(0).json()["id"] for title in ("One", "Two", "Three")]
        site.run("claim", "acquire", "lock:x").expect(0)
        first, second = work_on(site, ids[0], "one"), work_on(site, ids[1], "two")
        for path in (first, second):
            git(site, "add", "-A", cwd=path)
            git(site, "commit", "-q", "-m", "work\n\nwith a body\nof two lines", cwd=path)
        site.run("conflicts").expect(0)
        site.run("done", "--mode=squash", cwd=first).expect(0)
        site.run("done", "--mode=rebase", cwd=second).expect(0)
        third = work_on(site, ids[2], "three")
        site.run("abandon", cwd=third).expect(0)
        name = site.run("worktree", "rescue", "list", "--json").expect(0).json()["rescues"][0]["name"]
        site.run("worktree", "rescue", "restore", name).expect(0)
        for words in (["item", "history", ids[0]], ["item", "list"], ["doctor"], ["recover"], ["item", "close", ids[2]],
                      ["worktree", "list"], ["metrics"], ["events"]):
            site.run(*words).expect(0)
        subject = site.git("log", "-1", "--no-show-signature", "--no-color", "--format=%s", "main", cwd=site.root)
        check.equal(subject, "work", "what landed")
        return sorted(path.name for path in site.sprung.iterdir())


def never_run(name):
    check.true(name not in sprung_in_a_life(), f"the trap of {name} was sprung")


for setting in NEVER:
    add_case(f"{setting} is never run", lambda name=setting: never_run(name))
for hook_name in HOOKS:
    add_case(f"the hook {hook_name} is never run", lambda name=f"hook {hook_name}": never_run(name))
add_case("an included file's alias is never run", lambda: never_run("include.path"))


@case
def no_other_trap_is_sprung():
    check.equal(sprung_in_a_life(), [])


@case
def the_traps_are_traps():
    """Plain git in the same repository springs some of each kind, or else no case here could fail."""
    with HostileRepo() as site:
        arm(site)
        site.spawn("git", "status", cwd=site.root).wait()
        site.spawn("git", "commit", "-q", "--allow-empty", "-m", "x", cwd=site.root).wait()
        site.spawn("git", "interpret-trailers", cwd=site.root).wait()
        sprung = {path.name for path in site.sprung.iterdir()}
        check.true({"core.fsmonitor", "hook pre-commit", "trailer.evil.command"} <= sprung, f"sprung: {sprung}")


def filters_site():
    site = HostileRepo()
    (site.root / ".gitattributes").write_text("* filter=evil merge=evil diff=evil\n")
    git(site, "add", "-A", cwd=site.root)
    git(site, "commit", "-q", "-m", "attributes", cwd=site.root)
    for name, value in AS_GIT_DOES.items():
        site.git("config", name, value.format(site.trap(name)), cwd=site.root)
    return site


@case
def attributes_do_nothing_to_leases_items_and_rescues():
    with filters_site() as site:
        for words in (["claim", "acquire", "x"], ["item", "add", "x"], ["item", "list"], ["conflicts"], ["doctor"]):
            site.run(*words).expect(0)
        site.check_no_trap_sprung("leases and items")


@case
def attributes_without_settings_name_no_program():
    """A committed .gitattributes alone runs nothing: git has filters and drivers from its settings only."""
    with filters_site() as site:
        for name in AS_GIT_DOES:
            site.git("config", "--unset", name, cwd=site.root)
        item = site.run("item", "add", "One", "--json").expect(0).json()["id"]
        work_on(site, item, "file")
        site.check_no_trap_sprung("start")


if __name__ == "__main__":
    run_tables()
