"""The texts that people and programs read, as transcripts in snapshots/*.txt; what differs from run to run is masked.

    python3 tests/e2e/snapshots_test.py --update    writes them anew; read the difference before you keep it
"""

import difflib
import re
import sys
from pathlib import Path

from harness import Repo, Scratch, add_case, case, check, main, wait_until

FOLDER = Path(__file__).parent / "snapshots"
WIDTH = 80
MASKS = [(re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
         (re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b"), "<lease>"),
         (re.compile(r"wt:[0-9a-f]{8}"), "wt:<id>"), (re.compile(r"\bdibs \d+\.\d+\S*"), "dibs <version>"),
         (re.compile(r'"version":"[^"]*"'), '"version":"<version>"'),
         (re.compile(r"\b9 min 5\d s\b|\b10 min\b"), "<ten minutes>"),
         (re.compile(r"expired (\d+ m?s|less than a second|\S+ s) ago"), "expired <a while> ago"),
         (re.compile(r'"average_acquisition_ms":[\d.]+'), '"average_acquisition_ms":<ms>'),
         (re.compile(r'"longest_held_secs":\d+'), '"longest_held_secs":<secs>'),
         (re.compile(r"(dibs_longest_held_seconds) +\d+"), r"\1 <secs>"),
         (re.compile(r"(seconds_avg +)[\d.]+"), r"\1<s>"),
         (re.compile(r"damaged-[0-9a-f]{8}"), "damaged-<id>")]


def masked(text, scratch):
    text = text.replace(str(scratch.dir), "<dir>")
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return text


class Transcript:
    """What a terminal session would look like."""

    def __init__(self, scratch):
        self._scratch, self.text = scratch, ""

    def run(self, *words, **more):
        reply = self._scratch.run(*words, **more)
        who = f"DIBS_AGENT_ID={more['agent']} " if more.get("agent") else ""
        shown = " ".join(f'"{word}"' if " " in word or word == "" else word for word in words).encode("unicode_escape").decode()
        self.text += masked(f"$ {who}dibs {shown}".rstrip() + f"\n{reply.out}{reply.err}", self._scratch)
        self.text += f"[exit {reply.code}]\n\n" if reply.code else "\n"
        return reply


def commands(scratch):
    """All commands, as the overview lists them."""
    overview = scratch.run("help").expect(0).out
    return [re.split(r"  +", line.strip())[0] for line in overview.splitlines() if re.match(r"^  [a-z]", line)]


def help_texts():
    with Scratch() as scratch:
        seen = Transcript(scratch)
        seen.run("help")
        for group in ("claim", "worktree", "worktree rescue", "config"):
            seen.run("help", *group.split())
        for command in commands(scratch):
            seen.run(*command.split(), "--help")
        return seen.text


def exit_codes():
    with Scratch() as scratch:
        seen = Transcript(scratch)
        seen.run("help", "exit-codes")
        seen.run("promises")
        seen.run("--version")
        return seen.text


def a_session(seen, repo, *more):
    """One of everything, in an order that makes sense."""
    for words in ("init", "init", "claim acquire 42", "claim acquire 42", "claim status 42", "claim status 43",
                  "claim status", "claim list",
                  "claim renew 42", "claim heartbeat", "claim downgrade 42", "claim upgrade 42",
                  "claim acquire 1 lock:schema --ttl 60",
                  "claim verify 1 --fence 6", "claim release 42", "claim release 42", "claim transfer 1 --to agent:two",
                  "claim force-evict 1 --reason stuck", "claim history", "claim history 1 --limit 2",
                  "events --since 7", "claim cleanup", "worktree info",
                  "worktree list", "config get worktree.mode", "config set worktree.mode auto", "config list", "doctor",
                  "recover", "metrics"):
        seen.run(*words.split(), *more)
    repo.acquire("7", "--ttl", "1")
    wait_until(lambda: repo.holder("7") is None, "the lease to end")
    seen.run("claim", "list", "--stale", *more)
    seen.run("claim", "cleanup", "--dry-run", *more)
    seen.run("claim", "cleanup", *more)


def replies(*more):
    with Repo(init=False) as repo:
        seen = Transcript(repo)
        a_session(seen, repo, *more)
        return seen.text


def errors(*more):
    with Repo(init=False) as repo:
        seen = Transcript(repo)
        seen.run("claim", "acquire", "42", *more, cwd=repo.dir)
        seen.run("claim", "acquire", "42", *more)
        repo.run("init").expect(0)
        seen.run("claim", "acquire", "42", *more, env={"DIBS_AGENT_ID": None})
        repo.acquire("42")
        repo.acquire("lock:doc", "--shared")
        seen.run("claim", "acquire", "42", *more, agent="agent:two")
        seen.run("claim", "acquire", "41", "42", *more, agent="agent:two")
        seen.run("claim", "acquire", "42", *more, env={"DIBS_SESSION": "run-2"})
        for words in ("claim renew 42", "claim release 42", "claim acquire lock:doc", "claim acquire 42 --wait 0"):
            seen.run(*words.split(), *more, agent="agent:two")
        for words in ("claim renew 43", "claim release 43", "claim verify 42 --fence 9", "claim verify 43 --fence 1",
                      "claim acquire lock:doc",
                      "claim acquire 5 --ttl 0", "claim acquire 5 --ttl -1", "claim acquire 5 --strategy force",
                      "claim acquire 5 --pid 2147483647",
                      "claim acquire 5 --wait soon", "claim acquire 5 --wait 5 --priority 9",
                      "claim acquire 5 --files src", "claim acquire file:src/**", "claim acquire", "claim aquire 5",
                      "claim acquire 5 --tll 5", "claim",
                      "claim transfer 42", "claim transfer 42 --to nobody", "claim force-evict 42",
                      "claim status 1 --item 2", "config get worktre.mode",
                      "config set coordination.default_ttl_secs soon", "init --store redis", "completion tcsh",
                      "help nonsense", "nonsense"):
            seen.run(*words.split(), *more)
        seen.run("claim", "acquire", "a\x1b[31mb", *more)
        seen.run("claim", "acquire", "", *more)
        for n in ("8", "9"):
            repo.acquire(n, "--ttl", "0", "--reason", "x")
        seen.run("claim", "acquire", "10", "--ttl", "0", "--reason", "x", *more)
        repo.run("claim", "force-evict", "42", "--reason", "stuck", agent="human:boss").expect(0)
        seen.run("claim", "renew", "42", *more)
        (repo.store / "config.toml").write_text("[coordination]\ndefault_tll_secs = 5\n")
        seen.run("claim", "acquire", "42", *more)
        (repo.store / "config.toml").unlink()
        with open(repo.log_path, "ab") as log:
            log.write(b'{"torn')
        seen.run("claim", "acquire", "42", *more)
        repo.log_path.write_bytes(repo.log_bytes().replace(b"agent:one", b"agent:eno", 1))
        seen.run("claim", "status", "42", *more)
        seen.run("doctor", *more)
        seen.run("recover", *more)
        seen.run("recover", "--salvage", *more)
        return seen.text


SNAPSHOTS = {"help": help_texts, "exit-codes": exit_codes, "replies": replies,
             "replies-json": lambda: replies("--json"), "errors": errors,
             "errors-json": lambda: errors("--json")}


def compare(name, make):
    path, seen = FOLDER / f"{name}.txt", make()
    seen = re.sub(r"[ \t]+\n", "\n", seen).rstrip("\n") + "\n"
    if "--update" in sys.argv:
        path.write_text(seen)
        return
    kept = path.read_text() if path.exists() else ""
    difference = "\n".join(difflib.unified_diff(kept.splitlines(), seen.splitlines(), f"snapshots/{name}.txt", "now",
                                                lineterm="", n=1))
    check.true(kept == seen,
               f"the text changed; if that is meant: python3 tests/e2e/snapshots_test.py --update\n{difference}")


for snapshot, maker in SNAPSHOTS.items():
    add_case(snapshot, lambda name=snapshot, make=maker: compare(name, make))


@case
def help_fits_in_80_columns():
    with Scratch() as scratch:
        long = []
        for words in [["help"], ["help", "exit-codes"], ["claim", "--help"],
                      *[[*c.split(), "--help"] for c in commands(scratch)]]:
            long += [f"{len(line)}: dibs {' '.join(words)}: {line}" for line in scratch.run(*words).out.splitlines() if len(line) > WIDTH]
        check.true(not long, "lines longer than 80 columns:\n" + "\n".join(long))


@case
def every_command_has_an_example_that_parses():
    with Scratch() as scratch:
        for command in commands(scratch):
            text = scratch.run(*command.split(), "--help").expect(0).out
            check.contains(text, "Example:\n  ", command)
            example = text.split("Example:\n  ")[1].splitlines()[0]
            check.contains(example, f"dibs {command}")


if __name__ == "__main__":
    main()
