"""A remote that answers with garbage, lies and escapes. Nothing of it is taken for a lease, nothing reaches the terminal raw, and
everything ends. What takes a minute or a gigabyte is in tests/soak/hostile_remote_test.py."""

import struct
import zlib

from hostile_server import FLUSH, HostileServer, band, packet, refs
from hostile_site import HostileClone, add_case, check, run_tables, shared

ESCAPES = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m"
ONE, TWO = "1" * 40, "2" * 40
RECORD = "refs/dibs/r/item_3ax"
LEDGER = (TWO, "refs/dibs/ledger")
FETCHES = "multi_ack_detailed side-band-64k ofs-delta no-progress agent=evil"
TAKES = "report-status delete-refs side-band-64k quiet atomic ofs-delta agent=evil"


def pack(objects, count=None):
    """A pack of blobs, or one that says it has `count` of them."""
    data = b"PACK" + struct.pack(">II", 2, len(objects) if count is None else count)
    for text in objects:
        data += bytes([0x30 | (len(text) & 15) | (0x80 if len(text) > 15 else 0)])
        if len(text) > 15:
            data += bytes([len(text) >> 4])
        data += zlib.compress(text)
    return data


def fetched(*parts):
    """Lets a clone ask for a record, and answers that."""
    return [refs([LEDGER, (ONE, RECORD)], FETCHES), packet("NAK\n") + b"".join(parts) + FLUSH]


def pushed(*lines):
    """Takes a push, and says this of it."""
    report = b"".join(packet(line) for line in lines) + FLUSH
    return [refs([LEDGER], TAKES), band(1, report) + FLUSH]


ANSWERS = {
    # before anything else
    "nothing": [b""],
    "garbage": [b"HTTP/1.1 200 OK\r\n\r\n" + ESCAPES.encode()],
    "zeros": [b"\0" * 1000],
    "an error with escapes": [packet("ERR " + ESCAPES)],
    "an error of a packet's size": [packet("ERR " + "x" * 60_000)],
    "a packet without an end": [b"ffff" + b"x" * 100],
    "a packet too short": [b"0001"],
    "a packet of no length": [b"zzzz" + b"x" * 100],
    "a version of the future": [packet("version 99\n") + FLUSH],
    "capabilities with escapes": [packet("version 2\n") + packet(ESCAPES + "\n") + FLUSH],
    "a version and nothing else": [packet("version 2\n") + FLUSH, b""],
    "an object format that is none": [packet("version 2\n") + packet("ls-refs\n") + packet("fetch\n")
                                      + packet("object-format=evil\n") + FLUSH],
    # refs
    "no refs": [refs([("0" * 40, "capabilities^{}")], FETCHES)],
    "a ref that leaves the repository": [refs([(ONE, "refs/dibs/r/../../../hooks/post-checkout")], FETCHES), FLUSH],
    "a ref in git's own place": [refs([(ONE, "HEAD"), (ONE, "refs/../config")], FETCHES), FLUSH],
    "a ref with escapes": [refs([(ONE, "refs/dibs/r/" + ESCAPES)], FETCHES), FLUSH],
    "a ref that is no UTF-8": [refs([(ONE, b"refs/dibs/r/\xff\xfe")], FETCHES), FLUSH],
    "a ref that is a lock": [refs([(ONE, "refs/dibs/r/x.lock")], FETCHES), FLUSH],
    "a ref twice": [refs([(ONE, RECORD), (TWO, RECORD)], FETCHES), FLUSH],
    "a ref of sixty thousand letters": [refs([(ONE, "refs/dibs/r/" + "a" * 60_000)], FETCHES), FLUSH],
    "a ref in another ref's place": [refs([(ONE, "refs/dibs"), (TWO, RECORD)], FETCHES), FLUSH],
    "a commit that is none": [refs([("z" * 40, RECORD)], FETCHES)],
    "a commit of another size": [refs([("1" * 64, RECORD)], FETCHES)],
    "two lists of capabilities": [refs([(ONE, RECORD + "\0" + ESCAPES)], FETCHES), FLUSH],
    "a symbolic ref to nowhere": [refs([(ONE, RECORD)], FETCHES + " symref=HEAD:refs/heads/" + ESCAPES), FLUSH],
    "the other object format": [refs([(ONE, RECORD)], FETCHES + " object-format=sha256"), FLUSH],
    "no capabilities": [refs([(ONE, RECORD)]), FLUSH],
    # what is fetched
    "words with escapes": fetched(band(2, ESCAPES + "\n" + ESCAPES), band(3, ESCAPES)),
    "ten thousand words": fetched(*[band(2, ESCAPES * 20 + "\n")] * 2000, band(3, "enough")),
    "a band that is none": fetched(band(7, "x")),
    "a pack that is none": fetched(band(1, b"JUNK" * 100)),
    "a pack that ends early": fetched(band(1, pack([b"x"])[:14])),
    "a pack of four billion": fetched(band(1, pack([b"x"], 0xFFFFFFFF))),
    "a pack with a wrong checksum": fetched(band(1, pack([b"x"]) + b"\0" * 20)),
    "a pack of something else": fetched(band(1, pack([b"evil"]))),
    "a pack that inflates": fetched(band(1, pack([b"x"], 1)[:12] + b"\xbf\xff\xff\xff\x0f" + zlib.compress(b"\0" * 3_000_000))),
    "another packet than asked for": fetched(packet("shallow " + ONE + "\n")),
    # what is pushed
    "a report of nothing": pushed(),
    "a report that is none": pushed(ESCAPES),
    "a report of another ref": pushed("unpack ok\n", "ok refs/heads/main\n"),
    "a report with escapes": pushed("unpack ok\n", f"ng {RECORD} {ESCAPES}\n"),
    "a report of no space": pushed(f"unpack {ESCAPES}\n", f"ng {RECORD} unpacker error\n"),
    "yes and no": pushed("unpack ok\n", f"ok {RECORD}\n", f"ng {RECORD} no\n"),
    "words beside the report": [refs([LEDGER], TAKES), band(2, ESCAPES) + band(3, ESCAPES)],
    "no atomic pushes": [refs([LEDGER], "report-status delete-refs"), b""],
    "a certificate that is wanted": [refs([LEDGER], TAKES + " push-cert=evil"), b""],
}


def make_site():
    site = HostileClone()
    site.env["GIT_CONFIG_GLOBAL"] = str(site.dir / "settings")
    # The old version of the protocol says refs at once; both are in use.
    (site.dir / "settings").write_text("[protocol]\n\tversion = 0\n")
    return site


def answered(parts):
    site = shared(make_site)
    with HostileServer(parts) as server:
        site.point_to(server.address)
        for words in (["claim", "acquire", "x"], ["claim", "list"]):
            reply = site.attack(*words, codes={0, 1, 8, 11, 12})
            check.absent(reply.out, "claimed", "a lease that nobody granted")
            if words[1] == "acquire":
                check.true(reply.code, f"granted\n  {reply!r}")


for about, script in ANSWERS.items():
    add_case(f"a remote answers with {about}", lambda parts=script: answered(parts))


# Who keeps the leases decides about them: a server that lies to everybody cannot be told from one that forgets. It can do no more.
BELIEVED = {
    "says yes to everything": [refs([LEDGER], TAKES), band(1, packet("unpack ok\n") + packet(f"ok {RECORD}\n") + FLUSH) + FLUSH],
    "cannot say yes": [refs([LEDGER], "delete-refs atomic"), b""],  # git takes its silence for that
}


def believed(parts):
    site = shared(make_site)
    with HostileServer(parts) as server:
        site.point_to(server.address)
        site.attack("claim", "acquire", "x")


for about, script in BELIEVED.items():
    add_case(f"a remote that {about} harms nothing else", lambda parts=script: believed(parts))

if __name__ == "__main__":
    run_tables()
