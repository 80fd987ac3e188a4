"""conflicts: which branches will collide, found before anyone lands, and the same as git would find."""

import os
from pathlib import Path

from harness import case, check, main
from landing_site import GitSite, LocalSite, on_every_store

LINES = [f"line {n}\n" for n in range(40)]


def with_line(number, text):
    lines = list(LINES)
    lines[number] = text + "\n"
    return "".join(lines)


def worked_on(site, item, name, text, agent="agent:one"):
    made = site.start(item, agent=agent)
    site.work(made, name, text)
    return made


def places(reply):
    """The collisions by the items' names, "main" for the target."""
    names = [branch["items"][0] if branch["items"] else branch["branch"] for branch in reply["branches"]]
    return {(names[one["first"]], names[one["second"]]): one["files"] for one in reply["collisions"]}


@on_every_store
def branches_that_change_the_same_line_are_named_with_the_file(site):
    worked_on(site, "1", "lines", with_line(5, "one"))
    two = worked_on(site, "2", "lines", with_line(5, "two"), agent="agent:two")
    worked_on(site, "3", "lines", with_line(30, "three"))
    worked_on(site, "4", "new", "new\n")
    before = site.state(two["path"])
    reply = site.reply("conflicts")
    check.equal(places(reply), {("item:1", "item:2"): ["lines"]})
    check.equal((reply["count"], reply["pairs"], len(reply["branches"]), reply["elsewhere"]), (1, 10, 5, []))
    second = reply["branches"][reply["collisions"][0]["second"]]
    check.equal((second["items"], second["branch"], second["agent_id"], second["path"], second["is_target"]),
                (["item:2"], "dibs/2", "agent:two", two["path"], False))
    check.equal(reply["branches"][-1]["is_target"], True)
    check.equal(site.state(two["path"]), before, "nothing changed")


@on_every_store
def what_landed_meanwhile_collides_with_the_target(site):
    first = worked_on(site, "1", "lines", with_line(5, "one"))
    worked_on(site, "2", "lines", with_line(5, "two"))
    site.reply("done", cwd=first["path"])
    check.equal(places(site.reply("conflicts")), {("item:2", "main"): ["lines"]})


@case
def a_second_look_asks_git_about_what_changed_alone():
    with LocalSite() as site:
        made = [worked_on(site, str(n), "lines", with_line(5, f"mine {n}")) for n in range(4)]
        first = site.reply("conflicts")
        check.equal((first["pairs_known"], first["pairs_merged"], first["count"]), (0, 6, 6))
        second = site.reply("conflicts")
        check.equal((second["pairs_known"], second["pairs_merged"]), (10, 0))
        check.equal(second["collisions"], first["collisions"])
        site.work(made[2], "lines", "".join(LINES))  # it takes its change back
        third = site.reply("conflicts")
        check.equal((third["pairs_known"], third["count"]), (6, 3))


@case
def a_damaged_cache_is_as_none():
    with LocalSite() as site:
        for n in range(2):
            worked_on(site, str(n), "lines", with_line(5, f"mine {n}"))
        wanted = site.reply("conflicts")["collisions"]
        cache = site.root / ".git/dibs/conflicts.cache"
        good = cache.read_bytes()
        for damaged in (b"", good[:-3], good.replace(b"lines", b"other"), b"dibs conflicts 1 00000000\n" + os.urandom(200)):
            cache.write_bytes(damaged)
            reply = site.reply("conflicts")
            check.equal((reply["collisions"], reply["pairs_known"]), (wanted, 0))
        check.equal(cache.read_bytes(), good, "it is written again")


@case
def moved_folders_and_files_that_become_folders_are_seen():
    with LocalSite() as site:
        site.move_target("folder/a", "a\n" * 20)
        site.move_target("folder/b", "b\n" * 20)
        mover = site.start("1")
        site.git("mv", "folder", "elsewhere", cwd=mover["path"])
        site.commit_all(mover["path"])
        worked_on(site, "2", "folder/new", "new\n")
        worked_on(site, "3", "thing", "a file\n")
        worked_on(site, "4", "thing/inside", "in a folder\n")
        check.equal(set(places(site.reply("conflicts"))), {("item:1", "item:2"), ("item:3", "item:4")})


@case
def a_file_with_a_strange_name_is_named_as_it_is():
    with LocalSite() as site:
        name = "tab\there \u00e9"
        worked_on(site, "1", name, "one\n")
        worked_on(site, "2", name, "two\n")
        check.equal(places(site.reply("conflicts")), {("item:1", "item:2"): [name]})
        check.contains(site.run("conflicts").expect(0).out, "tab\\x09here")


@case
def the_matrix_is_a_table():
    with LocalSite() as site:
        check.contains(site.run("conflicts").expect(0).out, "no item is being worked on")
        worked_on(site, "1", "lines", with_line(5, "one"))
        check.contains(site.run("conflicts").expect(0).out, "1 branch and main: no conflicts")
        worked_on(site, "2", "lines", with_line(5, "two"))
        reply = site.reply("conflicts", "--matrix")
        check.equal(reply["matrix"], [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
        text = site.run("conflicts", "--matrix").expect(0).out
        check.contains(text, "   1       1   .  item:1  [dibs/1]  agent:one")
        check.contains(text, "1 conflict among 2 branches and main")


@case
def what_is_held_elsewhere_is_counted():
    with GitSite() as site:
        worked_on(site, "1", "lines", with_line(5, "one"))
        site.another_clone().reply("start", "2")
        check.equal(site.reply("conflicts")["elsewhere"], ["item:2"])


@case
def objects_of_the_merges_do_not_stay():
    with LocalSite() as site:
        for n in range(3):
            worked_on(site, str(n), "lines", with_line(5, f"mine {n}"))
        before = site.git("count-objects", "-v", cwd=site.root)
        check.equal(site.reply("conflicts")["count"], 3)
        check.equal(site.git("count-objects", "-v", cwd=site.root), before)
        left = [path.name for path in Path(site.root / ".git/dibs").iterdir() if path.name.startswith("scratch")]
        check.equal(left, [])


@case
def without_a_repository_it_says_so():
    with LocalSite(init=False) as site:
        check.equal(site.refusal(10, "conflicts")["code"], "not_set_up")


if __name__ == "__main__":
    main()
