"""A remote that is too much: a hundred thousand refs, a record of a gigabyte, answers without an end. Everything ends, with an error
or an answer, within a bound of memory and disk, and the next command works."""

import os
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hostile"))

from hostile_server import HostileServer, band, endless, packet, refs  # noqa: E402
from hostile_site import HostileClone, add_case, case, check, main  # noqa: E402

ONE, TWO = "1" * 40, "2" * 40
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
FETCHES = "multi_ack_detailed side-band-64k ofs-delta agent=evil"
HANG_SECS = 400  # git is given two minutes for each call
DISK_MAX = 2 << 30
MEMORY_MAX = 3 << 30
LEFT_MAX = 10 << 20
ITS_OWN = ("remote.git/refs/dibs/", "remote.git/objects/", "remote.git/packed-refs")

# After what was sent, an answer that does not end.
ENDLESS = {
    "refs": [lambda connection: _endless_refs(connection)],
    "words": [refs([(ONE, "refs/dibs/r/item_3ax")], FETCHES), packet("NAK\n"), endless(band(2, "\x1b[31mword\n" * 5000))],
    "a pack": [refs([(ONE, "refs/dibs/r/item_3ax")], FETCHES),
               lambda connection: _endless_pack(connection)],
    "packets that mean nothing": [refs([(ONE, "refs/dibs/r/item_3ax")], FETCHES), endless(packet("NAK\n") * 1000)],
    "one line": [endless(b"x" * 60_000)],
}


def _endless_refs(connection):
    number = 0
    connection.sendall(refs([(ONE, "refs/dibs/r/first")], FETCHES)[:-4])
    while True:
        block = b"".join(packet(f"{ONE} refs/dibs/r/many-{n}\n") for n in range(number, number + 1000))
        connection.sendall(block)
        number += 1000


def _endless_pack(connection):
    """One blob that says it has sixty gigabytes, and goes on with what does not compress."""
    connection.sendall(packet("NAK\n"))
    connection.sendall(band(1, b"PACK\0\0\0\2\0\0\0\1" + b"\xbf\xff\xff\xff\xff\xff\x0f" + b"\x78\x01"))
    stored = b"\x00\xff\xff\x00\x00" + os.urandom(65_535)  # a block of deflate that is stored as it is
    while True:
        for at in range(0, len(stored), 60_000):
            connection.sendall(band(1, stored[at:at + 60_000]))


class Watch:
    """The most memory that processes below us had, and the most disk below a directory, while it runs."""

    def __init__(self, directory):
        self.directory, self.memory, self.disk, self._on = directory, 0, 0, True
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._on = False
        self._thread.join()

    def _look(self):
        while self._on:
            self.memory = max(self.memory, self._git_memory())
            self.disk = max(self.disk, sum(path.stat().st_size for path in self.directory.rglob("*") if path.is_file()))
            time.sleep(0.2)

    @staticmethod
    def _git_memory():
        most = 0
        for process in Path("/proc").iterdir():
            try:
                if process.name.isdigit() and (process / "comm").read_text().strip() in ("git", "dibs"):
                    pages = int((process / "statm").read_text().split()[1])
                    most = max(most, pages * os.sysconf("SC_PAGE_SIZE"))
            except OSError:  # it ended meanwhile
                pass
        return most


def never_ends(parts):
    with HostileClone() as site:
        good = site.remote.path
        (site.dir / "settings").write_text("[protocol]\n\tversion = 0\n")
        site.env["GIT_CONFIG_GLOBAL"] = str(site.dir / "settings")
        with HostileServer(parts) as server, Watch(site.store) as watch:
            site.point_to(server.address)
            site.attack("claim", "list", codes={1, 11}, timeout=HANG_SECS)
        print(f"      {watch.memory >> 20} MB of memory, {watch.disk >> 20} MB of disk")
        check.true(watch.memory < MEMORY_MAX, f"{watch.memory} bytes of memory")
        check.true(watch.disk < DISK_MAX, f"{watch.disk} bytes of disk")
        left = sum(path.stat().st_size for path in site.store.rglob("*") if path.is_file())
        check.true(left < LEFT_MAX, f"{left} bytes are left")
        site.point_to(good)
        site.attack("claim", "acquire", "after", codes={0}, may_change=ITS_OWN)


for about, script in ENDLESS.items():
    add_case(f"{about} without an end", lambda parts=script: never_ends(parts))


@case
def a_hundred_thousand_refs_are_read():
    with HostileClone() as site:
        commit = site.git("commit-tree", EMPTY_TREE, "-m", "nothing of ours", cwd=site.remote.path)
        lines = "".join(f"{commit} refs/dibs/r/many-{number:06}\n" for number in range(100_000))
        (site.remote.path / "packed-refs").write_text("# pack-refs with: peeled fully-peeled sorted \n" + lines)
        site.attack("claim", "acquire", "among-many", codes={0}, may_change=ITS_OWN, timeout=HANG_SECS)
        listed = site.attack("claim", "list", codes={0}, may_change=ITS_OWN, timeout=HANG_SECS)
        check.contains(listed.out, "among-many")
        check.contains(listed.err, " more like that")


@case
def a_record_of_three_hundred_megabytes_is_none():
    with HostileClone() as site:
        text = site.dir / "commit"
        with open(text, "wb") as file:
            file.write(f"tree {EMPTY_TREE}\nauthor x <x> 0 +0000\ncommitter x <x> 0 +0000\n\n".encode())
            for _ in range(300):
                file.write(b"x" * (1 << 20))
        commit = site.git("hash-object", "-t", "commit", "-w", "--literally", text, cwd=site.remote.path)
        text.unlink()
        site.git("update-ref", "refs/dibs/r/item_3ax", commit, cwd=site.remote.path)
        site.attack("claim", "acquire", "x", may_change=ITS_OWN, timeout=HANG_SECS, codes={1, 11})
        site.attack("claim", "acquire", "y", may_change=ITS_OWN, timeout=HANG_SECS, codes={0})


if __name__ == "__main__":
    main()
