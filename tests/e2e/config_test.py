"""Settings: where they come from, which one wins, and what a mistake is answered with."""

import re
from concurrent.futures import ThreadPoolExecutor

from harness import Repo, case, check, main

KEY = "coordination.default_ttl_secs"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def places(repo):
    """The configuration files, weakest first."""
    return [repo.home / ".config/dibs/config.toml", repo.root / ".dibs/config.toml", repo.store / "config.toml"]


@case
def list_shows_every_setting_and_where_it_comes_from():
    with Repo() as repo:
        settings = {entry["key"]: entry for entry in repo.reply("config", "list")["settings"]}
        check.has_fields(settings, {KEY, "coordination.heartbeat_interval_secs",
                                    "coordination.lease_renewal_threshold_pct", "worktree.mode",
                                    "worktree.enforce_leases", "coordination.max_indefinite_per_agent"})
        check.equal((settings[KEY]["value"], settings[KEY]["origin"]), (600, "default"))
        check.equal(settings["store.allow_network_file_system"]["value"], False)
        check.equal(settings["worktree.mode"]["value"], "auto")
        repo.run("config", "set", KEY, "900").expect(0)
        lines = repo.run("config", "list", "--show-origin").expect(0).out.splitlines()
        line = next(line for line in lines if line.startswith(KEY))
        check.contains(line, "= 900")
        check.contains(line, f"{repo.store}/config.toml:")
        check.true(all(line.rstrip().endswith("default") for line in lines if not line.startswith(KEY)),
                   "the others are defaults")


@case
def later_sources_win():
    with Repo() as repo:
        check.equal(repo.reply("config", "get", KEY)["value"], 600)
        for number, path in enumerate(places(repo), 1):
            write(path, f"[coordination]\ndefault_ttl_secs = {number}01\n")
            seen = repo.reply("config", "get", KEY)
            check.equal((seen["value"], seen["origin"]), (number * 100 + 1, f"{path}:2"))
            check.equal(repo.acquire(f"file{number}")["ttl_secs"], number * 100 + 1)
        env = {"DIBS_COORDINATION_DEFAULT_TTL_SECS": "401"}
        seen = repo.reply("config", "get", KEY, env=env)
        check.equal((seen["value"], seen["origin"]), (401, "DIBS_COORDINATION_DEFAULT_TTL_SECS"))
        check.equal(repo.acquire("environment", env=env)["ttl_secs"], 401)
        check.equal(repo.acquire("flag", "--ttl", "501", env=env)["ttl_secs"], 501)


@case
def set_keeps_comments_and_order():
    with Repo() as repo:
        before = "# ours\n[worktree]\nmode = \"auto\" # as it should be\n\n[coordination]\n# long jobs\ndefault_ttl_secs = 600\nmax_retries = 4\n"
        write(repo.store / "config.toml", before)
        answer = repo.reply("config", "set", KEY, "1800")
        check.equal((answer["key"], answer["value"]), (KEY, 1800))
        check.equal((repo.store / "config.toml").read_text(), before.replace("= 600", "= 1800"))
        repo.run("config", "set", "coordination.stale_after_secs", "60").expect(0)
        text = (repo.store / "config.toml").read_text()
        for part in ("# ours", "# as it should be", "# long jobs", "max_retries = 4", "default_ttl_secs = 1800",
                     "stale_after_secs = 60"):
            check.contains(text, part)
        check.equal(text.count("[coordination]"), 1)


@case
def set_keeps_a_comment_on_the_line_it_changes():
    with Repo() as repo:
        write(repo.store / "config.toml", "[coordination]\ndefault_ttl_secs = 600 # because builds are slow\n")
        repo.run("config", "set", KEY, "700").expect(0)
        check.contains((repo.store / "config.toml").read_text(), "# because builds are slow")


@case
def set_understands_other_ways_to_write_toml():
    for before in ("coordination.default_ttl_secs = 5\n", "[ coordination ]\ndefault_ttl_secs=5\n",
                   "coordination = {default_ttl_secs = 5}\n"):
        with Repo() as repo:
            write(repo.store / "config.toml", before)
            reply = repo.run("config", "set", KEY, "700", "--json")
            check.true(reply.code in (0, 8), str(reply))
            wanted = 700 if reply.code == 0 else 5
            check.equal(repo.reply("config", "get", KEY)["value"], wanted, before)


@case
def set_shared_writes_the_committed_file():
    with Repo() as repo:
        repo.run("config", "set", "--shared", KEY, "1234").expect(0)
        check.contains((repo.root / ".dibs/config.toml").read_text(), "default_ttl_secs = 1234")
        check.true(not (repo.store / "config.toml").exists())
        check.contains(repo.git("status", "--porcelain", "-uall", cwd=repo.root), ".dibs/config.toml")
        repo.run("config", "set", KEY, "99").expect(0)
        check.equal(repo.acquire("42")["ttl_secs"], 99)


@case
def every_setting_can_be_set_and_read_back():
    other = {"true": "false", "false": "true", "auto": "never", "strict": "warn", "local": "local"}
    with Repo() as repo:
        for entry in repo.reply("config", "list")["settings"]:
            value = str(entry["value"]).lower() if isinstance(entry["value"], (bool, str)) else str(entry["value"] + 1)
            value = {"worktree.mode": "off", "items.sync": "manual"}.get(entry["key"], other.get(value, value))
            repo.run("config", "set", entry["key"], value).expect(0)
            check.equal(repo.run("config", "get", entry["key"]).expect(0).out.strip(), value, entry["key"])


@case
def a_mistake_names_file_line_and_the_nearest_key():
    with Repo() as repo:
        for path in places(repo):
            for text, line, parts in (
                    ("[coordination]\n\ndefault_tll_secs = 5\n", 3, [KEY]),
                    ("[cordination]\ndefault_ttl_secs = 5\n", 2, [KEY]),
                    ("[coordination]\ndefault_ttl_secs = \"5\"\n", 2, [KEY, "whole number"]),
                    ("[coordination]\ndefault_ttl_secs = -5\n", 2, [KEY]),
                    ("[coordination]\ndefault_ttl_secs = 1.5\n", 2, [KEY]),
                    ("[worktree]\nmode = \"sometimes\"\n", 2, ["worktree.mode", "auto"]),
                    ("[store]\nallow_network_file_system = \"yes\"\n", 2, ["true or false"]),
                    ("[coordination]\ndefault_ttl_secs = \n", 2, []),
                    ("\n\nnonsense\n", 3, []),
                    ("default_ttl_secs = 5\n", 1, [])):
                write(path, text)
                for words in (["claim", "acquire", "42"], ["config", "list"]):
                    error = repo.refusal(64, *words)
                    check.contains(error["message"], f"{path}:{line}", text)
                    for part in parts:
                        check.contains(error["message"] + " " + error["hint"], part, text)
            path.unlink()
        check.equal(repo.log_bytes(), b"")


@case
def a_mistake_in_the_environment_or_a_command_is_named_too():
    with Repo() as repo:
        error = repo.refusal(64, "claim", "acquire", "42", env={"DIBS_COORDINATION_DEFAULT_TTL_SECS": "soon"})
        check.contains(error["message"], "DIBS_COORDINATION_DEFAULT_TTL_SECS")
        check.contains(repo.refusal(64, "config", "get", "coordination.default_ttl")["hint"], KEY)
        check.contains(repo.refusal(64, "config", "set", "worktre.mode", "on")["hint"], "worktree.mode")
        check.contains(repo.refusal(64, "config", "set", KEY, "0")["hint"], "from 1")
        repo.refusal(64, "config", "set", KEY)
        repo.refusal(64, "config", "set", KEY, "5", "6")
        check.true(not (repo.store / "config.toml").exists(), "nothing was written")
        check.contains(repo.refusal(64, "init", "--store", "redis")["message"], "redis")


@case
def a_broken_file_is_not_overwritten_by_set():
    with Repo() as repo:
        write(repo.store / "config.toml", "[coordination\n")
        repo.refusal(64, "config", "set", KEY, "5")
        check.equal((repo.store / "config.toml").read_text(), "[coordination\n")


@case
def many_who_set_at_once_do_not_undo_each_other():
    keys = ["coordination.max_retries", "coordination.stale_after_secs", "coordination.daemon_max_secs", KEY,
            "coordination.max_indefinite_per_agent", "coordination.heartbeat_interval_secs"]
    with Repo() as repo:
        with ThreadPoolExecutor(6) as pool:
            check.equal(set(pool.map(lambda key: repo.run("config", "set", key, "7").code, keys)), {0})
        check.equal([repo.reply("config", "get", key)["value"] for key in keys], [7] * 6)


@case
def worktree_mode_off_and_on_do_what_they_say():
    with Repo(commit=True) as repo:
        tree = repo.worktree("side")
        off = {"DIBS_WORKTREE_MODE": "off"}
        check.equal(repo.acquire("42", env=off)["worktree_id"], "")
        check.true(repo.acquire("42", env=off, cwd=tree)["already_held"], "one session in all worktrees")
        bare = repo.dir / "bare.git"
        repo.git("init", "-q", "--bare", bare)
        repo.run("init", cwd=bare).expect(0)
        check.equal(repo.refusal(8, "claim", "acquire", "42", cwd=bare, env={"DIBS_WORKTREE_MODE": "on"})["code"],
                    "refused")
        repo.acquire("43", env={"DIBS_WORKTREE_MODE": "on"})


@case
def the_help_of_the_environment_matches():
    with Repo() as repo:
        for entry in repo.reply("config", "list")["settings"]:
            name = "DIBS_" + re.sub(r"[.]", "_", entry["key"]).upper()
            error = repo.refusal(64, "config", "list", env={name: '"§'})
            check.contains(error["message"], name)


if __name__ == "__main__":
    main()
