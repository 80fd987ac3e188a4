"""What each store promises: the page for people, the table from the code, and a test for every cell of it."""

import json
import re
from pathlib import Path

from remote import Remote

from harness import Repo, case, check, main

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/guarantees.md"
LAYOUTS = ("refs", "branches", "lock-branch")


def table_below(heading):
    """The rows of the first table below a heading of the page, each as column → text."""
    text = PAGE.read_text().split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(cells[0], row)) for row in cells[2:]]


def promised():
    with Repo() as repo:
        stores = json.loads(repo.run("promises", "--json").expect(0).out)["stores"]
    return [{name.replace("_", " "): text for name, text in store.items()} for store in stores]


@case
def the_page_says_what_the_code_says():
    check.equal(table_below("The promises of each store"), promised())


@case
def what_people_are_shown_is_the_same():
    shown = {}
    with Repo() as repo:
        for line in repo.run("promises").expect(0).out.splitlines():
            if line.startswith(" "):
                name, text = re.split(r"  +", line.strip(), maxsplit=1)
                shown[store][name] = text
            else:
                store = line.strip()
                shown[store] = {"store": store}
    check.equal(list(shown.values()), promised())


@case
def every_cell_has_a_test_that_is_there():
    shown = {row["store"]: row for row in table_below("Which test shows it")}
    for store in promised():
        for column, promise in store.items():
            if column == "store" or promise == "-":
                continue
            tests = re.findall(r"`(\w+)/(\w+)`", shown[store["store"]][column])
            check.true(tests, f"nothing shows {column} of {store['store']}")
            for folder, name in tests:
                found = [*ROOT.glob(f"src/{folder}/{name}.cc"), *ROOT.glob(f"tests/{folder}/{name}.*")]
                check.true(found, f"there is no test {folder}/{name}")


@case
def every_layout_of_the_git_store_promises_the_same():
    for layout in LAYOUTS:
        with Remote(clones=1, layout=layout) as remote:
            check.equal(json.loads(remote.clones[0].run("promises", "--json").expect(0).out)["stores"][1]["store"], "git")
            # Offline: no. Not even what is held can be told, and nothing is called free.
            remote.clones[0].acquire("42")
            remote.path.rename(remote.dir / "away")
            for words in (["claim", "acquire", "43"], ["claim", "release", "42"]):
                remote.clones[0].refusal(11, *words)


if __name__ == "__main__":
    main()
