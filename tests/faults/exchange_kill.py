"""What carries many items at once, to be killed as command_kill.py does it: `item import`, `item export` and `item stamp`.

An import and a stamp are one commit, so however they ended, all of it is there or nothing. An exported file is the old one or the new one;
of an exported folder, each file is whole, and doing it again completes it. Where items lie in folders of the target branch, the user's checkout
follows in the end, after a change of a single item as well.
"""

import json

from command_kill import Command

from harness import check

BEADS = [{"id": f"bd-{n}", "title": f"Bead {n}", "status": "open", "priority": n, "zeta": [n, {"a": None}]} for n in range(1, 4)]
TASKS = {f"t{n}_task.md": f"---\npriority: high  # said on Monday\nstatus: Ready\ncolor: blue\n---\n\nTask {n}\n" for n in range(1, 4)}
WORK = {"new/lost/notes.md": "I lost it\n", "new/lost/shot.png": "picture\n", "new/found.md": "# Found\n", "bugs/next/a-1/README.md": "# A\n"}


def beads_text():
    return "".join(json.dumps(bead) + "\n" for bead in BEADS)


def write_all(site, folder, texts):
    for name, text in texts.items():
        site.write(folder / name, text)


def texts_in(folder):
    """Without what a killed command was still writing."""
    return {path.name: path.read_text() for path in folder.glob("*") if path.suffix != ".tmp"}


# --- in ---

def beads_to_import(site):
    site.write(site.dir / "in.jsonl", beads_text())
    return [str(site.dir / "in.jsonl")]


def tasks_to_import(site):
    write_all(site, site.dir / "in", TASKS)
    return [str(site.dir / "in")]


def all_or_nothing(*ids):
    def seen(site, answer):
        there = {one["id"] for one in site.reply("item", "list")["items"]} & set(ids)
        check.true(there == set(ids) or (not there and not answer), f"imported: {there}")
    return seen


def imported(*ids):
    def end(site):
        items = {one["id"]: one["state"] for one in site.reply("item", "list")["items"]}
        check.equal(set(items), {"42", "43", *ids})
        check.equal(site.git("rev-list", "--count", "refs/dibs/items", cwd=site.root), "2", "commits of items")
    return end


# --- out ---

def items_from_beads(site):
    site.run("item", "import", "--from", "beads", *beads_to_import(site)).expect(0)
    site.write(site.root / "out.jsonl", "of another day\n")


def items_from_tasks(site):
    site.run("item", "import", "--from", "aitasks", *tasks_to_import(site)).expect(0)


def is_exported(site):
    lines = (site.root / "out.jsonl").read_text()
    check.true(lines.startswith(beads_text()), f"exported: {lines!r}")
    check.equal([json.loads(line)["id"] for line in lines.splitlines()[len(BEADS):]], ["42", "43"])


def old_or_new_file(site, answer):
    if answer or (site.root / "out.jsonl").read_text() != "of another day\n":
        is_exported(site)


def are_exported(site):
    texts = texts_in(site.root / "out")
    check.equal({name: texts.get(name) for name in TASKS}, TASKS)
    check.equal(len(texts), len(TASKS) + 2, f"tasks: {sorted(texts)}")


def whole_files(site, answer):
    for name, text in texts_in(site.root / "out").items():
        check.equal(text, TASKS.get(name, text), name)
        check.true(text.startswith("---\n") and "\n---\n" in text, f"{name}: {text!r}")


# --- stamped where they lie ---

def work_to_stamp(site):
    write_all(site, site.root / "docs/work", WORK)
    site.commit_all(site.root, "work")
    site.run("config", "set", "items.source", "folders").expect(0)


def files_of_work(site):
    return [name.removeprefix("docs/work/")
            for name in site.git("ls-tree", "-r", "--name-only", "main", "docs/work", cwd=site.root).splitlines()]


def stamped_together(site, answer):
    files = files_of_work(site)
    if answer or sorted(files) != sorted(WORK):
        check_stamped(files)
    for one in answer["stamped"] if answer else []:
        check.true(any(name.startswith(f"stamped/{one['id']}") for name in files), f"{one} is not among {files}")


def check_stamped(files):
    tops = {name.split("/")[1].removesuffix(".md") for name in files if name.startswith("stamped/")}
    check.equal(sorted(top[:-len("-01234567")] for top in tops), ["found", "lost"], f"stamped: {files}")
    check.equal(len(files), len(WORK), f"work: {files}")


def is_stamped(site):
    check_stamped(files_of_work(site))
    check.equal(site.git("status", "--porcelain", cwd=site.root), "", "the user's checkout")


def is_moved(site):
    check.true("bugs/inanalysis/a-1/README.md" in files_of_work(site), files_of_work(site))
    check.equal(site.git("status", "--porcelain", cwd=site.root), "", "the user's checkout")


EXCHANGE = [
    Command("item import of beads", ["item", "import", "--from", "beads"], imported("bd-1", "bd-2", "bd-3"),
            prepare=beads_to_import, seen=all_or_nothing("bd-1", "bd-2", "bd-3")),
    Command("item import of aitasks", ["item", "import", "--from", "aitasks"], imported("t1", "t2", "t3"),
            prepare=tasks_to_import, seen=all_or_nothing("t1", "t2", "t3")),
    Command("item export to beads", ["item", "export", "--to", "beads", "out.jsonl"], is_exported,
            prepare=items_from_beads, seen=old_or_new_file),
    Command("item export to aitasks", ["item", "export", "--to", "aitasks", "out"], are_exported,
            prepare=items_from_tasks, seen=whole_files),
    Command("item stamp", ["item", "stamp"], is_stamped, prepare=work_to_stamp, seen=stamped_together),
    Command("item update of a folder", ["item", "update", "a-1", "--state", "inanalysis"], is_moved, prepare=work_to_stamp),
]
