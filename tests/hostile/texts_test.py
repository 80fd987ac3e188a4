"""Escape sequences, letters that turn around, and bombs, in every text that another can write and this machine reads: the log, the
items, other tools' files, settings, branches, commit messages, hooks' words. Shown escaped or refused, never obeyed."""

import functools
import json
import os
import resource
import subprocess

from hostile_site import DIBS, ITEMS, WORK, HostileClone, HostileRepo, add_case, case, check, run_tables, sealed, shared

ESCAPES = "\x1b]0;owned\x07\x1b[2J\u202e\u200b\x9b31m"
IN_JSON = json.dumps(ESCAPES)[1:-1]
MEMORY_MAX = 512 << 20
SHOWN_BY = [["claim", "list"], ["claim", "status"], ["claim", "history"], ["events"], ["doctor"], ["worktree", "list"], ["metrics"],
            ["queue", "list"], ["deadlock"], ["claim", "cleanup", "--dry-run"]]


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))


@functools.cache
def limit():
    """None where the program cannot even start with it: sanitizers map terabytes that they never use."""
    starts = subprocess.run([DIBS, "help"], preexec_fn=limited, capture_output=True, check=False).returncode == 0
    return limited if starts else None


# A member of a lease's record and of its event in the log, and what is there before.
LOG_FIELDS = {
    "lease_id": None, "agent_id": b"agent:one", "session": None, "worktree_id": None, "branch": b"main",
    "reason": b"placeholder", "resource": b"item:evilx",
}


def with_log_field(name):
    """The field's value is a terminal's command, in a log whose checksums are right."""
    with HostileRepo() as site:
        lease = site.acquire("evilx", "--reason", "placeholder")
        old = (lease[name] if name in lease else "placeholder").encode()
        seed, data = 0, b""
        for line in site.log_bytes().splitlines():
            body = line[:line.rindex(b',"crc":"')].replace(b'"' + old, b'"' + IN_JSON.encode() + old)
            whole, seed = sealed(body, seed)
            data += whole
        site.log_path.write_bytes(data)
        for words in SHOWN_BY:
            site.attack(*words)
            site.attack(*words, "--json")


for field in LOG_FIELDS:
    add_case(f"escapes in the log's {field}", lambda name=field: with_log_field(name))

# One line for `item add --batch -`, or why it is none.
BATCHES = {
    "an array a hundred thousand deep": b"[" * 100_000,
    "an object a hundred thousand deep": b'{"a":' * 100_000,
    "a title of escapes": json.dumps({"title": ESCAPES}).encode(),
    "labels of escapes": json.dumps({"title": "x", "labels": [ESCAPES]}).encode(),
    "an id that is a path": b'{"title":"x","id":"../../outside/canary"}',
    "an id that is an option": b'{"title":"x","id":"--upload-pack=x"}',
    "one key twice": b'{"title":"a","title":"b"}',
    "a number without end": b'{"title":"x","priority":' + b"9" * 100_000 + b"}",
    "a number that is none": b'{"title":"x","priority":NaN}',
    "fifty thousand members": json.dumps({f"k{n}": n for n in range(50_000)}).encode(),
    "fifty thousand labels": json.dumps({"title": "x", "labels": [f"l{n}" for n in range(50_000)]}).encode(),
    "a body of five megabytes": json.dumps({"title": "x", "body": "b" * 5_000_000}).encode(),
    "a line that never ends": b'{"title":"' + b"x" * 20_000_000,
    "a zero byte": b'{"title":"a\0b"}',
    "half a surrogate": b'{"title":"\\ud800"}',
    "no UTF-8": b'{"title":"\xff\xfe"}',
    "a hundred thousand empty lines": b"\n" * 100_000,
    "globs that explode": json.dumps({"title": "x", "files": ["{a,b}" * 200, "[" * 900, "*" * 900]}).encode(),
}


def batch_of(line):
    site = shared(HostileRepo)
    reply = site.attack("item", "add", "--batch", "-", "--json", stdin=line, may_change=ITEMS, preexec_fn=limit())
    site.attack("item", "list", may_change=ITEMS)
    check.true(reply.code in (0, 8, 64, 1), f"{reply!r}")


for about, text in BATCHES.items():
    add_case(f"a batch with {about}", lambda line=text: batch_of(line))

# Files that a repository brings along, or that lie in the store: what stands in them.
CONFIG = ".dibs/config.toml"
FILES = {
    "settings with escapes": (CONFIG, f'[worktree]\nmode = "{IN_JSON}"\n'),
    "a setting's name with escapes": (CONFIG, f'[worktree]\n"{IN_JSON}" = 1\n'),
    "a broken header": (CONFIG, "[}"),
    "letters where none belong": (CONFIG, "a = \u03c9"),
    "a table ten thousand deep": (CONFIG, "a=" + "[" * 10_000),
    "inline tables ten thousand deep": (CONFIG, "a=" + "{a=" * 10_000),
    "a key of ten thousand parts": (CONFIG, ".".join(["a"] * 10_000) + " = 1\n"),
    "settings of a megabyte": (CONFIG, "# x\n" * 300_000),
    "a number without end": (CONFIG, "[coordination]\ndefault_ttl_secs = " + "9" * 1000),
    "a remote that runs programs": (CONFIG, '[store]\nkind = "git"\nremote = "ext::sh -c true"\n'),
    "a remote that is an option": (CONFIG, '[store]\nkind = "git"\nremote = "--upload-pack=true"\n'),
    "a gate with escapes": (CONFIG, f'[gates."{IN_JSON}"]\ncommand = "{IN_JSON}"\n'),
    "worktrees somewhere else": (CONFIG, '[worktree]\nroot = "../../../outside"\n'),
    "states with escapes": (".dibs/workflow.toml", f'initial = "{IN_JSON}"\n[[state]]\nname = "{IN_JSON}"\nkind = "open"\n'),
    "a thousand states": (".dibs/workflow.toml", 'initial = "s1"\n' + "".join(
        f'[[state]]\nname = "s{n}"\nkind = "open"\n' for n in range(1000))),
    "agents with escapes": (".dibs/agents.toml", f'[agent."{IN_JSON}"]\ncapacity = 1\n'),
    "a worktree's name that is deep": (".git/dibs/worktree.json", "[" * 100_000),
    "a worktree's name with escapes": (".git/dibs/worktree.json", json.dumps(
        {"schema_version": 1, "worktree_id": ESCAPES, "root": ESCAPES, "created_at": "2026-01-01T00:00:00Z"})),
    "a landing that never was": (".git/dibs/landing.json", json.dumps(
        {"refs": [{"name": "refs/heads/main", "from": "1" * 40, "to": "2" * 40}], "line": ESCAPES, "reason": ESCAPES})),
    "a landing of another file": (".git/dibs/landing.json", json.dumps(
        {"refs": [{"name": "../../outside/canary", "from": "", "to": "2" * 40}], "line": "", "reason": "x"})),
    "trust in everything": (".git/dibs/trusted.json", '{"trusted":"*"}'),
    "an index of items that is none": (".git/dibs/items.index", "\0" * 4096),
    "changes of items that are none": (".git/dibs/items.changes", "[" * 100_000 + "\n"),
    "an index of claims that is none": (".git/dibs/claims.index.json", '{"schema_version":1,' + "[" * 50_000),
    "a log that is one long line": (".git/dibs/claims.jsonl", "x" * 3_000_000),
    "a log of a hundred thousand brackets": (".git/dibs/claims.jsonl", "[" * 100_000 + "\n"),
    "totals that are none": (".git/dibs/totals.json", '{"sequence":' + "9" * 1000 + "}"),
}
WITH_FILES = [["claim", "acquire", "x"], ["item", "list"], ["gate", "list"], ["config", "list", "--show-origin"], ["metrics"],
              ["ready"], ["claim", "release", "x"]]


def with_file(name, text):
    with HostileRepo() as site:
        (site.root / name).parent.mkdir(exist_ok=True)
        (site.root / name).write_text(text)
        for words in WITH_FILES:
            site.attack(*words, preexec_fn=limit())


for about, (file_name, contents) in FILES.items():
    add_case(f"a file with {about}", lambda name=file_name, text=contents: with_file(name, text))

# Other tools' items, in their own files.
IMPORTS = {
    "beads with escapes": ("beads", json.dumps({"id": "bd-1", "title": ESCAPES, "status": ESCAPES, "labels": [ESCAPES]}) + "\n"),
    "beads a hundred thousand deep": ("beads", "[" * 100_000 + "\n"),
    "beads in a circle": ("beads", "".join(json.dumps({"id": a, "title": a, "dependencies": [
        {"issue_id": a, "depends_on_id": b, "type": "parent-child"}]}) + "\n" for a, b in (("a", "b"), ("b", "a")))),
    "beads whose id is a path": ("beads", '{"id":"../../outside/canary","title":"x"}\n'),
    "json with escapes": ("json", json.dumps({"id": "a", "title": ESCAPES, "body": ESCAPES, "created_by": ESCAPES}) + "\n"),
    "json of nothing": ("json", "\0" * 1000),
}


def imported(form, text):
    with HostileRepo() as site:
        (site.dir / "import").write_text(text)
        site.attack("item", "import", "--from", form, str(site.dir / "import"), may_change=ITEMS, preexec_fn=limit())
        for words in (["item", "list"], ["ready"], ["item", "show", "bd-1"], ["graph"], ["blocked"]):
            site.attack(*words, may_change=ITEMS)


for about, (format_name, file_text) in IMPORTS.items():
    add_case(f"an import of {about}", lambda form=format_name, text=file_text: imported(form, text))


@case
def commit_messages_and_branches_with_escapes_land_quietly():
    with HostileRepo() as site:
        item = site.run("item", "add", "One", "--json").expect(0).json()["id"]
        path = site.run("start", item, "--json").expect(0).json()["path"]
        (site.dir / path / "landed").write_text("x")
        site.git("add", "-A", cwd=path)
        site.git("commit", "-q", "-m", f"work {ESCAPES}\n\n{ESCAPES}\nDibs-Lease: evil", cwd=path)
        site.attack("conflicts", may_change=WORK)
        site.attack("done", "--mode=squash", cwd=path, may_change=WORK, codes={0})
        site.attack("item", "history", item, may_change=WORK)


@case
def what_a_remotes_hook_says_is_shown_escaped():
    """Sideband words and a hook's refusal, by git's own transport."""
    with HostileClone() as site:
        hook = site.remote.path / "hooks/pre-receive"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\nprintf '\\033]0;owned\\007\\033[2J error: \\342\\200\\256no\\n' >&2\nexit 1\n")
        hook.chmod(0o755)
        reply = site.attack("claim", "acquire", "x", codes={8, 11}, may_change=("remote.git/objects/",))
        check.absent(reply.out, "claimed")


@case
def a_path_of_the_repository_with_escapes_is_shown_escaped():
    with HostileRepo(init=False) as site:
        evil = site.dir / f"re{ESCAPES}po"
        os.rename(site.root, evil)
        site.root = evil
        for words in (["init"], ["claim", "acquire", "x"], ["worktree", "list"], ["doctor"], ["config", "list", "--show-origin"],
                      ["worktree", "add", "--branch=b"]):
            site.attack(*words, may_change=(f"{evil.name}/.git/", f"{evil.name}.worktrees/"))


if __name__ == "__main__":
    run_tables()
