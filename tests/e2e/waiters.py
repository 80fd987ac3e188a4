"""Processes that stand in line for a resource, and who is in that line."""

import json
import subprocess

from harness import DIBS, check, wait_until


class Waiter:
    """A `claim acquire --wait` (or another command that waits) in a process of its own; `prefix` runs it under something else."""

    def __init__(self, repo, *words, agent, prefix=()):
        self.agent = agent
        self.process = repo.spawn(*prefix, DIBS, *words, "--json", agent=agent, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def ends(self, code=0, timeout=60):
        out, err = self.process.communicate(timeout=timeout)
        check.equal(self.process.returncode, code, f"{self.agent}: {out!r} {err!r}")
        return json.loads(out) if code == 0 else json.loads(err.splitlines()[-1])["error"]

    def waits(self):
        return self.process.poll() is None


def acquire_in_line(repo, resource, agent, *more, secs="60", prefix=()):
    return Waiter(repo, "claim", "acquire", resource, "--wait", secs, *more, agent=agent, prefix=prefix)


def line(repo, resource):
    return [waiter["agent_id"] for waiter in repo.reply("queue", "list", resource)["waiters"]]


def wait_for_line(repo, resource, *agents):
    wait_until(lambda: line(repo, resource) == list(agents), f"{agents} in line for {resource}", timeout=60)
