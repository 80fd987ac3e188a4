"""Bad input: a clear error, the right exit code, nothing written, and nothing of it reaching the terminal raw."""

import os
import shlex
import subprocess

from harness import DIBS, Repo, add_case, case, check, main, sealed

BIDI = "\u202e\u2066\u200b\ufeff"
LONG = "x" * 10_240
NOT_UTF8 = b"\xff\xfe\x80"

# Names that cannot be shown or are no names at all.
BAD_IDS = {"empty": "", "only a prefix": "item:", "a newline": "a\nb", "a carriage return": "a\rb", "a tab": "a\tb",
           "an escape code": "\x1b[31mred",
           "a bell": "a\x07", "DEL": "a\x7f", "a C1 control": "a\x9b1m", "bidi characters": f"a{BIDI}b", "10 KB": LONG,
           "not UTF-8": NOT_UTF8,
           "an overlong slash": b"\xc0\xaf", "a surrogate": b"\xed\xa0\x80"}
# Names that are ugly and fine: dibs works beside any tracker.
GOOD_IDS = ["a/b", "../../etc/passwd", "..", ".", "a b", "it's", 'say "x"', "a;touch gone", "$(touch gone)",
            "`touch gone`", "a\\b", "*", "~", "%s%n",
            "item:item:1", "HEAD.lock", "@{u}", "naïve-名前-🦊", "-dash", "CON", "a:b", "null", "x" * 200]
BAD_AGENTS = {"no colon": "copilot", "empty": "", "no name": "agent:", "no type": ":name", "a slash": "agent:a/b",
              "dots": "agent:../../x/",
              "a space": "agent:a b", "a quote": "agent:it's", "a newline": "agent:a\nb",
              "an escape code": "agent:\x1b[2J", "10 KB": "agent:" + LONG,
              "not UTF-8": b"agent:" + NOT_UTF8, "two colons": "agent:a:b", "upper-case type": "Agent:a",
              "a dollar": "agent:$HOME"}
BAD_TTLS = ["-1", "1e99", "abc", "", " 5", "5 ", "+5", "0x10", "1.5", "99999999999999999999", "5s", "٣",
            "9223372036854775807"]
TYPOS = {("claim", "acquire", "42", "--tll", "5"): "--ttl", ("claim", "acquire", "42", "--share"): "--shared",
         ("claim", "list", "--stael"): "--stale",
         ("claim", "aquire", "42"): "claim acquire", ("clam", "acquire", "42"): "claim", ("docter",): "doctor",
         ("claim", "acquire", "42", "--jsno"): "--json",
         ("claim", "acquire", "42", "--strategy", "retyr"): "retry",
         ("claim", "acquire", "42", "--strategy=forse"): "force",
         ("metrics", "--format", "prometeus"): "prometheus", ("--agentid", "agent:x", "claim", "list"): "--agent-id",
         ("init", "--stroe", "local"): "--store"}
WRONG_USE = {"no resource": ["claim", "acquire"], "no lease": ["claim", "renew"],
             "a word too many": ["claim", "release", "1", "2"],
             "no value": ["claim", "acquire", "42", "--ttl"],
             "an unknown short option": ["claim", "acquire", "42", "-x"],
             "an unknown long option": ["claim", "acquire", "42", "--zzzzzz"],
             "65 resources": ["claim", "acquire", *map(str, range(65))],
             "an unknown strategy": ["claim", "acquire", "42", "--strategy", "hope"],
             "pid 0": ["claim", "acquire", "42", "--pid", "0"],
             "pid -5": ["claim", "acquire", "42", "--pid", "-5"],
             "a huge pid": ["claim", "acquire", "42", "--pid", "99999999999"],
             "every 0": ["claim", "heartbeat", "--every", "0"],
             "a negative fence": ["claim", "verify", "42", "--fence", "-1"],
             "limit 0": ["claim", "history", "--limit", "0"], "a negative since": ["events", "--since", "-1"],
             "an unknown colour": ["--color", "pink", "claim", "list"], "an unknown shell": ["completion", "tcsh"],
             "unknown help": ["help", "nonsense"],
             "an unknown store": ["claim", "list", "--store", "floppy"],
             "no directory": ["-C", "nowhere", "claim", "list"], "only a group": ["claim"],
             "a value for a flag": ["claim", "acquire", "42", "--shared=maybe"]}


def check_harmless(text, what):
    for character in text:
        code = ord(character)
        raw = (code < 0x20 and character != "\n") or 0x7F <= code <= 0x9F or character in BIDI or code == 0xFFFD
        check.true(not raw, f"{what}: raw character U+{code:04X} in {text[:200]!r}")
    check.true(len(text) < 2000, f"{what}: {len(text)} characters of error")


def check_refused(repo, code, *words, hint=True, **more):
    """Refused in text and in JSON, and nothing written. Returns the text."""
    before = repo.log_bytes()
    reply = repo.run(*words, **more)
    what = f"dibs {words!r:.200}"
    check.equal(reply.code, code, f"{what}: {reply.err[:300]!r}\nexit code")
    check_harmless(reply.out + reply.err, what)
    lines = reply.err.splitlines()
    check.equal([line.split(" ")[0] for line in lines], ["error:", "hint:"] if hint else ["error:"],
                f"{what}: {reply.err!r}")
    json_reply = repo.run(*words, "--json", **more) if words[-1] != "--ttl" else repo.run("--json", *words, **more)
    check.equal(json_reply.code, code, what)
    check_harmless(json_reply.err, what)
    json_reply.error()
    check.equal(json_reply.out, "", what)
    check.true(repo.log_bytes() == before, f"{what} wrote to the log")
    return reply.err


def refused_id(bad):
    with Repo() as repo:
        repo.acquire("mine")
        commands = [["claim", verb] for verb in ("acquire", "renew", "release", "status", "upgrade", "downgrade",
                                                 "history")]
        for words in commands + [["claim", "verify", "--fence=1"], ["claim", "transfer", "--to=agent:two"],
                                 ["claim", "force-evict", "--reason=x"]]:
            if bad == "" and words[1] in ("status", "history"):
                continue
            check_refused(repo, 64, *words, bad)
        check_refused(repo, 64, "claim", "acquire", "fine", bad)
        check_refused(repo, 64, "events", "--resource", bad)
        check.equal(repo.reply("claim", "list")["count"], 1)


def accepted_id(name):
    with Repo() as repo:
        lease = repo.run("--json", "claim", "acquire", "--", name).expect(0).json()
        plain = name[5:] if name.startswith("item:") else name
        check.equal(lease["resource"], "item:" + plain)
        check.equal(repo.reply("claim", "status", "item:" + plain)["lease"]["lease_id"], lease["lease_id"])
        check_harmless(repo.run("claim", "list").expect(0).out, name)
        hint = repo.refusal(3, "claim", "acquire", "item:" + plain, agent="agent:two")["hint"]
        paste(repo, hint[hint.index("dibs "):], "agent:one", lease)
        repo.reply("claim", "release", "item:" + plain)
        files = {str(path.relative_to(repo.dir)) for path in repo.dir.rglob("*")
                 if ".git/" not in str(path) and "home" not in str(path)}
        check.equal(files, {"repo", "repo/.git"}, "nothing is made outside the store")
        check.equal({path.name for path in repo.store.iterdir()} - {"worktree.json", "worktree.lock", "counters"},
                    {"claims.jsonl", "heartbeat", "locks", "reserve"})


def paste(repo, command, agent, lease):
    """A hint is a command that can be pasted: as the holder it must name this very lease."""
    script = f"dibs() {{ {shlex.quote(os.path.abspath(DIBS))} \"$@\"; }}; {command} --max-retries 0 --json"
    done = subprocess.run(["bash", "-c", script], cwd=repo.root, env=repo.environment(agent), capture_output=True,
                          text=True, timeout=30)
    check.equal(done.returncode, 0, f"pasting `{command}`: {done.stderr}")
    check.contains(done.stdout, lease["lease_id"], f"pasting `{command}`")


for about, bad_id in BAD_IDS.items():
    add_case(f"an id with {about} is refused", lambda bad=bad_id: refused_id(bad))
for good_id in GOOD_IDS:
    add_case(f"the id {good_id[:30]!a} is only a name", lambda name=good_id: accepted_id(name))


@case
def agents_that_are_none_are_refused():
    with Repo() as repo:
        repo.acquire("mine")
        for bad in BAD_AGENTS.values():
            flag = b"--agent-id=" + bad if isinstance(bad, bytes) else f"--agent-id={bad}"
            check_refused(repo, 64, "claim", "acquire", "42", flag)
            check_refused(repo, 64, "claim", "transfer", "mine",
                          b"--to=" + bad if isinstance(bad, bytes) else f"--to={bad}")
            if isinstance(bad, str):
                check_refused(repo, 64, "claim", "acquire", "42", env={"DIBS_AGENT_ID": bad})


@case
def sessions_that_are_none_are_refused():
    with Repo() as repo:
        for bad in ("a b", "a/b", "a\nb", "\x1b[31m", LONG, "é"):
            check_refused(repo, 64, "claim", "acquire", "42", env={"DIBS_SESSION": bad})
        for bad in ("abc", "0", "-1", "99999999999"):
            check_refused(repo, 64, "claim", "acquire", "42", env={"DIBS_PID": bad})


@case
def ttls_that_are_none_are_refused():
    with Repo() as repo:
        repo.acquire("mine")
        for bad in BAD_TTLS:
            check_refused(repo, 64, "claim", "acquire", "42", f"--ttl={bad}")
            check_refused(repo, 64, "claim", "renew", "mine", f"--ttl={bad}")
        for bad in ("-1", "abc", "1e99"):  # as a word of its own
            text = check_refused(repo, 64, "claim", "acquire", "42", "--ttl", bad)
            check.contains(text, "--ttl")


@case
def a_reason_of_a_megabyte_is_refused():
    with Repo() as repo:
        repo.acquire("mine")
        # One argument may be 128 KB on Linux: this is the longest that dibs can be given.
        for reason in ("r" * 131_000, "r" * 8_192 * 2):
            check_refused(repo, 64, "claim", "acquire", "42", "--reason", reason)
            check_refused(repo, 64, "claim", "force-evict", "mine", "--reason", reason)
        for reason in ("two\nlines", "\x1b[31m", f"hid{BIDI}den", NOT_UTF8):
            check_refused(repo, 64, "claim", "acquire", "42", "--reason", reason)
            check_refused(repo, 64, "claim", "force-evict", "mine", "--reason", reason)


@case
def a_megabyte_of_reason_in_one_argument_never_reaches_the_store():
    with Repo() as repo:
        try:
            check_refused(repo, 64, "claim", "acquire", "42", "--reason", "r" * (1 << 20))
        except OSError as error:  # E2BIG: the kernel refused before dibs could
            check.equal(error.errno, 7)
        check.equal(repo.log_bytes(), b"")


for typo, meant in TYPOS.items():
    def suggested(words=typo, wanted=meant):
        with Repo() as repo:
            text = check_refused(repo, 64, *words)
            check.contains(text.splitlines()[1], wanted)
    add_case(f"`{' '.join(typo)}` suggests {meant}", suggested)

for about, use in WRONG_USE.items():
    def refused_use(words=use):
        with Repo() as repo:
            if words == ["claim"]:
                check.equal(repo.run("claim").code, 64)
                return
            check_refused(repo, 64, *words)
    add_case(f"wrong use: {about}", refused_use)


@case
def a_process_that_is_not_there_is_not_found():
    with Repo() as repo:
        check_refused(repo, 4, "claim", "acquire", "42", "--pid", "2147483647")


@case
def hostile_text_in_the_store_is_shown_escaped():
    """A record written by hand or by another tool may hold anything; a terminal must not obey it."""
    with Repo() as repo:
        repo.acquire("evilx", "--reason", "placeholder")
        lines, seed, data = repo.log_bytes().splitlines(), 0, b""
        for line in lines:
            body = line[:line.rindex(b',"crc":"')]
            body = body.replace(b"item:evilx", b"item:\\u001b[31mevil\\u202e")
            body = body.replace(b"placeholder", b"\\u001b]0;owned\\u0007")
            body = body.replace(b'"branch":"main"', b'"branch":"\\u001b[2J"')
            sealed_line, seed = sealed(body, seed)
            data += sealed_line
        repo.log_path.write_bytes(data)
        for words in (["claim", "list"], ["claim", "history"], ["events"], ["claim", "status"], ["worktree", "list"],
                      ["doctor"], ["claim", "cleanup"],
                      ["claim", "heartbeat"], ["claim", "list", "--json"], ["claim", "history", "--json"]):
            reply = repo.run(*words)
            check_harmless(reply.out + reply.err, str(words))


@case
def hostile_branch_and_path_names_are_shown_escaped():
    with Repo(init=False) as repo:
        evil = repo.dir / "re\x1b[31mpo\u202e"
        repo.git("init", "-q", "-b", "main", evil)
        for words in (["init"], ["claim", "acquire", "42"], ["worktree", "list"], ["worktree", "info"], ["doctor"],
                      ["config", "set", "worktree.mode", "auto"],
                      ["config", "list", "--show-origin"], ["worktree", "list", "--json"],
                      ["claim", "status", "42", "-C", "no\x1b[31m"]):
            reply = repo.run(*words, cwd=evil)
            for line in (reply.out + reply.err).replace("\t", " ").splitlines(keepends=True):
                check_harmless(line, str(words))


@case
def hostile_git_files_do_no_harm():
    with Repo() as repo:
        (repo.root / ".git/HEAD").write_bytes(b"ref: refs/heads/\x1b[31m\xff\n")
        check.equal(repo.acquire("42")["branch"], "")
        (repo.root / ".git/HEAD").write_bytes(b"x" * 200_000)
        check.equal(repo.acquire("43")["branch"], "")


def put_in_the_place_of(name, make):
    with Repo() as repo:
        (repo.store / name).unlink(missing_ok=True)
        make(repo.store / name)
        try:
            reply = repo.run("claim", "acquire", "42", timeout=5)
        except subprocess.TimeoutExpired:
            raise AssertionError("it hangs") from None
        check.true(reply.code in (0, 1, 10, 11), str(reply))
        check.true(reply.code == 0 or reply.err.startswith("error: "), str(reply))


for replaced in ("claims.jsonl", "config.toml", "claims.index.json", "worktree.json", "counters", "locks/claims.lock",
                 "reserve"):
    add_case(f"a FIFO in the place of {replaced} does not hang",
             lambda name=replaced: put_in_the_place_of(name, os.mkfifo))
    add_case(f"a directory in the place of {replaced} is no crash",
             lambda name=replaced: put_in_the_place_of(name, os.mkdir))


@case
def a_broken_worktree_name_names_its_repair():
    for text in ("", "{", "null", '{"worktree_id":7}',
                 '{"schema_version":1,"worktree_id":"wt:\\u001b[31m","root":"/","created_at":"2026-01-01T00:00:00Z"}'):
        with Repo() as repo:
            (repo.store / "worktree.json").write_text(text)
            reply = repo.run("claim", "acquire", "42")
            check_harmless(reply.err, text)
            if reply.code:
                check.contains(reply.err, "worktree.json")
                check.contains(reply.err, "hint: ")


if __name__ == "__main__":
    main()
