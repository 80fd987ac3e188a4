"""Worktrees that lose no work: many made at once, none removed before what would be lost is kept, and all of it back."""

import hashlib
import os
import shutil
import stat
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from harness import Repo, add_case, case, check, main


def files_below(root):
    """Relative path → kind, executable or not, and a hash of the bytes; git's own files left out."""
    found = {}
    for folder, names, files in os.walk(os.fsencode(root)):
        if b".git" in names:
            names.remove(b".git")
        links = [name for name in names if os.path.islink(os.path.join(folder, name))]
        for name in files + links:
            path = os.path.join(folder, name)
            if name == b".git":
                continue
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode):
                found[os.path.relpath(path, os.fsencode(root))] = ("link", os.readlink(path))
            else:
                with open(path, "rb") as file:
                    digest = hashlib.sha256(file.read()).hexdigest()
                found[os.path.relpath(path, os.fsencode(root))] = ("file", bool(status.st_mode & 0o100), digest)
    return found


def status_of(repo, tree):
    return repo.git("status", "--porcelain=v1", "--untracked-files=all", cwd=tree)


def index_of(repo, tree):
    return repo.git("ls-files", "-s", "-t", cwd=tree)


def rescues(repo):
    return repo.reply("worktree", "rescue", "list")["rescues"]


def write(path, contents, mode=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
    if mode:
        path.chmod(mode)


def commit_all(repo, tree, message="work"):
    repo.git("add", "-A", cwd=tree)
    repo.git("commit", "-q", "-m", message, cwd=tree)


def there_and_back(repo, tree, overlooked=""):
    """Removes a worktree and restores it; everything must be as it was. Returns what was kept."""
    files, status, index = files_below(tree), status_of(repo, tree), index_of(repo, tree)
    removed = repo.reply("worktree", "remove", str(tree))
    check.true(removed["rescue"], f"nothing was kept: {removed}")
    check.true(not tree.exists(), "the worktree is gone")
    repo.git("fsck", "--strict", cwd=repo.root)
    restored = repo.reply("worktree", "rescue", "restore", removed["rescue"]["name"])
    check.equal(restored["path"], str(tree))
    check.equal(files_below(tree), files, "files")
    check.equal(status_of(repo, tree), status.replace(overlooked, ""), "git status")
    check.equal(index_of(repo, tree), index, "index")
    check.equal([entry["name"] for entry in rescues(repo)], [removed["rescue"]["name"]], "it stays kept")
    return removed["rescue"]


def make_a_mess(repo, tree):
    """One of every kind of change, over the files of `start_files`."""
    write(tree / "changed", "changed\n")
    write(tree / "staged", "staged\n")
    repo.git("add", "staged", cwd=tree)
    write(tree / "staged", "and changed again\n")
    (tree / "deleted").unlink()
    repo.git("rm", "-q", "gone-from-index", cwd=tree)
    (tree / "script").chmod(0o755)
    (tree / "link").unlink()
    (tree / "link").symlink_to("elsewhere")
    write(tree / "new/file", b"\x00binary\xff\r\n")
    write(tree / "new/script", "#!/bin/sh\n", 0o755)
    (tree / "new-link").symlink_to("/nowhere/at all")
    write(tree / "empty", "")
    (tree / "now-a-folder").unlink()
    write(tree / "now-a-folder/inside", "x")
    shutil.rmtree(tree / "now-a-file")
    write(tree / "now-a-file", "x")
    shutil.move(tree / "now-a-link", tree / "moved-away")
    (tree / "now-a-link").symlink_to("moved-away")
    write(tree / "wanted", "only the intent\n")
    write(tree / "ignored.o", "ignored\n")


def start_files(repo):
    root = repo.root
    for name in ("changed", "staged", "deleted", "gone-from-index", "same", "deep/er/same",
                 "now-a-folder", "now-a-file/inside", "now-a-link/deep/inside"):
        write(root / name, f"{name} as it was\n")
    write(root / "script", "#!/bin/sh\n")
    (root / "link").symlink_to("same")
    write(root / ".gitignore", "*.o\n")
    commit_all(repo, root, "files")


@case
def add_makes_a_worktree_for_an_item():
    with Repo(commit=True) as repo:
        made = repo.reply("worktree", "add", "42")
        check.equal((made["path"], made["branch"], made["target"]),
                    (str(repo.dir / "repo.worktrees/42"), "dibs/42", "main"))
        check.equal(repo.git("rev-parse", "--abbrev-ref", "HEAD", cwd=made["path"]), "dibs/42")
        check.equal(repo.reply("worktree", "info", cwd=made["path"])["worktree_id"], made["worktree_id"])
        check.equal(repo.holder("42"), None, "no lease is taken")
        check.equal(repo.git("config", "--get-regexp", "^branch\\..*", cwd=repo.root) if
                    "[branch" in (repo.root / ".git/config").read_text() else "", "", "no tracking")
        error = repo.refusal(8, "worktree", "add", "42")
        check.contains(error["message"], "already")
        check.contains(repo.run("worktree", "add", "43").expect(0).out, "next: cd ")


@case
def add_takes_a_branch_and_a_path():
    with Repo(commit=True) as repo:
        repo.git("branch", "old", cwd=repo.root)
        old = repo.reply("worktree", "add", "--branch", "old", "../a place")
        check.equal((old["path"], old["branch"], old["target"]), (str(repo.dir / "a place"), "old", ""))
        new = repo.reply("worktree", "add", "--branch", "feature/new")
        check.equal((new["branch"], new["target"]), ("feature/new", "main"))
        repo.refusal(64, "worktree", "add")
        repo.refusal(64, "worktree", "add", "42", "x", "--branch", "b")
        repo.refusal(64, "worktree", "add", "--branch", "a..b")
        repo.refusal(64, "worktree", "add", "lock:x")
        repo.refusal(8, "worktree", "add", "44", str(repo.dir / "a place"))
        check.contains(repo.refusal(8, "worktree", "add", "--branch", "main")["message"], "main")


@case
def add_goes_by_the_settings():
    with Repo(commit=True) as repo:
        repo.git("branch", "develop", cwd=repo.root)
        repo.commit()
        repo.reply("config", "set", "landing.target", "develop")
        repo.reply("config", "set", "worktree.directory", "../ö trees")
        made = repo.reply("worktree", "add", "42")
        check.equal((made["path"], made["target"]), (str(repo.dir / "ö trees/42"), "develop"))
        check.equal(made["commit"], repo.git("rev-parse", "develop", cwd=repo.root))
        repo.reply("config", "set", "landing.target", "nowhere")
        check.contains(repo.refusal(8, "worktree", "add", "43")["hint"], "landing.target")
        repo.refusal(64, "config", "set", "worktree.directory", 'a"b')
        repo.reply("config", "set", "landing.target", "")
        check.equal(repo.reply("worktree", "add", "43")["target"], "main")


@case
def add_in_a_repository_without_a_commit_says_what_to_do():
    with Repo() as repo:
        check.contains(repo.refusal(8, "worktree", "add", "42")["message"], "no commit")


@case
def the_users_hooks_do_not_run():
    with Repo(commit=True) as repo:
        hook = repo.root / ".git/hooks/post-checkout"
        write(hook, f"#!/bin/sh\ntouch {repo.dir}/ran\n", 0o755)
        made = repo.reply("worktree", "add", "42")
        write(repo.dir / "repo.worktrees/42/x", "x")
        repo.reply("worktree", "remove", made["path"])
        check.true(not (repo.dir / "ran").exists(), "the hook ran")


def twenty_at_once(prepare=None):
    with Repo(commit=True) as repo:
        if prepare:
            prepare(repo)
        with ThreadPoolExecutor(20) as pool:
            replies = list(pool.map(lambda n: repo.run("worktree", "add", f"item-{n}", "--json"), range(20)))
        check.equal([reply.code for reply in replies], [0] * 20, "\n".join(map(str, replies)))
        check.equal(len({reply.json()["worktree_id"] for reply in replies}), 20)
        check.equal(repo.reply("worktree", "list")["count"], 21)
        with ThreadPoolExecutor(20) as pool:
            gone = list(pool.map(lambda r: repo.run("worktree", "remove", r.json()["path"], "--json"), replies))
        check.equal([reply.code for reply in gone], [0] * 20, "\n".join(map(str, gone)))
        check.equal(repo.reply("worktree", "list")["count"], 1)


add_case("twenty at once all succeed", twenty_at_once)
add_case("twenty at once all succeed where branches track by default",
         lambda: twenty_at_once(lambda repo: repo.git("config", "branch.autoSetupMerge", "always", cwd=repo.root)))


@case
def twenty_at_once_start_from_the_fresh_remote_branch():
    with Repo(commit=True, init=False) as repo:
        remote, other = repo.dir / "remote.git", repo.dir / "other"
        repo.git("clone", "-q", "--bare", repo.root, remote)
        repo.git("remote", "add", "origin", remote, cwd=repo.root)
        repo.reply("init", "--store", "git")
        repo.git("clone", "-q", remote, other)
        repo.git("commit", "-q", "--allow-empty", "-m", "news", cwd=other)
        repo.git("push", "-q", "origin", "main", cwd=other)
        with ThreadPoolExecutor(20) as pool:
            replies = list(pool.map(lambda n: repo.run("worktree", "add", f"item-{n}", "--json"), range(20)))
        check.equal([reply.code for reply in replies], [0] * 20, "\n".join(map(str, replies)))
        fresh = repo.git("rev-parse", "HEAD", cwd=other)
        check.equal({reply.json()["commit"] for reply in replies}, {fresh})
        shutil.rmtree(remote)
        repo.refusal(11, "worktree", "add", "late")


@case
def nothing_is_kept_when_there_is_nothing_to_keep():
    with Repo(commit=True) as repo:
        start_files(repo)
        tree = repo.worktree("side")
        write(tree / "ignored.o", "ignored\n")
        write(tree / "work", "committed, and on a branch that stays\n")
        commit_all(repo, tree)
        removed = repo.reply("worktree", "remove", str(tree))
        check.equal((removed["rescue"], removed["branch"]), (None, "side"))
        check.equal(rescues(repo), [])
        check.equal(repo.git("for-each-ref", "refs/dibs", cwd=repo.root), "")
        check.equal(repo.git("log", "-1", "--format=%s", "side", cwd=repo.root), "work")


@case
def every_kind_of_change_comes_back():
    with Repo(commit=True) as repo:
        start_files(repo)
        tree = repo.worktree("side")
        make_a_mess(repo, tree)
        (tree / "ignored.o").unlink()
        kept = there_and_back(repo, tree)
        check.equal((kept["branch"], kept["agent_id"]), ("side", "agent:one"))
        check.true(kept["tracked"] >= 6 and kept["untracked"] >= 5, str(kept))
        text = repo.run("worktree", "rescue", "list").expect(0).out
        check.contains(text, kept["name"])
        repo.reply("worktree", "rescue", "drop", kept["name"])
        check.equal(rescues(repo), [])
        repo.refusal(4, "worktree", "rescue", "restore", kept["name"])
        repo.refusal(4, "worktree", "rescue", "drop", kept["name"])


@case
def a_snapshot_reads_like_a_stash():
    with Repo(commit=True) as repo:
        start_files(repo)
        tree = repo.worktree("side")
        write(tree / "changed", "by hand\n")
        write(tree / "new", "new\n")
        kept = repo.reply("worktree", "remove", str(tree))["rescue"]
        repo.git("stash", "apply", "-q", kept["commit"], cwd=repo.root)
        check.equal(((repo.root / "changed").read_text(), (repo.root / "new").read_text()), ("by hand\n", "new\n"))


@case
def removing_says_what_was_kept_and_how_to_get_it_back():
    with Repo(commit=True) as repo:
        made = repo.reply("worktree", "add", "42")
        write(repo.dir / "repo.worktrees/42/new", "new\n")
        text = repo.run("worktree", "remove", made["path"]).expect(0).out
        check.contains(text, "kept (0 changed, 1 new)")
        command = text.split("bring it back: dibs ")[1].strip()
        check.contains(command, "worktree rescue restore 42/")
        repo.run(*command.split()).expect(0)
        check.equal((repo.dir / "repo.worktrees/42/new").read_text(), "new\n")
        check.equal(repo.git("rev-parse", "--abbrev-ref", "HEAD", cwd=made["path"]), "dibs/42")


@case
def commits_on_no_branch_are_kept():
    with Repo(commit=True) as repo:
        tree = repo.dir / "loose"
        repo.git("worktree", "add", "-q", "--detach", tree, cwd=repo.root)
        write(tree / "file", "x")
        commit_all(repo, tree, "on no branch")
        head = repo.git("rev-parse", "HEAD", cwd=tree)
        kept = there_and_back(repo, tree)
        check.equal((kept["branch"], kept["head"]), ("", head))
        check.equal(repo.git("rev-parse", "HEAD", cwd=tree), head)
        check.equal(repo.run("worktree", "info", "--json", cwd=tree).expect(0).json()["branch"], "", "detached as it was")
        write(tree / "file", "and dirty")
        repo.reply("worktree", "rescue", "drop", kept["name"])
        there_and_back(repo, tree)


@case
def contents_stay_as_they_are_whatever_filters_would_do():
    with Repo(commit=True) as repo:
        root = repo.root
        write(root / ".gitattributes", "* text=auto\n*.enc working-tree-encoding=UTF-16\n*.id ident\n"
                                       "*.up filter=upper\n*.crlf text eol=crlf\n")
        repo.git("config", "filter.upper.clean", "tr a-z A-Z", cwd=root)
        repo.git("config", "filter.upper.smudge", "tr A-Z a-z", cwd=root)
        repo.git("config", "filter.upper.required", "true", cwd=root)
        for name in ("mixed.txt", "same.txt", "a.crlf", "b.crlf"):
            write(root / name, "one\ntwo\n")
        write(root / "words.up", "words\n")
        write(root / "mixed.up", "same\n")
        write(root / "text.enc", "text\n".encode("utf-16"))
        write(root / "text.id", "$Id$\n")
        commit_all(repo, root)
        tree = repo.worktree("side")
        write(tree / "mixed.txt", b"one\r\ntwo\nthree\r\n")
        write(tree / "same.txt", b"one\r\ntwo\n")  # the same to git, which would give back other bytes
        repo.git("add", "same.txt", cwd=tree)
        write(tree / "a.crlf", b"one\ntwo\r\n")
        write(tree / "new.txt", b"a\r\nb\nc\r")
        write(tree / "new.up", "MiXed\n")
        write(tree / "words.up", "Changed Words\n")
        write(tree / "mixed.up", "SaMe\n")
        write(tree / "text.enc", "andérs\r\n".encode("utf-16"))
        write(tree / "new.enc", b"\xff\xfea\x00\n")  # half a character
        write(tree / "text.id", "$Id: something else $\nmore\n")
        # git calls a file changed whose size differs, until it has seen that it is the same once filtered.
        there_and_back(repo, tree, overlooked="M a.crlf\n ")


@case
def autocrlf_changes_nothing():
    with Repo(commit=True) as repo:
        repo.git("config", "core.autocrlf", "true", cwd=repo.root)
        write(repo.root / "file", "one\r\ntwo\r\n")
        commit_all(repo, repo.root)
        tree = repo.worktree("side")
        write(tree / "new", b"one\ntwo\r\n")
        write(tree / "file", b"one\r\ntwo\nthree\r\n")
        there_and_back(repo, tree)


@case
def a_sparse_checkout_stays_sparse():
    for cone in ("--cone", "--no-cone"):
        with Repo(commit=True) as repo:
            start_files(repo)
            for folder in ("a", "b", "c"):
                write(repo.root / folder / "file", f"{folder}\n")
            commit_all(repo, repo.root)
            tree = repo.worktree("side")
            repo.git("sparse-checkout", "set", cone, "a", cwd=tree)
            check.true(not (tree / "b").exists(), "sparse")
            write(tree / "a/file", "changed\n")
            write(tree / "a/new", "new\n")
            write(tree / "b/new", "outside of the cone\n")
            there_and_back(repo, tree)
            check.equal(repo.git("sparse-checkout", "list", cwd=tree), "a")
            check.true((repo.root / "b/file").exists(), "the main worktree is not touched")


@case
def files_that_git_was_told_to_overlook_are_kept():
    with Repo(commit=True) as repo:
        start_files(repo)
        tree = repo.worktree("side")
        repo.git("update-index", "--assume-unchanged", "changed", cwd=tree)
        repo.git("update-index", "--skip-worktree", "staged", cwd=tree)
        check.equal(repo.reply("worktree", "remove", str(tree))["rescue"], None, "unchanged")
        repo.git("worktree", "add", "-q", tree, "side", cwd=repo.root)
        repo.git("update-index", "--assume-unchanged", "changed", cwd=tree)
        repo.git("update-index", "--skip-worktree", "staged", cwd=tree)
        write(tree / "changed", "local settings\n")
        write(tree / "staged", "more of them\n")
        there_and_back(repo, tree)


@case
def worktree_config_comes_back():
    with Repo(commit=True) as repo:
        repo.git("config", "extensions.worktreeConfig", "true", cwd=repo.root)
        tree = repo.worktree("side")
        repo.git("config", "--worktree", "user.name", "somebody else", cwd=tree)
        write(tree / "new", "new\n")
        there_and_back(repo, tree)
        check.equal(repo.git("config", "user.name", cwd=tree), "somebody else")


@case
def names_of_any_kind_come_back():
    with Repo(commit=True) as repo:
        write(repo.root / "with space", "x")
        commit_all(repo, repo.root)
        tree = repo.dir / "ein Wörktree ☃"
        repo.git("worktree", "add", "-q", "-b", "zweig-ü", tree, cwd=repo.root)
        write(tree / "with space", "changed")
        for name in (b"new\nline", b"tab\there", "größe".encode(), b"latin-\xe9", b"-dash", b"quote\"'", b"back\\slash",
                     b" lead", b"*star[x]", b":colon"):
            with open(os.path.join(os.fsencode(tree), name), "wb") as file:
                file.write(name)
        there_and_back(repo, tree)


def sha256_repository():
    repo = Repo(init=False)
    shutil.rmtree(repo.root)
    repo.git("init", "-q", "-b", "main", "--object-format=sha256", repo.root)
    repo.commit()
    repo.run("init").expect(0)
    return repo


@case
def a_sha256_repository_works():
    with sha256_repository() as repo:
        start_files(repo)
        tree = repo.worktree("side")
        make_a_mess(repo, tree)
        (tree / "ignored.o").unlink()
        check.equal(len(there_and_back(repo, tree)["commit"]), 64)


def library_in(repo):
    """A repository to be a submodule, and one that has it at libs/one."""
    library = repo.dir / "library"
    repo.git("init", "-q", "-b", "main", library)
    write(library / "code", "code\n")
    commit_all(repo, library)
    repo.git("config", "protocol.file.allow", "always", cwd=repo.root)
    allow = ("-c", "protocol.file.allow=always")
    repo.git(*allow, "submodule", "add", "-q", library, "libs/one", cwd=repo.root)
    commit_all(repo, repo.root, "with a submodule")
    tree = repo.worktree("side")
    repo.git(*allow, "submodule", "update", "-q", "--init", "--recursive", cwd=tree)
    return tree, tree / "libs/one"


@case
def a_clean_submodule_is_no_obstacle():
    with Repo(commit=True) as repo:
        tree, _ = library_in(repo)
        check.equal(repo.reply("worktree", "remove", str(tree))["rescue"], None)
        check.true(not tree.exists())


@case
def files_where_a_submodule_should_be_are_not_lost():
    with Repo(commit=True) as repo:
        tree, sub = library_in(repo)
        repo.git("submodule", "deinit", "-q", "-f", "libs/one", cwd=tree)
        write(sub / "notes", "x")
        check.equal(status_of(repo, tree), "", "git sees nothing")
        check.contains(repo.refusal(8, "worktree", "remove", str(tree))["hint"], "mv ")
        (sub / "notes").unlink()
        repo.reply("worktree", "remove", str(tree))


@case
def work_in_a_submodule_is_kept():
    with Repo(commit=True) as repo:
        tree, sub = library_in(repo)
        write(sub / "code", "changed\n")
        write(sub / "new", b"new\r\n")
        write(sub / "staged", "staged\n")
        repo.git("add", "staged", cwd=sub)
        inner = status_of(repo, sub)
        kept = there_and_back(repo, tree)
        check.equal(kept["submodules"], ["libs/one"])
        check.equal(status_of(repo, sub), inner, "status in the submodule")
        check.equal(repo.git("config", "remote.origin.url", cwd=sub), str(repo.dir / "library"))
        repo.git("-c", "protocol.file.allow=always", "fetch", "-q", "origin", cwd=sub)
        repo.git("fsck", cwd=sub)
        repo.reply("worktree", "rescue", "drop", kept["name"])
        there_and_back(repo, tree)


@case
def commits_in_a_submodule_are_kept():
    with Repo(commit=True) as repo:
        tree, sub = library_in(repo)
        repo.git("checkout", "-q", "-b", "topic", cwd=sub)
        write(sub / "code", "committed\n")
        commit_all(repo, sub, "not pushed")
        topic = repo.git("rev-parse", "HEAD", cwd=sub)
        write(sub / "code", "stashed\n")
        repo.git("stash", "-q", cwd=sub)
        repo.git("checkout", "-q", "--detach", "origin/main", cwd=sub)
        check.equal(status_of(repo, tree), "", "all looks clean from outside")
        there_and_back(repo, tree)
        check.equal(repo.git("rev-parse", "topic", cwd=sub), topic)
        check.contains(repo.git("stash", "show", "-p", "refs/stash", cwd=sub), "+stashed")


@case
def a_conflict_that_is_not_resolved_comes_back():
    with Repo(commit=True) as repo:
        start_files(repo)
        tree = repo.worktree("side")
        write(tree / "changed", "mine\n")
        repo.git("rm", "-q", "deleted", cwd=tree)
        commit_all(repo, tree)
        write(repo.root / "changed", "theirs\n")
        write(repo.root / "deleted", "changed, not deleted\n")
        commit_all(repo, repo.root)
        merge = subprocess.run(["git", "merge", "-q", "main"], cwd=tree, env=repo.env, capture_output=True)
        check.true(merge.returncode != 0, "a conflict")
        there_and_back(repo, tree)
        check.equal(repo.git("rev-parse", "MERGE_HEAD", cwd=tree), repo.git("rev-parse", "main", cwd=tree))


@case
def an_intent_to_add_loses_nothing():
    with Repo(commit=True) as repo:
        tree = repo.worktree("side")
        write(tree / "wanted", "only the intent\n")
        repo.git("add", "-N", "wanted", cwd=tree)
        files = files_below(tree)
        kept = repo.reply("worktree", "remove", str(tree))["rescue"]
        repo.git("fsck", "--strict", cwd=repo.root)
        repo.reply("worktree", "rescue", "restore", kept["name"])
        check.equal(files_below(tree), files)


@case
def a_branch_without_a_commit_works():
    with Repo(commit=True) as repo:
        tree = repo.worktree("side")
        repo.git("checkout", "-q", "--orphan", "fresh", cwd=tree)
        write(tree / "new", "new\n")
        there_and_back(repo, tree)
        check.equal(repo.git("symbolic-ref", "HEAD", cwd=tree), "refs/heads/fresh")


@case
def a_repository_inside_is_not_destroyed():
    with Repo(commit=True) as repo:
        tree = repo.worktree("side")
        repo.git("init", "-q", tree / "inner")
        write(tree / "inner/file", "x")
        for _ in range(2):
            error = repo.refusal(8, "worktree", "remove", str(tree))
            check.contains(error["message"], "inner is a git repository of its own")
            check.contains(error["hint"], "mv ")
            check.true((tree / "inner/file").exists())
            repo.git("add", "-A", cwd=tree / "inner")
            repo.git("commit", "-q", "--allow-empty", "-m", "x", cwd=tree / "inner")
        write(repo.root / ".git/info/exclude", "nested\n")
        shutil.rmtree(tree / "inner")
        repo.git("worktree", "add", "-q", tree / "nested", cwd=repo.root)
        check.contains(repo.refusal(8, "worktree", "remove", str(tree))["hint"], "worktree remove")


@case
def it_is_refused_while_a_lease_lives_there():
    with Repo(commit=True) as repo:
        tree = repo.worktree("side")
        repo.acquire("42", cwd=tree)
        error = repo.refusal(8, "worktree", "remove", str(tree))
        check.equal((error["resource"], error["holder"]), ("item:42", "agent:one"))
        check.contains(error["hint"], "claim release item:42")
        check.true(tree.exists())
        repo.run(*error["hint"].split("dibs ")[1].split()).expect(0)
        repo.reply("worktree", "remove", str(tree))


@case
def a_lease_that_has_ended_is_no_obstacle():
    with Repo(commit=True) as repo:
        tree = repo.worktree("side")
        repo.acquire("42", "--ttl", "1", cwd=tree)
        time.sleep(1.2)
        repo.reply("worktree", "remove", str(tree))


@case
def the_main_worktree_stays():
    with Repo(commit=True) as repo:
        tree = repo.worktree("side")
        write(repo.root / "new", "x")
        for start in (repo.root, tree):
            check.contains(repo.refusal(8, "worktree", "remove", str(repo.root), cwd=start)["message"], "main worktree")
        check.equal((repo.root / "new").read_text(), "x")
        repo.refusal(4, "worktree", "remove", str(repo.dir))
        repo.refusal(4, "worktree", "remove", "nowhere")


@case
def a_locked_worktree_stays_and_says_why():
    with Repo(commit=True) as repo:
        tree = repo.worktree("side")
        repo.git("worktree", "lock", "--reason", "on a stick", tree, cwd=repo.root)
        error = repo.refusal(8, "worktree", "remove", str(tree))
        check.contains(error["message"], "on a stick")
        check.contains(error["hint"], "git worktree unlock")
        repo.git("worktree", "unlock", tree, cwd=repo.root)
        repo.reply("worktree", "remove", str(tree))


@case
def a_worktree_whose_directory_is_gone_is_forgotten_but_not_its_commits():
    with Repo(commit=True) as repo:
        tree = repo.dir / "loose"
        repo.git("worktree", "add", "-q", "--detach", tree, cwd=repo.root)
        write(tree / "file", "x")
        commit_all(repo, tree)
        head = repo.git("rev-parse", "HEAD", cwd=tree)
        shutil.rmtree(tree)
        kept = repo.reply("worktree", "remove", str(tree))["rescue"]
        check.equal(kept["head"], head)
        check.absent(repo.git("worktree", "list", cwd=repo.root), "loose")
        repo.reply("worktree", "rescue", "restore", kept["name"])
        check.equal((tree / "file").read_text(), "x")


@case
def it_comes_back_beside_what_is_there_now():
    with Repo(commit=True) as repo:
        start_files(repo)
        tree = repo.worktree("side")
        write(tree / "changed", "mine\n")
        kept = repo.reply("worktree", "remove", str(tree))["rescue"]
        repo.git("worktree", "add", "-q", tree, "side", cwd=repo.root)
        repo.refusal(8, "worktree", "rescue", "restore", kept["name"])
        ulid = kept["name"].split("/")[1]
        first = repo.reply("worktree", "rescue", "restore", ulid, str(repo.dir / "one"))
        second = repo.reply("worktree", "rescue", "restore", ulid, "../two")
        check.equal((first["branch"], second["branch"]), ("side-rescued", "side-rescued-2"))
        check.equal((second["path"], (repo.dir / "two/changed").read_text()), (str(repo.dir / "two"), "mine\n"))


@case
def what_has_no_contents_is_no_obstacle():
    with Repo(commit=True) as repo:
        tree = repo.worktree("side")
        os.mkfifo(tree / "pipe")
        write(tree / "new", "x")
        check.equal(repo.reply("worktree", "remove", str(tree))["rescue"]["untracked"], 1)


@case
def what_cannot_be_read_is_not_removed():
    with Repo(commit=True) as repo:
        tree = repo.worktree("side")
        write(tree / "new", "x")
        objects = repo.root / ".git/objects"
        shutil.move(objects, repo.dir / "objects")
        check.true(repo.run("worktree", "remove", str(tree)).code != 0)
        shutil.move(repo.dir / "objects", objects)
        check.equal((tree / "new").read_text(), "x")


@case
def it_works_in_a_bare_repository():
    with Repo(commit=True) as repo:
        start_files(repo)
        bare = repo.dir / "bare.git"
        repo.git("clone", "-q", "--bare", repo.root, bare)
        repo.reply("init", cwd=bare)
        made = repo.reply("worktree", "add", "42", cwd=bare)
        check.equal(made["path"], str(repo.dir / "bare.worktrees/42"))
        write(repo.dir / "bare.worktrees/42/changed", "x")
        kept = repo.reply("worktree", "remove", made["path"], cwd=bare)["rescue"]
        repo.reply("worktree", "rescue", "restore", kept["name"], cwd=bare)
        check.equal((repo.dir / "bare.worktrees/42/changed").read_text(), "x")


if __name__ == "__main__":
    main()
