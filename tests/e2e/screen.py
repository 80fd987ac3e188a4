"""A terminal that a test can look at.

    with Screen(site, 80, 24, DIBS, "run", …) as screen:
        screen.wait_for(r"^exit 0")
"""

import re
import shlex
import subprocess

from harness import HANG_SECS, check, needs, wait_until


class Screen:
    """A tmux of its own, with one window that runs one command."""

    def __init__(self, scratch, columns, rows, *words, cwd=None):
        needs("tmux")
        self.scratch, self.cwd, self.socket = scratch, cwd or scratch.dir, str(scratch.dir / "tmux")
        typed = " ".join(map(shlex.quote, words))
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows),
                  f"{typed}; echo \"exit $?\"; sleep 1000")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tmux("kill-server")

    def tmux(self, *words):
        done = subprocess.run(["tmux", "-S", self.socket, *words], cwd=self.cwd, env=self.scratch.env,
                              capture_output=True, text=True, timeout=60)
        check.true(done.returncode == 0, f"tmux {words}: {done.stderr}")
        return done.stdout

    def lines(self):
        return self.tmux("capture-pane", "-p").rstrip("\n").split("\n")

    def shows(self, pattern):
        return any(re.search(pattern, line) for line in self.lines())

    def wait_for(self, pattern, timeout=HANG_SECS):
        try:
            wait_until(lambda: self.shows(pattern), f"{pattern!r}", timeout)
        except AssertionError as error:
            raise AssertionError(f"{error} in {self.lines()}") from None

    def type(self, *keys):
        self.tmux("send-keys", *keys)

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))
