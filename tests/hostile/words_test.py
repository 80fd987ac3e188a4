"""Every hostile word in every place of the command line that takes one: options in disguise, shell, paths, revisions, escapes."""

from hostile_site import ITEMS, WORK, HostileRepo, add_case, check, run_tables, shared

# {trap} is a program that must not run, {dir} the directory around the repository.
WORDS = {
    "an option with a program": "--upload-pack={trap}",
    "an ssh option": "-oProxyCommand={trap}",
    "an option with a file": "--output={dir}/outside/new",
    "a command in parentheses": "$({trap})",
    "a command behind a semicolon": "x; {trap}",
    "a command behind a newline": "x\n{trap}",
    "a transport that runs programs": "ext::{trap}",
    "a path out of here": "../outside/canary",
    "a path from the top": "{dir}/outside/canary",
    "a revision": "HEAD@{{1}}^{{/start}}",
    "a ref of git's": "refs/heads/main",
    "a glob": "**/{{a,b}}[!x]*",
    "a terminal's title": "x\x1b]0;owned\x07",
    "letters that turn around": "x\u202egnp.exe",
    "format letters": "%s%n%x$HOME",
    "no UTF-8": b"x\xff\xfe\x80",
    "four thousand letters": "A" * 4000,
}

# What may change when a word is taken for what it is: a name.
PLACES = {
    "claim acquire": (["claim", "acquire", "--", "{}"], ()),
    "claim acquire lock:": (["claim", "acquire", "lock:{}"], ()),
    "claim acquire branch:": (["claim", "acquire", "branch:{}"], ()),
    "claim acquire --reason": (["claim", "acquire", "item", "--reason={}"], ()),
    "claim transfer --to": (["claim", "transfer", "item", "--to={}"], ()),
    "claim status": (["claim", "status", "--", "{}"], ()),
    "claim history": (["claim", "history", "--", "{}"], ()),
    "item add": (["item", "add", "--", "{}"], ITEMS),
    "item add --body": (["item", "add", "x", "--body={}"], ITEMS),
    "item add --label": (["item", "add", "x", "--label={}"], ITEMS),
    "item add --files": (["item", "add", "x", "--files={}"], ITEMS),
    "item add --depends-on": (["item", "add", "x", "--depends-on={}"], ITEMS),
    "item show": (["item", "show", "--", "{}"], ()),
    "item comment": (["item", "comment", "known", "--", "{}"], ITEMS),
    "start": (["start", "--", "{}"], WORK),
    "done": (["done", "--", "{}"], ()),
    "worktree add --branch": (["worktree", "add", "--branch={}"], WORK),
    "worktree remove": (["worktree", "remove", "--", "{}"], ()),
    "worktree rescue restore": (["worktree", "rescue", "restore", "--", "{}"], ()),
    "gate pass": (["gate", "pass", "known", "{}", "--reason=x"], ()),
    "config set": (["config", "set", "store.remote", "--", "{}"], ()),
    "init --remote": (["init", "--store=git", "--remote={}"], ()),
    "item import": (["item", "import", "--from=json", "--", "{}"], ()),
    "-C": (["-C{}", "claim", "list"], ()),
}


def site_of(place):
    """One for each place: what a word is taken for in one must not help it in the next."""
    def make():
        repo = HostileRepo()
        repo.run("item", "add", "known").expect(0)
        return repo
    make.__name__ = place
    return make


def filled(template, word, site):
    """As bytes, because a word may be no text."""
    if isinstance(word, str):
        word = word.format(trap=site.trap("word"), dir=site.dir).encode()
    return [part.encode().replace(b"{}", word) for part in template]


def try_word(make, template, word, may_change):
    site = shared(make)
    words = filled(template, word, site)
    site.attack(*words, may_change=may_change)
    reply = site.attack("--json", *words, may_change=may_change)
    if reply.code:
        reply.error()
    check.equal(site.canary.read_text(), "not to be touched\n")


for where, (words_there, allowed) in PLACES.items():
    making = site_of(where)
    for about, hostile in WORDS.items():
        add_case(f"{where}: {about}",
                 lambda make=making, template=words_there, word=hostile, may=allowed: try_word(make, template, word, may))

if __name__ == "__main__":
    run_tables()
