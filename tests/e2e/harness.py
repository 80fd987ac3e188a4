"""What every end-to-end test shares: cases with names, a scratch repository, and the real binary run in a clean environment.

    @case
    def a_second_agent_is_refused():
        with Repo() as repo:
            repo.reply("claim", "acquire", "42")
            error = repo.refusal(3, "claim", "acquire", "42", agent="agent:two")
            check.equal(error["holder"], "agent:one")

    if __name__ == "__main__":
        main()
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIBS = os.environ.get("DIBS_BIN") or str(ROOT / "build/release/dibs")
HANG_SECS = 60  # nothing here takes a tenth of this; a command that does hangs
ULID = re.compile(r"^[0-7][0-9A-HJKMNP-TV-Z]{25}$")
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
LEASE_FIELDS = {"lease_id", "resource", "agent_id", "session", "worktree_id", "branch", "mode", "fence", "ttl_secs",
                "acquired_at", "expires_at"}


class Skip(Exception):
    """This machine cannot show it; the text says why."""


class check:
    """Assertions that say what they saw."""

    @staticmethod
    def true(condition, message="expected to be true"):
        if not condition:
            raise AssertionError(message)

    @staticmethod
    def equal(seen, wanted, what=""):
        check.true(seen == wanted, f"{what + ': ' if what else ''}saw {seen!r}, wanted {wanted!r}")

    @staticmethod
    def contains(text, part, what=""):
        check.true(part in text, f"{what + ': ' if what else ''}no {part!r} in {text!r}")

    @staticmethod
    def absent(text, part, what=""):
        check.true(part not in text, f"{what + ': ' if what else ''}{part!r} in {text!r}")

    @staticmethod
    def has_fields(obj, fields, what=""):
        missing = set(fields) - set(obj)
        check.true(not missing, f"{what or 'object'} lacks {sorted(missing)}: {obj}")


def clean_environment(home):
    """Nothing of the person who runs the tests: no identity, no configuration, no colours, no DIBS_*."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    # `export DIBS_AGENT_ID` is how agents say who they are, so that is what the tests do.
    return kept | {
        "HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "TERM": "xterm", "DIBS_AGENT_ID": "agent:one",
        "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": "test", "GIT_AUTHOR_EMAIL": "test@example.com",
        "GIT_COMMITTER_NAME": "test", "GIT_COMMITTER_EMAIL": "test@example.com",
    }


class Reply:
    """What one run of dibs answered."""

    def __init__(self, args, code, out, err):
        self.args, self.code, self.out, self.err = args, code, out, err

    def __repr__(self):
        return f"dibs {' '.join(map(str, self.args))[:300]}\n  exit {self.code}\n  out: {self.out[:2000]!r}\n  err: {self.err[:2000]!r}"

    def expect(self, code):
        check.true(self.code == code, f"wanted exit {code}\n  {self!r}")
        return self

    def json(self):
        """The one object on stdout."""
        lines = self.out.splitlines()
        check.true(len(lines) == 1, f"wanted exactly one line of JSON\n  {self!r}")
        check.true(self.out.startswith('{"schema_version":1,'), f"schema_version does not come first\n  {self!r}")
        return json.loads(lines[0])

    def lines(self):
        """The objects of a stream."""
        return [json.loads(line) for line in self.out.splitlines()]

    def error(self):
        """The one error on stderr, warnings aside."""
        objects = [json.loads(line) for line in self.err.splitlines()]
        errors = [o["error"] for o in objects if "error" in o]
        check.true(len(errors) == 1, f"wanted exactly one error\n  {self!r}")
        check.has_fields(errors[0], {"code", "message"}, "the error")
        return errors[0]

    def warnings(self):
        return [o["warning"] for o in map(json.loads, self.err.splitlines()) if "warning" in o]


class Scratch:
    """A directory that goes away, with a home of its own in it."""

    def __init__(self):
        self.dir = Path(tempfile.mkdtemp(prefix="dibs-test-")).resolve()
        self.home = self.dir / "home"
        self.home.mkdir()
        self.env = clean_environment(self.home)
        self._processes = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()
        shutil.rmtree(self.dir, ignore_errors=True)

    def environment(self, agent=None, env=None):
        """None as a value takes a variable away."""
        merged = dict(self.env)
        if agent:
            merged["DIBS_AGENT_ID"] = agent
        for name, value in (env or {}).items():
            merged.pop(name, None)
            if value is not None:
                merged[name] = str(value)
        return merged

    def run(self, *args, agent=None, cwd=None, env=None, prefix=(), timeout=HANG_SECS, stdin=None, **more):
        """dibs with these words; `prefix` runs it under something else. Never raises for an exit code."""
        words = [*prefix, DIBS, *args]
        done = subprocess.run(words, cwd=cwd or self.dir, env=self.environment(agent, env), timeout=timeout,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, input=stdin,
                              **({} if stdin is not None else {"stdin": subprocess.DEVNULL}), **more)
        return Reply(args, done.returncode, done.stdout.decode("utf-8", "backslashreplace"),
                     done.stderr.decode("utf-8", "backslashreplace"))

    def spawn(self, *words, agent=None, cwd=None, env=None, **more):
        """A process that is killed with the scratch directory at the latest."""
        process = subprocess.Popen(words, cwd=cwd or self.dir, env=self.environment(agent, env),
                                   stdin=more.pop("stdin", subprocess.DEVNULL), **more)
        self._processes.append(process)
        return process

    def sleeper(self):
        """A process that does nothing for as long as the test needs it."""
        return self.spawn("sleep", "1000")

    def git(self, *args, cwd=None):
        done = subprocess.run(["git", *map(str, args)], cwd=cwd or self.dir, env=self.env, capture_output=True,
                              text=True,
                              timeout=HANG_SECS)
        check.true(done.returncode == 0, f"git {args}: {done.stderr}")
        return done.stdout.strip()


class Repo(Scratch):
    """A git repository with dibs set up in it."""

    def __init__(self, init=True, commit=False, object_format="sha1"):
        super().__init__()
        self.root = self.dir / "repo"
        self.git("init", "-q", "-b", "main", f"--object-format={object_format}", self.root)
        if commit:
            self.commit()
        if init:
            self.run("init").expect(0)

    @property
    def store(self):
        return self.root / ".git/dibs"

    @property
    def log_path(self):
        return self.store / "claims.jsonl"

    def run(self, *args, cwd=None, **more):
        return super().run(*args, cwd=cwd or self.root, **more)

    def spawn(self, *words, cwd=None, **more):
        return super().spawn(*words, cwd=cwd or self.root, **more)

    def commit(self):
        self.git("commit", "-q", "--allow-empty", "-m", "start", cwd=self.root)

    def worktree(self, name):
        path = self.dir / name
        self.git("worktree", "add", "-q", "-b", name, path, cwd=self.root)
        return path

    def reply(self, *args, **more):
        """The answer, which must be exit 0."""
        return self.run(*args, "--json", **more).expect(0).json()

    def refusal(self, code, *args, **more):
        """The error, which must have this exit code and nothing on stdout."""
        reply = self.run(*args, "--json", **more).expect(code)
        check.equal(reply.out, "", "stdout of a refusal")
        return reply.error()

    def acquire(self, resource, *args, **more):
        return self.reply("claim", "acquire", resource, *args, **more)

    def holder(self, resource, **more):
        """Who holds it, or None."""
        status = self.reply("claim", "status", resource, **more)
        return status["lease"]["agent_id"] if status["is_locked"] else None

    def log_bytes(self):
        return self.log_path.read_bytes() if self.log_path.exists() else b""

    def log(self):
        return [json.loads(line) for line in self.log_bytes().splitlines()]

    def ops(self, resource=None):
        """The events of the log in order, as (op, agent)."""
        return [(e["op"], e["agent_id"]) for line in self.log() for e in line["events"]
                if resource is None or e["resource"] == resource]

    def healthy(self):
        """doctor finds no problem; its findings."""
        report = self.reply("doctor")
        check.true(report["healthy"], f"doctor: {report}")
        return report["findings"]


_POLYNOMIAL = 0x82F63B78
_TABLE = []
for _byte in range(256):
    _crc = _byte
    for _ in range(8):
        _crc = _crc >> 1 ^ (_POLYNOMIAL if _crc & 1 else 0)
    _TABLE.append(_crc)


def crc32c(seed, data):
    """CRC-32C, going on from `seed`; written anew here so that the log is judged by other code than wrote it."""
    crc = seed ^ 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


CRC_SUFFIX = len(',"crc":"00000000"}')


def sealed(body, seed):
    """`body` (a line without its closing brace and checksum) as a line that follows one with checksum `seed`."""
    crc = crc32c(seed, body)
    return body + b',"crc":"%08x"}\n' % crc, crc


def check_chain(data, first_seq=1, seed=0):
    """Every line of a log is whole, numbered without a gap, and chained to the one before."""
    check.true(data == b"" or data.endswith(b"\n"), f"the log ends in a torn line: {data[-80:]!r}")
    for number, line in enumerate(data.splitlines(), first_seq):
        entry = json.loads(line)
        check.equal(entry["seq"], number, "sequence")
        seed = crc32c(seed, line[:-CRC_SUFFIX])
        check.equal(entry["crc"], f"{seed:08x}", f"checksum of entry {number}")


def wait_until(condition, what, timeout=20.0):
    """A hang guard, not a measurement."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        seen = condition()
        if seen:
            return seen
        time.sleep(0.02)
    raise AssertionError(f"waited {timeout} s in vain for: {what}")


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def needs(*programs):
    for program in programs:
        if shutil.which(program) is None:
            raise Skip(f"{program} is not installed")


def needs_root():
    if os.geteuid() != 0:
        raise Skip("needs root")


_CASES = []


def case(function):
    """Registers a case; its name is the function's, read as a sentence."""
    _CASES.append((function.__name__.replace("_", " "), function))
    return function


def add_case(name, function):
    _CASES.append((name, function))


def main():
    """Runs all cases, or those whose name contains an argument. Exit 77 when every one was skipped."""
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    if not os.access(DIBS, os.X_OK):
        sys.exit(f"there is no dibs at {DIBS}: build it, or set DIBS_BIN")
    wanted = [word for word in sys.argv[1:] if not word.startswith("-")]
    passed, skipped, failed = 0, 0, []
    for name, function in _CASES:
        if wanted and not any(word in name for word in wanted):
            continue
        started = time.monotonic()
        try:
            function()
            passed += 1
            print(f"ok    {name} ({time.monotonic() - started:.1f} s)", flush=True)
        except Skip as why:
            skipped += 1
            print(f"skip  {name}: {why}", flush=True)
        except Exception as error:  # a case that breaks must not hide the others
            failed.append(name)
            print(f"FAIL  {name}\n{_explained(error)}", flush=True)
    print(f"{passed} passed, {skipped} skipped, {len(failed)} failed")
    for name in failed:
        print(f"  failed: {name}")
    sys.exit(1 if failed else 77 if passed == 0 else 0)


def _explained(error):
    where = [f"  {frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} {frame.line}"
             for frame in traceback.extract_tb(error.__traceback__) if "harness.py" not in frame.filename]
    return "\n".join([*where, f"  {type(error).__name__}: {error}"])
