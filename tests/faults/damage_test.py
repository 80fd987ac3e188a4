"""A damaged, cut, full or read-only store: work goes on where it can, stops hard where it must, and nothing is half done."""

import contextlib
import ctypes
import json
import os
import time

import injection  # noqa: F401  (puts the harness on the path)

from harness import Repo, Skip, add_case, case, check, check_chain, is_running, main, needs_root, sealed, wait_until

LIBC = ctypes.CDLL(None, use_errno=True)
MS_REMOUNT, MS_RDONLY, MNT_DETACH = 32, 1, 2


@contextlib.contextmanager
def small_disk(repo, size="1m"):
    """Puts the store on a file system of its own."""
    needs_root()
    kept = {path.relative_to(repo.store): path.read_bytes() for path in repo.store.rglob("*") if path.is_file()}
    if LIBC.mount(b"dibs-test", str(repo.store).encode(), b"tmpfs", 0, f"size={size},mode=700".encode()) != 0:
        raise Skip(f"a tmpfs cannot be mounted here: {os.strerror(ctypes.get_errno())}")
    try:
        for name, data in kept.items():
            (repo.store / name).parent.mkdir(exist_ok=True, mode=0o700)
            (repo.store / name).write_bytes(data)
            os.chmod(repo.store / name, 0o600)
        (repo.store / "heartbeat").mkdir(exist_ok=True, mode=0o700)
        yield
    finally:
        LIBC.umount2(str(repo.store).encode(), MNT_DETACH)


def fill(repo):
    """Leaves not one byte, not even in blocks that are begun."""
    with open(repo.store / "ballast", "wb", buffering=0) as ballast:
        with contextlib.suppress(OSError):
            while True:
                ballast.write(b"x" * 4096)


def fill_up_log_block(repo):
    """The log's last block has room for a line or two; use that up as well, but for less than a line with a long reason."""
    while repo.run("claim", "renew", "3").code == 0:
        check.true(len(repo.log()) < 200, "the disk is not full")


LONG = ["--reason", "long " * 100]


def three_leases(repo):
    return [repo.acquire(name) for name in ("1", "2", "3")]


@case
def a_torn_tail_is_cut_and_reported_and_work_goes_on():
    with Repo() as repo:
        three_leases(repo)
        whole = repo.log_bytes()
        last = whole.rindex(b"\n", 0, -1) + 1
        for cut in [*range(last + 1, last + 60), *range(last + 60, len(whole), 23)]:
            repo.log_path.write_bytes(whole[:cut])
            check.equal(repo.holder("2"), "agent:one", f"cut at {cut}: what came before")
            reply = repo.run("claim", "acquire", "4", "--json", agent="agent:two").expect(0)
            check.true(any("unfinished" in w or "newline" in w for w in reply.warnings()), f"cut at {cut}: {reply}")
            check_chain(repo.log_bytes())
            check.true(reply.json()["fence"] >= 3, "the fence goes on")
            repo.healthy()


@case
def a_line_that_lacks_only_its_newline_counts():
    with Repo() as repo:
        three_leases(repo)
        repo.log_path.write_bytes(repo.log_bytes()[:-1])
        repo.acquire("4", agent="agent:two")
        check.equal([repo.holder(name) for name in ("1", "2", "3", "4")], ["agent:one"] * 3 + ["agent:two"])
        check_chain(repo.log_bytes())


@case
def zeros_at_the_end_are_a_torn_tail():
    with Repo() as repo:
        three_leases(repo)
        for tail in (b"\0" * 100, b"\0" * 8192, b'{"schema_version":1,"seq":4' + b"\0" * 500 + b"\n"):
            before = repo.log_bytes()
            with open(repo.log_path, "ab") as log:
                log.write(tail)
            check.equal(repo.holder("3"), "agent:one")
            repo.run("claim", "renew", "1").expect(0)
            check.true(repo.log_bytes().startswith(before))
            check_chain(repo.log_bytes())


@case
def any_flipped_byte_before_the_tail_is_a_hard_stop_that_names_line_and_repair():
    with Repo() as repo:
        three_leases(repo)
        whole = repo.log_bytes()
        ends = [i for i, byte in enumerate(whole) if byte == 10]
        for at in [*range(0, ends[0] + 1, 29), ends[0] - 3, ends[0], *range(ends[0] + 1, ends[1], 83), ends[1]]:
            damaged = bytearray(whole)
            damaged[at] ^= 0x20
            repo.log_path.write_bytes(damaged)
            line = 1 if at <= ends[0] else 2
            for words in (["claim", "acquire", "4"], ["claim", "status", "1"], ["claim", "list"],
                          ["claim", "release", "1"], ["recover"]):
                error = repo.refusal(11, *words)
                check.contains(error["message"], "claims.jsonl")
                check.contains(error["message"], f"line {line}", f"byte {at}")
                check.contains(error["hint"], "dibs recover --salvage")
            check.equal(repo.log_bytes(), bytes(damaged), f"byte {at}: nothing may be written")


@case
def a_removed_line_or_a_swapped_pair_is_damage():
    with Repo() as repo:
        three_leases(repo)
        one, two, three = (line + b"\n" for line in repo.log_bytes().splitlines())
        for lines in ([one, three], [two, three], [one, three, two], [one, two, two, three], [one, one], [two],
                      [one, b"\n", two], [b"x\n", one, two]):
            repo.log_path.write_bytes(b"".join(lines))
            repo.refusal(11, "claim", "acquire", "4")
            repo.refusal(11, "claim", "status", "1")


@case
def salvage_keeps_what_can_be_read_and_goes_on_with_higher_fences():
    with Repo() as repo:
        leases = three_leases(repo)
        repo.log_path.write_bytes(repo.log_bytes().replace(b"item:2", b"item:9", 1))
        damaged = repo.log_bytes()
        repo.refusal(11, "claim", "status", "1")
        did = repo.reply("recover", "--salvage")
        check.equal((did["log_repaired"], did["damaged_entries"]), (True, 1))
        check.equal([repo.holder(name) for name in ("1", "2", "3", "9")], ["agent:one", None, "agent:one", None])
        for lease in (leases[0], leases[2]):
            repo.reply("claim", "verify", lease["resource"], "--fence", str(lease["fence"]))
        fence = repo.acquire("2", agent="agent:two")["fence"]
        check.true(fence > 3, f"fence {fence} may have been given before")
        check.equal([path.read_bytes() for path in repo.store.glob("damaged-*/claims.jsonl")], [damaged],
                    "the old file is kept")
        for lease in (leases[0], leases[2]):
            repo.reply("claim", "renew", lease["lease_id"])
        repo.healthy()
        repo.run("recover").expect(0)
        check.equal(repo.holder("1"), "agent:one")


@case
def salvage_of_a_log_that_lost_its_end_trusts_the_index():
    with Repo() as repo:
        three_leases(repo)
        repo.run("recover").expect(0)
        check.true((repo.store / "claims.index.json").exists())
        first = repo.log_bytes().splitlines()[0] + b"\n"
        for rest in (first, b""):
            repo.log_path.write_bytes(rest)
            check.contains(repo.refusal(11, "claim", "acquire", "4")["hint"], "--salvage")
            check.contains(repo.refusal(11, "claim", "status", "3")["hint"], "--salvage")
        repo.run("recover", "--salvage").expect(0)
        check.equal([repo.holder(name) for name in ("1", "2", "3")], ["agent:one"] * 3)
        check.true(repo.acquire("4", agent="agent:two")["fence"] > 3)


@case
def a_log_that_is_gone_is_not_taken_for_an_empty_one():
    with Repo() as repo:
        three_leases(repo)
        repo.run("recover").expect(0)
        repo.log_path.unlink()
        repo.refusal(11, "claim", "acquire", "1", agent="agent:two")
        repo.refusal(11, "claim", "status", "1")


def damage_index(change):
    with Repo() as repo:
        three_leases(repo)
        repo.run("claim", "release", "2").expect(0)
        repo.run("recover").expect(0)
        repo.acquire("5")
        index = repo.store / "claims.index.json"
        change(index)
        check.equal([repo.holder(name) for name in ("1", "2", "3", "5")], ["agent:one", None, "agent:one", "agent:one"])
        repo.refusal(3, "claim", "acquire", "3", agent="agent:two")
        check.equal(repo.acquire("6", agent="agent:two")["fence"], 6)
        check.equal(repo.reply("claim", "list")["count"], 4)
        repo.run("recover").expect(0)
        check.equal(json.loads(index.read_text())["sequence"], 6, "the index is whole again")
        repo.healthy()


def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= 0x01
    path.write_bytes(data)


INDEX_DAMAGE = {"deleted": lambda p: p.unlink(), "emptied": lambda p: p.write_bytes(b""),
                "garbage": lambda p: p.write_bytes(os.urandom(3000)),
                "cut in half": lambda p: p.write_bytes(p.read_bytes()[:len(p.read_bytes()) // 2]),
                "cut by a byte": lambda p: p.write_bytes(p.read_bytes()[:-1]),
                "zeros": lambda p: p.write_bytes(b"\0" * len(p.read_bytes())), "not JSON": lambda p: p.write_text("{]"),
                "another version": lambda p: p.write_text(p.read_text().replace('"schema_version":1', '"schema_version":9', 1))}
for how, change_ in INDEX_DAMAGE.items():
    add_case(f"an index that is {how} is rebuilt by itself", lambda change=change_: damage_index(change))


@case
def a_flipped_byte_anywhere_in_the_index_changes_no_answer():
    with Repo() as repo:
        three_leases(repo)
        repo.run("recover").expect(0)
        index, log = repo.store / "claims.index.json", repo.log_bytes()
        whole = index.read_bytes()
        for at in range(0, len(whole), 19):
            index.write_bytes(whole)
            repo.log_path.write_bytes(log)
            flip(index, at)
            listed = repo.reply("claim", "list")["leases"]
            check.equal([(lease["resource"], lease["fence"]) for lease in listed],
                        [("item:1", 1), ("item:2", 2), ("item:3", 3)], f"byte {at}")
            check.equal(repo.acquire("4", agent="agent:two")["fence"], 4, f"byte {at}")


@case
def an_index_of_another_time_is_not_believed():
    with Repo() as repo:
        three_leases(repo)
        repo.run("recover").expect(0)
        old = (repo.store / "claims.index.json").read_bytes()
        repo.run("claim", "release", "1").expect(0)
        repo.run("recover").expect(0)
        (repo.store / "claims.index.json").write_bytes(old)  # a backup put back: older than the log, and fine
        check.equal(repo.holder("1"), None)
        with Repo() as other:
            other.acquire("1", agent="agent:two")
            other.run("recover").expect(0)
            other_index = (other.store / "claims.index.json").read_bytes()
        (repo.store / "claims.index.json").write_bytes(other_index)  # of another repository
        check.equal([repo.holder(name) for name in ("1", "2", "3")], [None, "agent:one", "agent:one"])


def append_sealed(repo, body):
    line, _ = sealed(body, int(repo.log()[-1]["crc"], 16))
    with open(repo.log_path, "ab") as log:
        log.write(line)


@case
def a_newer_schema_is_refused_and_nothing_is_written():
    with Repo() as repo:
        three_leases(repo)
        append_sealed(repo, b'{"schema_version":2,"seq":4,"time":"2026-01-01T00:00:00.000Z","future":true')
        before = {path: path.read_bytes() for path in repo.store.rglob("*") if path.is_file() and path.name != "counters"}
        for words in (["claim", "acquire", "4"], ["claim", "release", "1"], ["claim", "status", "1"], ["claim", "list"],
                      ["claim", "history"], ["recover"],
                      ["claim", "cleanup"], ["claim", "heartbeat"], ["events"]):
            error = repo.refusal(11, *words)
            check.contains(error["message"], "newer")
            check.contains(error["hint"], "dibs --version")
        after = {path: path.read_bytes() for path in repo.store.rglob("*") if path.is_file() and path.name != "counters"}
        check.equal({str(path) for path in after if after[path] != before.get(path)}, set(), "files that changed")


@case
def a_newer_schema_is_not_salvaged_away():
    with Repo() as repo:
        three_leases(repo)
        append_sealed(repo, b'{"schema_version":2,"seq":4,"time":"2026-01-01T00:00:00.000Z","future":true')
        before = repo.log_bytes()
        reply = repo.run("recover", "--salvage", "--json")
        check.true(reply.code != 0, f"an older dibs threw away what a newer one wrote: {reply}")
        check.equal(repo.log_bytes(), before)


@case
def unknown_fields_are_kept():
    with Repo() as repo:
        repo.acquire("42")
        body = repo.log_bytes().splitlines()[0]
        body = body[:body.rindex(b',"crc":"')]
        body = body.replace(b'"mode":"exclusive"', b'"mode":"exclusive","colour":{"deep":[1,null,"x"]}', 1)
        body = body.replace(b'"seq":1,', b'"seq":1,"written_by":"tool 9",', 1)
        repo.log_path.write_bytes(sealed(body, 0)[0])
        check.equal(repo.holder("42"), "agent:one")
        for words in (["renew", "42"], ["heartbeat"], ["downgrade", "42"]):
            repo.run("claim", *words).expect(0)
            lease = repo.log()[-1]["writes"][0]["value"]["leases"][0]
            check.equal(lease["colour"], {"deep": [1, None, "x"]}, str(words))
        repo.run("recover").expect(0)
        check.contains((repo.store / "claims.index.json").read_text(), '"colour"')
        check.contains(repo.log_bytes().decode(), '"written_by":"tool 9"')


@case
def an_unknown_operation_is_part_of_the_story_not_of_the_state():
    with Repo() as repo:
        repo.acquire("42")
        body = repo.log_bytes().splitlines()[0].replace(b'"op":"acquire"', b'"op":"bless"')
        repo.log_path.write_bytes(sealed(body[:body.rindex(b',"crc":"')], 0)[0])
        check.equal(repo.holder("42"), "agent:one")
        repo.run("claim", "renew", "42").expect(0)
        repo.run("claim", "history").expect(0)


@case
def a_full_disk_refuses_a_claim_and_lets_go_of_one():
    with Repo() as repo:
        leases = three_leases(repo)
        with small_disk(repo):
            fill(repo)
            fill_up_log_block(repo)
            before = repo.log_bytes()
            reply = repo.run("claim", "acquire", "4", *LONG, "--json")
            check.true(reply.code in (1, 11), str(reply))
            check.contains(reply.error()["message"], "No space left")
            check.contains(reply.error()["hint"], "dibs claim release")
            check.equal(repo.log_bytes(), before, "nothing half done")
            check.equal(repo.holder("4"), None)
            check.equal(repo.holder("1"), "agent:one", "looking works")
            check.equal(repo.reply("claim", "release", "1")["released"], True)
            check.equal(repo.holder("1"), None)
            check.equal(repo.reply("claim", "release", "2")["released"], True, "and a second one")
            check_chain(repo.log_bytes())
            (repo.store / "ballast").unlink()
            repo.acquire("4")
            repo.run("recover").expect(0)
            check.true((repo.store / "reserve").exists(), "the reserve is back")
            check.equal(repo.holder("3"), leases[2]["agent_id"])
            repo.healthy()


@case
def a_full_disk_lets_force_evict_and_cleanup_work():
    with Repo() as repo:
        three_leases(repo)
        repo.acquire("short", "--ttl", "1")
        with small_disk(repo):
            wait_until(lambda: repo.holder("short") is None, "the lease to end")
            fill(repo)
            fill_up_log_block(repo)
            repo.run("claim", "force-evict", "1", "--reason", "x").expect(0)
            repo.run("claim", "cleanup").expect(0)
            check.equal(repo.holder("1"), None)


@case
def a_first_claim_on_a_full_disk_is_refused_cleanly():
    with Repo() as repo:
        with small_disk(repo):
            fill(repo)
            reply = repo.run("claim", "acquire", "1", "--json")
            check.true(reply.code in (0, 1, 11), str(reply))
            check.true(reply.code == 0 or "No space left" in reply.error()["message"], str(reply))
            (repo.store / "ballast").unlink()
            repo.acquire("1")
            check_chain(repo.log_bytes())
            repo.healthy()


@case
def a_heartbeat_daemon_outlives_a_full_disk():
    with Repo() as repo:
        owner = repo.sleeper()
        repo.acquire("3", "--ttl", "30")
        with small_disk(repo):
            daemon = repo.reply("claim", "heartbeat", "--daemon", "--every", "1", "--pid", str(owner.pid))["pid"]
            try:
                wait_until(lambda: ("heartbeat", "agent:one") in repo.ops(), "the first beat")
                fill(repo)
                fill_up_log_block(repo)
                time.sleep(2.5)  # beats come every second, so two have failed
                check.true(is_running(daemon),
                           "a beat that failed ended the daemon: the lease would be lost although the disk has room again")
                (repo.store / "ballast").unlink()
                size = len(repo.log_bytes())
                wait_until(lambda: len(repo.log_bytes()) > size, "a beat after the disk has room again")
            finally:
                owner.kill()
                owner.wait()
                wait_until(lambda: not is_running(daemon), "the daemon to end")


@case
def a_read_only_disk_is_a_clear_error_and_looking_works():
    with Repo() as repo:
        three_leases(repo)
        with small_disk(repo):
            flags = MS_REMOUNT | MS_RDONLY
            check.equal(LIBC.mount(b"dibs-test", str(repo.store).encode(), b"tmpfs", flags, b""), 0, "remounting")
            before = repo.log_bytes()
            for words in (["claim", "acquire", "4"], ["claim", "release", "1"], ["claim", "renew", "1"],
                          ["claim", "heartbeat"]):
                reply = repo.run(*words, "--json")
                check.true(reply.code != 0, str(reply))
                check.true(reply.code in (1, 11), str(reply))
                check.contains(reply.error()["message"].lower(), "read-only")
                check.true(reply.error()["hint"], "a hint")
            check.equal(repo.log_bytes(), before)
            check.equal(repo.holder("1"), "agent:one")
            check.equal(repo.reply("claim", "list")["count"], 3)
            repo.reply("claim", "history")
            repo.reply("claim", "verify", "1", "--fence", "1")
            repo.refusal(3, "claim", "acquire", "1", agent="agent:two")
            check.true(repo.acquire("1")["already_held"])
            repo.run("doctor")
            repo.reply("metrics")


@case
def a_read_only_disk_with_a_torn_tail_still_answers():
    with Repo() as repo:
        three_leases(repo)
        with open(repo.log_path, "ab") as log:
            log.write(b'{"schema_ver')
        with small_disk(repo):
            LIBC.mount(b"dibs-test", str(repo.store).encode(), b"tmpfs", MS_REMOUNT | MS_RDONLY, b"")
            check.equal(repo.holder("1"), "agent:one")
            reply = repo.run("claim", "acquire", "4", "--json")
            check.true(reply.code in (1, 11), str(reply))


if __name__ == "__main__":
    main()
