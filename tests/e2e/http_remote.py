"""The remote behind a real web server that asks for a password: lighttpd, with git's own `git http-backend` as the CGI program."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

from harness import ROOT, Skip
from remote import Remote

USER, PASSWORD = "alice", "open-sesame-4711"
LOOPBACK = "127.0.0.1"


def lighttpd():
    """The program that ./dev fetched, or the system's."""
    path = os.environ.get("LIGHTTPD") or str(ROOT / "build/tools/lighttpd")
    found = path if os.access(path, os.X_OK) else shutil.which("lighttpd", path="/usr/sbin:" + os.environ["PATH"])
    if not found:
        raise Skip("lighttpd is not here; `./dev test` fetches it")
    return Path(found)


class WebServer:
    """lighttpd as the current user, with all its files in `directory`. What it serves is below `projects`."""

    def __init__(self, directory, projects, environment):
        self.directory, self.environment = directory, environment
        self.program = lighttpd()
        self.port = 0
        self.process = None
        directory.mkdir()
        (directory / "passwords").write_text(f"{USER}:{PASSWORD}\n")
        (directory / "lighttpd.conf").write_text(self._configuration(projects))

    def _configuration(self, projects):
        exec_path = subprocess.run(["git", "--exec-path"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        return f"""
            server.modules = ("mod_alias", "mod_setenv", "mod_auth", "mod_authn_file", "mod_cgi")
            server.bind = "/dev/stdin"  # a socket that listens already: no port is guessed, nobody waits for the server
            server.document-root = "{self.directory}"
            server.upload-dirs = ("{self.directory}")
            server.errorlog = "{self.directory}/errors"
            auth.backend = "plain"
            auth.backend.plain.userfile = "{self.directory}/passwords"
            auth.require = ("/" => ("method" => "basic", "realm" => "git", "require" => "valid-user"))
            alias.url = ("/git" => "{exec_path}/git-http-backend")
            cgi.assign = ("" => "")
            setenv.set-environment = ("GIT_PROJECT_ROOT" => "{projects}", "GIT_HTTP_EXPORT_ALL" => "1",
                                      "GIT_CONFIG_GLOBAL" => "/dev/null", "GIT_CONFIG_NOSYSTEM" => "1")
            """

    def start(self):
        """Listens on a free port the first time, and on the same one ever after."""
        with listening(self.port) as listener:
            self.port = listener.getsockname()[1]
            modules = ["-m", self.program.parent] if (self.program.parent / "mod_cgi.so").exists() else []
            with open(self.directory / "output", "ab") as output:
                self.process = subprocess.Popen([self.program, "-D", "-f", self.directory / "lighttpd.conf", *modules],
                                                cwd=self.directory, env=self.environment, stdin=listener, stdout=output,
                                                stderr=subprocess.STDOUT, start_new_session=True)

    def stop(self):
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # and the git that it runs
        except ProcessLookupError:
            pass
        self.process.wait()
        self.process = None

    def said(self):
        """All that it wrote down, for whoever wonders why a test fails."""
        return "".join((self.directory / name).read_text() for name in ("errors", "output")
                       if (self.directory / name).exists())


def listening(port=0):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((LOOPBACK, port))
    listener.listen(128)
    return listener


class HttpRemote(Remote):
    """Clones know the password from git's own credential store."""

    def __init__(self, clones, **more):
        self.server = None
        try:
            super().__init__(clones, **more)
        except BaseException:  # making clones starts the server, and nobody else would stop it
            self.__exit__(*sys.exc_info())
            raise

    def __exit__(self, *failure):
        if self.server:
            self.server.stop()
            if any(failure):
                print(self.server.said())
        if hasattr(self, "dir"):
            super().__exit__(*failure)

    def address(self, login=""):
        """`login` is user and password as some people write them into addresses."""
        if self.server is None:
            self.server = WebServer(self.dir / "web", self.dir, self.env)
            self.server.start()
        return f"http://{login + '@' if login else ''}{LOOPBACK}:{self.server.port}/git/{self.path.name}"

    @property
    def clone_options(self):
        """Clones keep the setting, so it serves dibs too."""
        self.remember(PASSWORD)
        return "-c", f"credential.helper=store --file={self.dir / 'credentials'}"

    def remember(self, password):
        """What the credential store says from now on. It forgets by itself what was turned down."""
        host = self.address(f"{USER}:{password}").removesuffix(f"/git/{self.path.name}")
        (self.dir / "credentials").write_text(host + "\n")
