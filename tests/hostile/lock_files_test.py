"""Lock files on a branch that other tools write to (layout lock-branch): whatever stands in one, it is a lock or an error, never
free, and never obeyed."""

import itertools

from hostile_objects import commit_saying, in_remote, tree_with
from hostile_site import HostileClone, add_case, check, run_tables, shared

BRANCH = "refs/heads/aitask-locks"
ESCAPES = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m"
ITS_OWN = ("remote.git/refs/heads/", "remote.git/objects/", "remote.git/packed-refs")

FILES = {
    "nothing": b"",
    "words": b"hello\n",
    "escapes": ESCAPES.encode(),
    "no UTF-8": b"\xff\xfe\x00",
    "a holder with escapes": f"task_id: 7\nlocked_by: \"{ESCAPES}\"\nlocked_at: 2026-01-03 12:00\nhostname: {ESCAPES}\n".encode(),
    "a time that is none": b"task_id: 7\nlocked_by: a@example.com\nlocked_at: 99999-99-99 99:99\n",
    "one key twice": b"task_id: 7\ntask_id: 8\nlocked_by: a\n",
    "a list": b"- a\n- b\n",
    "anchors that multiply": b"a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\nlocked_by: x\n",
    "a tag that makes objects": b"!!python/object/apply:os.system ['true']\nlocked_by: x\n",
    "a thousand keys": b"".join(b"k%d: 1\n" % n for n in range(1000)),
    "a megabyte in one key": b"locked_by: " + b"x" * (1 << 20),
    "half of ours": b"task_id: 7\nlocked_by: a\ndibs_record: '{\"leases\":[{'\ndibs_seal: 00000000\n",
    "a record a thousand deep": b"task_id: 7\nlocked_by: a\ndibs_record: '" + b"[" * 1000 + b"'\n",
}
MODES = {"a link": "120000", "a program": "100755", "a repository": "160000"}
NUMBERS = itertools.count(100)


def make_site():
    return HostileClone(layout="lock-branch")


def with_lock_file(mode, contents):
    site = shared(make_site)
    task = next(NUMBERS)
    tree = tree_with(site, mode, f"t{task}_lock.yaml", contents)
    in_remote(site, "update-ref", BRANCH, commit_saying(site, b"ait: lock", tree))
    site.attack("claim", "list", may_change=ITS_OWN)
    reply = site.attack("claim", "acquire", str(task), codes={1, 3, 8, 11}, may_change=ITS_OWN)
    check.absent(reply.out, "claimed", "what somebody has locked")
    site.attack("claim", "acquire", f"beside-{task}", codes={0}, may_change=ITS_OWN)


for about, text in FILES.items():
    add_case(f"a lock file with {about}", lambda contents=text: with_lock_file("100644", contents))
for about, file_mode in MODES.items():
    add_case(f"a lock file that is {about}", lambda mode=file_mode: with_lock_file(mode, b"task_id: 7\nlocked_by: x\n"))

if __name__ == "__main__":
    run_tables()
