"""The power goes while many commands run: ext4 on a loop device, told to forget what is not on the disk (EXT4_IOC_SHUTDOWN without
flushing its journal), then mounted again as after a restart.

Agents take and give back leases, add items and land work, until their commands fail. Afterwards everything that was acknowledged must be
there; the one command of each agent that got no answer happened whole or not at all; and nobody has to repair anything.
"""

import contextlib
import ctypes
import fcntl
import os
import random
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from harness import HANG_SECS, Skip, check, check_chain, needs, needs_root, wait_until  # noqa: E402
from landing_site import LocalSite  # noqa: E402

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000
EXT4_IOC_SHUTDOWN, NO_LOG_FLUSH = 0x8004587D, 2  # _IOR('X', 125, __u32)
DISK_BYTES = 256 * 1024 * 1024
CYCLES_A_DISK = 50  # judging reads the whole repository, which grows with each
LONGEST_SECS = 1.0
CLAIMERS, LANDERS, MAKERS = 2, 2, 1


def own_mounts():
    """What is mounted from here on goes with this process, however it ends."""
    needs_root()
    needs("mkfs.ext4", "mount", "umount")
    if LIBC.unshare(CLONE_NEWNS) != 0 or LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) != 0:
        raise Skip(f"no mounts of its own: {os.strerror(ctypes.get_errno())}")


class Disk:
    """An ext4 file system in a file, whose power can be cut."""

    def __init__(self):
        own_mounts()
        self.dir = Path(tempfile.mkdtemp(prefix="dibs-power-"))
        self.image, self.root = self.dir / "image", self.dir / "disk"
        self.root.mkdir()

    def __enter__(self):
        with open(self.image, "wb") as image:
            image.truncate(DISK_BYTES)
        self._do("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0", self.image)
        self.mount()
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.root], capture_output=True)
        self.image.unlink()
        self.root.rmdir()
        self.dir.rmdir()

    def _do(self, *words):
        done = subprocess.run(words, capture_output=True, text=True, timeout=HANG_SECS)
        if done.returncode != 0:
            raise Skip(f"this machine cannot: {' '.join(map(str, words))}: {done.stderr.strip()}")

    def mount(self):
        self._do("mount", "-t", "ext4", "-o", "loop", self.image, self.root)

    def cut(self):
        """From here on nothing reaches the disk, and what had not reached it never will."""
        directory = os.open(self.root, os.O_RDONLY)
        try:
            fcntl.ioctl(directory, EXT4_IOC_SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
        except OSError as error:
            raise Skip(f"this file system cannot be shut down: {error.strerror}") from None
        finally:
            os.close(directory)

    def restart(self):
        wait_until(lambda: subprocess.run(["umount", self.root], capture_output=True).returncode == 0,
                   "everybody to leave the disk")
        self.mount()


class Gone(Exception):
    """A command that did not get through."""


class Agent(threading.Thread):
    """Does one thing after another until the power goes. `asked` is the last it asked, None once it was answered."""

    def __init__(self, site, name, power):
        super().__init__()
        self.site, self.agent, self.power = site, f"agent:{name}", power
        self.asked, self.problem, self.answers = None, None, 0

    def run(self):
        try:
            number = 0
            while True:
                self.act(f"{self.agent[6:]}-{number}", number)
                number += 1
        except Gone:
            pass
        except Exception as error:  # whoever waits for this thread has to see it
            self.problem = repr(error)

    def dibs(self, *words, **more):
        self.asked = words
        reply = self.site.run(*words, "--json", agent=self.agent, **more)
        if not self.power.is_set():
            raise Gone  # whatever it said: there was nobody any more to hear it
        check.equal(reply.code, 0, f"it failed while there was power: {reply!r}")
        self.asked, self.answers = None, self.answers + 1
        return reply.json()

    def was_asking(self, *words):
        return self.asked is not None and self.asked[:len(words)] == words


class Claimer(Agent):
    def __init__(self, *more):
        super().__init__(*more)
        self.held, self.given_back = {}, set()

    def act(self, name, number):
        self.held[name] = self.dibs("claim", "acquire", name)
        if number % 3:
            self.dibs("claim", "release", name)
            self.given_back.add(name)

    def judge(self, board):
        for name, lease in self.held.items():
            seen = board.get(f"item:{name}")
            if name in self.given_back:
                check.equal(seen, None, f"{name} was given back")
            elif not (seen is None and self.was_asking("claim", "release", name)):
                check.equal(seen and (seen["lease_id"], seen["fence"]), (lease["lease_id"], lease["fence"]), name)


class Lander(Agent):
    def __init__(self, *more):
        super().__init__(*more)
        self.landed, self.started = {}, {}

    def act(self, name, _):
        made = self.dibs("start", name)
        self.started[name] = made
        try:
            self.site.work(made, name, text=f"{name}\n" * 50)
        except (AssertionError, OSError):
            raise Gone from None
        self.landed[name] = self.dibs("done", cwd=made["path"])["landed_commit"]

    def judge(self, board):
        files = self.site.files_on_target()
        for name, made in self.started.items():
            seen = board.get(f"item:{name}")
            if name in self.landed:
                check.contains(files, name, "what landed")
                check.equal(self.site.file_on_target(name), (f"{name}\n" * 50).strip(), name)
            if name in files:
                check.equal(seen, None, f"{name} landed, and its lease")
            else:
                check.equal(seen and seen["lease_id"], made["lease_id"], f"{name} has not landed, and its lease")


class Maker(Agent):
    def __init__(self, *more):
        super().__init__(*more)
        self.made, self.closed = {}, set()

    def act(self, name, number):
        self.made[name] = self.dibs("item", "add", name)["id"]
        if number % 2:
            self.dibs("item", "close", self.made[name])
            self.closed.add(name)

    def judge(self, board):
        for name, item in self.made.items():
            state = self.site.reply("item", "show", item)["state"]
            check.true(state == "done" or name not in self.closed, f"{name} was closed, and is {state}")


def check_whole(site):
    """All that landed can be read, every byte of it compared with its name."""
    copy = site.dir / "copy"
    site.git("clone", "-q", "--no-local", "--bare", "--single-branch", "-b", "main", site.root, copy)
    subprocess.run(["rm", "-rf", copy], check=True)


@contextlib.contextmanager
def site_on(disk):
    kept, tempfile.tempdir = tempfile.tempdir, str(disk.root)
    try:
        site = LocalSite()
    finally:
        tempfile.tempdir = kept
    subprocess.run(["sync", "-f", disk.root], check=True)  # the repository itself was there long before
    with site:
        yield site


def cycle(disk, site, number, chance):
    """One power cut; how many commands had been answered."""
    power = threading.Event()
    power.set()
    agents = [kind(site, f"{kind.__name__.lower()}{n}-{number}", power)
              for kind, count in ((Claimer, CLAIMERS), (Lander, LANDERS), (Maker, MAKERS)) for n in range(count)]
    for agent in agents:
        agent.start()
    time.sleep(chance.random() * LONGEST_SECS)
    power.clear()
    disk.cut()
    for agent in agents:
        agent.join()
    disk.restart()
    check.equal([agent.problem for agent in agents if agent.problem], [])
    judge(site, agents)
    return sum(agent.answers for agent in agents)


def judge(site, agents):
    after = site.acquire("after", agent="agent:after")  # whoever writes next finishes a landing that was cut short
    board = {lease["resource"]: lease for lease in site.reply("claim", "list")["leases"]}
    for agent in agents:
        agent.judge(board)
    check_whole(site)
    check_chain(site.log_bytes())
    highest = max((lease["fence"] for agent in agents if isinstance(agent, Claimer) for lease in agent.held.values()), default=0)
    check.true(after["fence"] > highest, f"{after} after {highest}")
    site.healthy()
    for resource, lease in board.items():
        site.run("claim", "release", resource, agent=lease["agent_id"])


def cut_the_power(cycles, seed):
    chance, answers = random.Random(seed), 0
    for first in range(0, cycles, CYCLES_A_DISK):
        with Disk() as disk, site_on(disk) as site:
            for number in range(first, min(cycles, first + CYCLES_A_DISK)):
                try:
                    answers += cycle(disk, site, number, chance)
                except AssertionError as error:
                    raise AssertionError(f"cycle {number} of seed {seed}: {error}") from None
    print(f"      {cycles} power cuts, {answers} commands had been acknowledged")
