"""A hostile environment: variables that would lead git or dibs elsewhere, or have them run programs. Each is set for a lease, an
item, a worktree and its removal, which must all be about this repository and no other."""

import itertools

from hostile_site import WORK, HostileRepo, add_case, case, check, run_tables, shared

# {trap} must not run, {dir} is around the repository, {other} is another repository's git directory.
LED_ASTRAY = {
    "GIT_DIR": "{other}",
    "GIT_WORK_TREE": "{dir}/outside",
    "GIT_COMMON_DIR": "{other}",
    "GIT_INDEX_FILE": "{dir}/outside/index",
    "GIT_OBJECT_DIRECTORY": "{dir}/outside/objects",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES": "{dir}/outside",
    "GIT_NAMESPACE": "evil",
    "GIT_CONFIG": "{dir}/evil-config",
    "GIT_CONFIG_PARAMETERS": "'core.fsmonitor'='{trap}' 'core.hooksPath'='{dir}/evil-hooks'",
    "GIT_TEMPLATE_DIR": "{dir}/evil-template",
    "GIT_GRAFT_FILE": "{dir}/outside/canary",
    "GIT_SHALLOW_FILE": "{dir}/outside/canary",
    "GIT_REPLACE_REF_BASE": "refs/heads/",
    "GIT_PREFIX": "../outside/",
    "GIT_QUARANTINE_PATH": "{dir}/outside",
    "GIT_CEILING_DIRECTORIES": "{dir}:/",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM": "0",
    "GIT_DEFAULT_HASH": "sha256",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_ICASE_PATHSPECS": "1",
    "GIT_NOGLOB_PATHSPECS": "1",
    "GIT_ATTR_SOURCE": "main",
    "GIT_EXTERNAL_DIFF": "{trap}",
    "GIT_DIFF_OPTS": "--output={dir}/outside/new",
    "GIT_PAGER": "{trap}",
    "PAGER": "{trap}",
    "GIT_EDITOR": "{trap}",
    "GIT_SEQUENCE_EDITOR": "{trap}",
    "EDITOR": "{trap}",
    "VISUAL": "{trap}",
    "GIT_ASKPASS": "{trap}",
    "SSH_ASKPASS": "{trap}",
    "GIT_SSH_COMMAND": "{trap}",
    "GIT_PROXY_COMMAND": "{trap}",
    "GIT_ALLOW_PROTOCOL": "ext",
    "GIT_PROTOCOL_FROM_USER": "1",
    "GIT_REFLOG_ACTION": "\x1b]0;owned\x07",
    "GIT_MERGE_AUTOEDIT": "yes",
    "GIT_OPTIONAL_LOCKS": "1",
    "GIT_TERMINAL_PROMPT": "1",
    "GIT_FLUSH": "1",
    "GIT_REF_PARANOIA": "1",
    "GIT_TEST_FSMONITOR": "{trap}",
    "SHELL": "{trap}",
    "BASH_ENV": "{dir}/evil-script",
    "ENV": "{dir}/evil-script",
    "LC_ALL": "../../outside",
    "LANGUAGE": "\x1b[31m",
    "TERM": "\x1b[31m",
    "COLUMNS": "99999999999",
    "TZ": ":{dir}/outside/canary",
    "TMPDIR": "{dir}/nowhere",
    "HOME": "relative",
    "XDG_CONFIG_HOME": "relative",
}

# What is refused, and with which exit code.
REFUSED = {
    ("DIBS_AGENT_ID", "agent:$({trap})"): 64,
    ("DIBS_AGENT_ID", "\x1b[2J:x"): 64,
    ("DIBS_SESSION", "../../outside"): 64,
    ("DIBS_SESSION", "x\ny"): 64,
    ("DIBS_PID", "-1"): 64,
    ("DIBS_PID", "1; {trap}"): 64,
    ("DIBS_COORDINATION_DEFAULT_TTL_SECS", "1e9"): 64,
    ("DIBS_STORE_REMOTE", "ext::{trap}"): 64,
    ("DIBS_STORE_REMOTE", "--upload-pack={trap}"): 64,
    ("DIBS_STORE_KIND", "\u202elacol"): 64,
    ("DIBS_WORKTREE_MODE", "\x1b]0;x\x07"): 64,
    ("DIBS_LANDING_MODE", "x" * 100_000): 64,
}

NUMBERS = itertools.count()


def make_site():
    site = HostileRepo()
    site.git("init", "-q", "--bare", site.dir / "other.git")
    (site.dir / "evil-config").write_text(f"[core]\n\tfsmonitor = {site.trap('config')}\n")
    (site.dir / "evil-script").write_text(site.trap("script").read_text())
    for folder in ("evil-hooks", "evil-template/hooks"):
        (site.dir / folder).mkdir(parents=True)
        for hook in ("post-checkout", "reference-transaction", "post-index-change"):
            (site.dir / folder / hook).write_text(site.trap("hook").read_text())
            (site.dir / folder / hook).chmod(0o755)
    return site


def value_for(site, text):
    return text.format(trap=site.trap("variable"), dir=site.dir, other=site.dir / "other.git")


def led_nowhere(name, text):
    site = shared(make_site)
    env = {name: value_for(site, text)}
    number = next(NUMBERS)
    lease = site.attack("--json", "claim", "acquire", f"item-{number}", codes={0}, env=env).json()
    check.equal(site.holder(f"item-{number}"), "agent:one", "the lease is here")
    item = site.attack("--json", "item", "add", f"Item {number}", codes={0}, env=env, may_change=WORK).json()
    check.equal(site.reply("item", "show", item["id"])["title"], f"Item {number}", "the item is here")
    if name.startswith("GIT_"):
        worktree_is_here(site, f"branch-{number}", env)
    check.equal(lease["agent_id"], "agent:one")


def worktree_is_here(site, branch, env):
    added = site.attack("--json", "worktree", "add", f"--branch={branch}", codes={0}, env=env, may_change=WORK).json()
    site.git("rev-parse", "--verify", "-q", f"refs/heads/{branch}", cwd=site.root)
    site.attack("worktree", "remove", added["path"], codes={0}, env=env, may_change=WORK)


for variable, led_to in LED_ASTRAY.items():
    add_case(f"{variable} leads nowhere", lambda name=variable, text=led_to: led_nowhere(name, text))


def refused(name, text, code):
    site = shared(make_site)
    site.attack("claim", "acquire", "refused", codes={code}, env={name: value_for(site, text)})


for (variable, hostile), exit_code in REFUSED.items():
    add_case(f"{variable}={hostile[:20]!a} is refused",
             lambda name=variable, text=hostile, code=exit_code: refused(name, text, code))


@case
def settings_by_number_lead_nowhere():
    site = shared(make_site)
    env = {"GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": str(site.trap("counted")),
           "GIT_CONFIG_KEY_1": "core.hooksPath", "GIT_CONFIG_VALUE_1": str(site.dir / "evil-hooks")}
    site.attack("item", "add", "Counted", codes={0}, env=env, may_change=WORK)
    site.attack("worktree", "add", "--branch=counted", codes={0}, env=env, may_change=WORK)


@case
def without_git_there_is_an_error_and_leases_go_on():
    site = shared(make_site)
    item = site.attack("--json", "item", "add", "With git", codes={0}, may_change=WORK).json()["id"]
    for path in ("", str(site.dir / "outside")):
        site.attack("claim", "acquire", "without-git", codes={0}, env={"PATH": path})
        site.attack("item", "history", item, codes={1, 10, 11}, env={"PATH": path})


@case
def a_git_of_somebody_in_the_working_directory_is_not_run():
    site = shared(make_site)
    (site.root / "git").write_text(site.trap("git").read_text())
    (site.root / "git").chmod(0o755)
    site.attack("worktree", "add", "--branch=here", codes={0}, may_change=WORK)
    (site.root / "git").unlink()


@case
def the_traps_are_traps():
    """Or else no case here could fail."""
    site = shared(make_site)
    env = site.environment(env={"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor",
                                "GIT_CONFIG_VALUE_0": str(site.trap("counted"))})
    site.spawn("git", "status", env=env).wait()
    check.equal([path.name for path in site.sprung.iterdir()], ["counted"])
    (site.sprung / "counted").unlink()


if __name__ == "__main__":
    run_tables()
