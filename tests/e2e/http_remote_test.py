"""Leases on a remote that is reached as remotes are in real life: by an address, through a web server that wants a password."""

import os
import pty
import select
import signal
import time

from harness import DIBS, HANG_SECS, case, check, main
from http_remote import LOOPBACK, PASSWORD, USER, HttpRemote, listening
from remote import Remote

WRONG = "close-sesame-0815"
ASKING = {"GIT_TERMINAL_PROMPT": None}  # the tests' own "never ask" must not be what keeps dibs from asking


class FileAddress(Remote):
    def address(self):
        return f"file://{self.path}"


def on_terminal(clone, *words, env=None, until=None):
    """Exit code and output of a program on a terminal that is its own, with nobody there to type. With `until`, it is
    killed as soon as it says that."""
    environment = clone.environment(env=env)
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(clone.root)
        os.execvpe(words[0], words, environment)
    seen, deadline = b"", time.monotonic() + HANG_SECS
    try:
        while time.monotonic() < deadline and (until is None or until not in seen):
            if select.select([master], [], [], 0.1)[0]:
                chunk = read_terminal(master)
                if not chunk:
                    break
                seen += chunk
    finally:
        os.killpg(pid, signal.SIGKILL)  # a no-op for one that has ended: it is not waited for yet
        _, status = os.waitpid(pid, 0)
        os.close(master)
    return os.waitstatus_to_exitcode(status), seen.decode()


def read_terminal(master):
    try:
        return os.read(master, 4096)
    except OSError:  # EIO: the other end is closed
        return b""


def check_unsaid(secret, clone, *texts):
    """Not in what was shown, nor in any file of dibs', nor in what git packed away there."""
    for text in texts:
        check.absent(text, secret)
    for path in filter(os.path.isfile, clone.store.rglob("*")):
        check.true(secret.encode() not in path.read_bytes(), f"{secret} is in {path}")
    for private in (clone.store / "remotes").iterdir():
        check.absent(clone.git("cat-file", "--batch-all-objects", "--batch", cwd=private), secret)


def all_said(reply):
    return f"{reply.out} {reply.err}"


def check_exclusion(one, two):
    first = one.acquire("42", agent="agent:a")
    check.equal(two.refusal(3, "claim", "acquire", "42", agent="agent:b")["holder"], "agent:a")
    check.equal(two.holder("42"), "agent:a")
    one.run("claim", "release", "42", agent="agent:a").expect(0)
    check.equal(two.holder("42"), None)
    second = two.acquire("42", agent="agent:b")
    check.true(second["fence"] > first["fence"], f"{second['fence']} after {first['fence']}")
    one.run("claim", "verify", "42", "--fence", str(first["fence"])).expect(5)


@case
def clones_exclude_each_other_over_http():
    with HttpRemote(clones=2) as remote:
        check_exclusion(*remote.clones)
        check.contains(str(remote.refs()), "item_3a42")  # it was that repository, and no other


@case
def clones_exclude_each_other_by_a_file_address():
    with FileAddress(clones=2) as remote:
        check_exclusion(*remote.clones)
        check.contains(str(remote.refs()), "item_3a42")


@case
def every_race_over_http_has_one_winner():
    with HttpRemote(clones=6) as remote:
        for n in range(3):
            check.equal(len(remote.race(f"item-{n}")), 1, f"winners of round {n}")


@case
def a_push_over_http_is_atomic():
    with HttpRemote(clones=1) as remote:
        clone = remote.clones[0]
        check.contains(str(clone.healthy()), "takes atomic pushes")
        before = remote.refs()
        hook = remote.path / "hooks/update"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\n[ $1 != refs/dibs/r/item_3ab ]\n")
        hook.chmod(0o755)
        trace = remote.dir / "trace"
        clone.refusal(8, "claim", "acquire", "a", "b", "c", env={"GIT_TRACE_PACKET": trace})
        check.equal(remote.refs(), before)
        check.contains(trace.read_text(), " refs/dibs/r/item_3aa\\0 report-status-v2 ", "the push was sent")
        hook.unlink()
        clone.reply("claim", "acquire", "a", "b", "c")
        check.equal(len(remote.refs()), len(before) + 3, "refs")


@case
def a_wrong_password_is_exit_11_and_nobody_is_asked():
    with HttpRemote(clones=2) as remote:
        one, two = remote.clones
        one.acquire("42", agent="agent:a")
        for command in (["claim", "acquire", "42"], ["claim", "acquire", "new"], ["claim", "status", "42"], ["init"],
                        ["claim", "list"], ["claim", "verify", "42", "--fence", "1"]):
            remote.remember(WRONG)
            reply = two.run(*command, "--json", agent="agent:b", env=ASKING)
            if command != ["init"]:  # which has nothing to do here
                reply.expect(11)
                check.equal(reply.out, "", f"{command}")
                check.contains(reply.error()["message"], "Authentication failed")
                check.absent(reply.error()["message"], "not known")  # nothing was sent
                check.contains(reply.error()["message"], "origin")
            check_unsaid(WRONG, two, all_said(reply))
            check_unsaid(PASSWORD, two, all_said(reply))
        check.true(WRONG not in (remote.dir / "credentials").read_text(), "git never tried the wrong password")
        remote.remember(PASSWORD)
        check.equal(two.holder("42"), "agent:a")
        check.equal(two.holder("new"), None)


@case
def a_terminal_is_not_asked_for_a_password():
    with HttpRemote(clones=1) as remote:
        clone = remote.clones[0]
        clone.acquire("42")
        clone.git("config", "--unset", "credential.helper", cwd=clone.root)
        _, said = on_terminal(clone, "git", "ls-remote", "origin", env=ASKING, until=b"Username")
        check.contains(said, "Username", "git itself, on such a terminal")
        for words in (["claim", "acquire", "43"], ["claim", "status", "42"]):
            code, said = on_terminal(clone, DIBS, *words, env=ASKING)
            check.equal(code, 11, f"{words} {said}")
            check.contains(said, "terminal prompts disabled")


@case
def a_window_is_not_asked_for_a_password_either():
    with HttpRemote(clones=1) as remote:
        clone = remote.clones[0]
        clone.git("config", "--unset", "credential.helper", cwd=clone.root)
        asked = remote.dir / "asked"
        window = remote.dir / "window"
        window.write_text(f"#!/bin/sh\ntouch '{asked}'\n")
        window.chmod(0o755)
        clone.git("config", "core.askPass", str(window), cwd=clone.root)
        for words in (["claim", "acquire", "43"], ["claim", "status", "42"]):
            clone.refusal(11, *words, env={**ASKING, "SSH_ASKPASS": window, "DISPLAY": ":0"})
        check.true(not asked.exists(), "it was asked")


@case
def settings_that_are_elsewhere_are_found():
    with HttpRemote(clones=1) as remote:
        clone = remote.clones[0]
        helper = clone.git("config", "credential.helper", cwd=clone.root).strip()
        clone.git("config", "--unset", "credential.helper", cwd=clone.root)
        settings = remote.dir / "elsewhere"
        settings.write_text(f'[credential]\n\thelper = "{helper}"\n')
        clone.refusal(11, "claim", "status", "42", env=ASKING)
        clone.acquire("42", env={**ASKING, "GIT_CONFIG_GLOBAL": settings})


@case
def a_password_in_the_address_is_not_repeated():
    with HttpRemote(clones=1) as remote:
        clone = remote.clones[0]
        clone.git("config", "--unset", "credential.helper", cwd=clone.root)
        for password, code in ((PASSWORD, 0), (WRONG, 11)):
            clone.git("remote", "set-url", "origin", remote.address(f"{USER}:{password}"), cwd=clone.root)
            for words in (["claim", "acquire", f"item-{code}"], ["claim", "acquire", f"item-{code}", "--json"],
                          ["claim", "list", "--json"], ["init", "--store", "git"]):
                reply = clone.run(*words, env=ASKING).expect(0 if words[0] == "init" else code)
                check_unsaid(password, clone, all_said(reply))
            check_unsaid(password, clone, all_said(clone.run("doctor")), all_said(clone.run("doctor", "--json")))


@case
def a_first_set_up_without_the_password_says_so():
    with HttpRemote(clones=1, init=False) as remote:
        clone = remote.clones[0]
        remote.remember(WRONG)
        error = clone.refusal(11, "init", "--store", "git", env=ASKING)
        check.contains(error["message"], "origin")
        check_unsaid(WRONG, clone, str(error))
        remote.remember(PASSWORD)
        clone.run("init", "--store", "git").expect(0)
        clone.acquire("42")


@case
def a_server_that_is_down_is_exit_11_and_never_free():
    with HttpRemote(clones=2) as remote:
        one, two = remote.clones
        one.acquire("42", agent="agent:a")
        remote.server.stop()
        for command in (["claim", "status", "42"], ["claim", "status", "new"], ["claim", "list"],
                        ["claim", "acquire", "42"], ["claim", "acquire", "new"], ["claim", "release", "42"]):
            error = two.refusal(11, *command, agent="agent:b")
            check.true(error["message"] and error["hint"], f"{command}: {error}")
        check.true(not two.run("doctor", "--json").json()["healthy"], "doctor finds nothing")
        remote.server.start()
        check.equal(two.holder("42"), "agent:a")
        check.equal(two.holder("new"), None)


@case
def a_server_that_never_answers_is_given_up_when_git_gives_up():
    with HttpRemote(clones=1) as remote, listening() as silence:
        clone = remote.clones[0]
        clone.acquire("42")
        clone.git("remote", "set-url", "origin", f"http://{LOOPBACK}:{silence.getsockname()[1]}/git", cwd=clone.root)
        for name, value in (("lowSpeedLimit", "1"), ("lowSpeedTime", "1")):
            clone.git("config", f"http.{name}", value, cwd=clone.root)
        clone.refusal(11, "claim", "status", "42")
        clone.refusal(11, "claim", "acquire", "43")


@case
def a_server_that_may_only_be_read_is_named_and_nothing_is_held():
    with HttpRemote(clones=2) as remote:
        one, two = remote.clones
        one.acquire("42", agent="agent:a")
        remote.git("config", "http.receivepack", "false", cwd=remote.path)
        error = two.refusal(8, "claim", "acquire", "43", agent="agent:b")
        check.contains(error["message"], "origin")
        check.contains(error["message"], "403")
        check.true(not two.run("doctor", "--json").json()["healthy"], "doctor finds nothing")
        check.equal(two.refusal(3, "claim", "acquire", "42", agent="agent:b")["holder"], "agent:a")
        check.equal(two.holder("43"), None)
        remote.git("config", "http.receivepack", "true", cwd=remote.path)
        two.acquire("43", agent="agent:b")


if __name__ == "__main__":
    main()
