"""Setting up: init in every kind of repository, worktrees and their names, who may read what, and symbolic links."""

import json
import os
import re
import shutil
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor

from fuse_mount import FuseMount
from harness import DIBS, Repo, Scratch, Skip, add_case, case, check, main, needs_root


def modes_below(directory):
    """Relative path → permission bits, for everything in the store."""
    found = {".": stat.S_IMODE(os.lstat(directory).st_mode)}
    for folder, names, files in os.walk(directory):
        for name in names + files:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, directory)] = stat.S_IMODE(os.lstat(path).st_mode)
    return found


def use_everything(repo, **more):
    """Makes every kind of file that the store ever has."""
    repo.run("init", **more).expect(0)
    repo.run("claim", "acquire", "42", **more).expect(0)
    repo.run("claim", "heartbeat", **more).expect(0)
    repo.run("config", "set", "coordination.default_ttl_secs", "900", **more).expect(0)
    repo.run("claim", "release", "42", **more).expect(0)
    repo.run("claim", "heartbeat", "--daemon", "--every", "1", **more).expect(0)  # ends at once: nothing is held
    repo.run("recover", **more).expect(0)


def check_modes(repo, directory_mode, file_mode):
    wrong = []
    for name, mode in modes_below(repo.store).items():
        wanted = directory_mode if (repo.store / name).is_dir() else file_mode
        if mode != wanted:
            wrong.append(f"{name} has {mode:o}, wanted {wanted:o}")
    check.true(not wrong, "in .git/dibs: " + "; ".join(wrong))


@case
def init_makes_the_store_and_is_safe_to_repeat():
    with Repo(init=False) as repo:
        first = repo.reply("init")
        check.equal((first["directory"], first["store"], first["already"]), (str(repo.store), "local", False))
        repo.acquire("42")
        before = repo.log_bytes()
        check.true(repo.reply("init")["already"])
        check.equal(repo.log_bytes(), before)
        check.equal(repo.holder("42"), "agent:one")
        check.contains(repo.run("init").expect(0).out, "already set up")
        repo.git("status", "--porcelain", cwd=repo.root)
        check.equal(repo.git("status", "--porcelain", cwd=repo.root), "", "nothing in the work tree")


@case
def many_inits_at_once_all_succeed():
    with Repo(init=False) as repo:
        with ThreadPoolExecutor(8) as pool:
            codes = list(pool.map(lambda n: (repo.run("init").code, repo.run("claim", "acquire", str(n)).code),
                                  range(8)))
        check.equal(codes, [(0, 0)] * 8)
        check.equal(len(repo.log()), 8)


@case
def init_tells_what_to_type_next():
    with Repo(init=False) as repo:
        out = repo.run("init").expect(0).out
        commands = [line.split("next:")[-1].strip() for line in out.splitlines()[1:]]
        script = "\n".join(commands).replace("dibs ", f'"{DIBS}" ')
        done = subprocess.run(["bash", "-ec", script], cwd=repo.root, env=repo.environment(env={"DIBS_AGENT_ID": None}),
                              capture_output=True)
        check.equal(done.returncode, 0, done.stderr.decode())


@case
def outside_a_repository_is_exit_10_with_the_fix():
    with Scratch() as scratch:
        for words in (["init"], ["claim", "acquire", "42"], ["claim", "status", "42"], ["claim", "list"], ["events"],
                      ["metrics"], ["recover"],
                      ["worktree", "info"], ["config", "list"]):
            reply = scratch.run(*words, "--json").expect(10)
            error = reply.error()
            check.equal(error["code"], "not_set_up")
            check.contains(error["message"], "not in a git repository")
            check.contains(error["hint"], "git init")


@case
def before_init_is_exit_10_with_dibs_init():
    with Repo(init=False) as repo:
        for words in (["claim", "acquire", "42"], ["claim", "status", "42"], ["claim", "list"],
                      ["claim", "release", "42"], ["events"],
                      ["metrics"], ["recover"], ["claim", "heartbeat"], ["claim", "cleanup"]):
            error = repo.refusal(10, *words)
            check.contains(error["hint"], "dibs init")
            check.true(not repo.store.exists(), f"`dibs {' '.join(words)}` made .git/dibs")


@case
def without_an_identity_the_line_to_type_is_given():
    with Repo() as repo:
        error = repo.refusal(64, "claim", "acquire", "42", env={"DIBS_AGENT_ID": None})
        check.contains(error["hint"], "export DIBS_AGENT_ID=")
        check.equal(repo.log_bytes(), b"")


@case
def identity_comes_from_flag_then_environment_then_file():
    with Repo() as repo:
        folder = repo.home / ".config/dibs"
        folder.mkdir(parents=True)
        (folder / "agent.toml").write_text('[agent]\nid = "human:file"\n')
        nobody = {"DIBS_AGENT_ID": None}
        check.equal(repo.acquire("1", env=nobody)["agent_id"], "human:file")
        check.equal(repo.acquire("2")["agent_id"], "agent:one")
        check.equal(repo.acquire("3", "--agent-id", "ci:flag")["agent_id"], "ci:flag")
        check.equal(repo.acquire("4", env=nobody | {"XDG_CONFIG_HOME": None})["agent_id"], "human:file")
        for text in ("[agent]\nid = 7\n", '[agent\nid = "x:y"\n'):
            (folder / "agent.toml").write_text(text)
            error = repo.refusal(64, "claim", "acquire", "5", env=nobody)
            check.true(re.search(r"agent\.toml:\d", error["message"]), f"names file and line: {error}")
        (folder / "agent.toml").write_text('[agent]\nid = "no colon"\n')
        check.contains(repo.refusal(64, "claim", "acquire", "5", env=nobody)["message"], "no colon")
        (folder / "agent.toml").write_text("")
        repo.refusal(64, "claim", "acquire", "5", env=nobody)


@case
def a_bare_repository_works():
    with Repo(init=False) as repo:
        bare = repo.dir / "bare.git"
        repo.git("init", "-q", "--bare", bare)
        check.equal(repo.reply("init", cwd=bare)["directory"], str(bare / "dibs"))
        repo.acquire("42", cwd=bare)
        repo.refusal(3, "claim", "acquire", "42", cwd=bare, agent="agent:two")
        repo.refusal(3, "claim", "acquire", "42", cwd=bare / "refs", agent="agent:two")
        repo.reply("doctor", cwd=bare)


@case
def worktrees_of_a_bare_repository_share_its_store():
    with Repo(init=False, commit=True) as repo:
        bare = repo.dir / "bare.git"
        repo.git("clone", "-q", "--bare", repo.root, bare)
        repo.git("worktree", "add", "-q", repo.dir / "a", "-b", "a", cwd=bare)
        repo.reply("init", cwd=repo.dir / "a")
        repo.acquire("42", cwd=repo.dir / "a")
        check.equal(repo.holder("42", cwd=bare), "agent:one")


@case
def a_submodule_has_a_store_of_its_own():
    with Repo(commit=True) as repo:
        inner = Repo(init=False, commit=True)
        with inner:
            repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.root, "sub", cwd=repo.root)
        sub = repo.root / "sub"
        check.contains(repo.refusal(10, "claim", "acquire", "42", cwd=sub)["hint"], "dibs init")
        check.equal(repo.reply("init", cwd=sub)["directory"], str(repo.root / ".git/modules/sub/dibs"))
        repo.acquire("42")
        repo.acquire("42", cwd=sub, agent="agent:two")
        check.equal(repo.holder("42"), "agent:one")


@case
def a_separate_git_dir_works():
    with Repo(init=False) as repo:
        work, git_dir = repo.dir / "work", repo.dir / "elsewhere/git"
        git_dir.parent.mkdir()
        repo.git("init", "-q", "--separate-git-dir", git_dir, work)
        check.equal(repo.reply("init", cwd=work)["directory"], str(git_dir / "dibs"))
        (work / "deep/er").mkdir(parents=True)
        repo.acquire("42", cwd=work / "deep/er")
        check.equal([tree["root"] for tree in repo.reply("worktree", "list", cwd=work)["worktrees"]], [str(work)])


@case
def dash_C_works_from_anywhere():
    with Repo() as repo:
        repo.reply("claim", "acquire", "42", "-C", str(repo.root), cwd=repo.dir)
        check.equal(repo.reply("claim", "status", "42", "-C", "repo", cwd=repo.dir)["is_locked"], True)
        repo.refusal(64, "claim", "status", "42", "-C", "nowhere", cwd=repo.dir)


@case
def an_inherited_GIT_DIR_does_not_redirect_the_store():
    with Repo() as repo:
        other = Repo()
        with other:
            repo.acquire("42", env={"GIT_DIR": str(other.root / ".git"), "GIT_WORK_TREE": str(other.root)})
            check.equal(other.holder("42"), None)
        check.equal(repo.holder("42"), "agent:one")


@case
def files_are_private_whatever_the_umask():
    for mask in (0o000, 0o022, 0o077):
        with Repo(init=False) as repo:
            use_everything(repo, umask=mask)
            check_modes(repo, 0o700, 0o600)


@case
def a_group_repository_gives_the_group_access_whatever_the_umask():
    for mask in (0o022, 0o077):
        with Repo(init=False) as repo:
            repo.git("config", "core.sharedRepository", "group", cwd=repo.root)
            use_everything(repo, umask=mask)
            check_modes(repo, 0o2770, 0o660)


@case
def a_world_readable_repository_is_as_git_would_make_it():
    for value, directory_mode, file_mode in (("all", 0o2775, 0o664), ("0640", 0o2750, 0o640)):
        with Repo(init=False) as repo:
            repo.git("config", "core.sharedRepository", value, cwd=repo.root)
            use_everything(repo, umask=0o077)
            check_modes(repo, directory_mode, file_mode)


@case
def two_users_of_a_group_work_in_one_store():
    needs_root()
    with Repo(init=False) as repo:
        group, first, second = 54321, 54322, 54323
        program = shutil.copy(DIBS, repo.dir / "dibs")
        repo.git("config", "core.sharedRepository", "group", cwd=repo.root)
        os.chmod(repo.dir, 0o755)
        for folder, _, files in os.walk(repo.root):
            for path in [folder] + [os.path.join(folder, name) for name in files]:
                os.chown(path, first, group)
                os.chmod(path, os.stat(path).st_mode | (0o2770 if os.path.isdir(path) else 0o660))

        def act(user, agent, *words):
            done = subprocess.run([program, *words], cwd=repo.root, env=repo.environment(agent), user=user, group=group,
                                  extra_groups=[],
                                  umask=0o077, capture_output=True, text=True, timeout=60)
            return done.returncode, done.stderr

        steps = [(first, "init"), (first, "claim acquire 1"), (first, "claim heartbeat"),
                 (first, "config set coordination.default_ttl_secs 900"),
                 (second, "claim acquire 2"), (second, "claim heartbeat"),
                 (second, "config set coordination.default_ttl_secs 800"),
                 (second, "recover"), (second, "claim release 2"), (first, "claim renew 1"), (first, "recover"),
                 (first, "doctor"), (second, "doctor")]
        for user, words in steps:
            code, err = act(user, f"agent:u{user}", *words.split())
            check.equal(code, 0, f"`dibs {words}` as user {user}: {err}")
        check.equal(act(second, f"agent:u{second}", "claim", "acquire", "1")[0], 3)


def plant_link(name):
    """Puts a symbolic link in the place of `name`, uses dibs, and looks whether anything went through the link."""
    with Repo() as repo:
        outside, planted = repo.dir / "outside", repo.store / name
        if planted.is_dir():
            shutil.rmtree(planted)
            outside.mkdir()
        else:
            planted.unlink(missing_ok=True)
            outside.write_text("")
        planted.symlink_to(outside)
        for words in ("init", "claim acquire 42", "claim heartbeat", "config set coordination.max_retries 3",
                      "recover"):
            reply = repo.run(*words.split())
            check.true(reply.code == 0 or reply.err.startswith("error: "), str(reply))
            seen = [path.name for path in outside.iterdir()] if outside.is_dir() else outside.read_text()
            check.true(not seen, f"`dibs {words}` wrote through the link: {seen}")
        if name in ("claims.jsonl", "locks", "locks/claims.lock"):
            check.true(repo.run("claim", "acquire", "43").code in (1, 10, 11), "a claim went through the link")


for planted_name in ("claims.jsonl", "locks", "locks/claims.lock", "heartbeat", "config.toml", "claims.index.json",
                     "reserve", "counters"):
    add_case(f"a symbolic link at {planted_name} is not followed", lambda name=planted_name: plant_link(name))


@case
def the_store_itself_may_not_be_a_symbolic_link():
    with Repo(init=False) as repo:
        outside = repo.dir / "outside"
        outside.mkdir()
        repo.store.symlink_to(outside)
        for words in (["init"], ["claim", "acquire", "42"]):
            check.true(repo.run(*words).code != 0, f"{words} went through the link")
        check.equal(list(outside.iterdir()), [])


@case
def a_fuse_file_system_is_refused_without_the_override():
    needs_root()
    if not os.path.exists("/dev/fuse"):
        raise Skip("there is no /dev/fuse")
    with Repo() as repo:
        try:
            with FuseMount(repo.store, ["locks"]):
                error = repo.refusal(10, "claim", "acquire", "42")
                check.contains(error["message"], "fuse")
                check.contains(error["hint"], "DIBS_STORE_ALLOW_NETWORK_FILE_SYSTEM=true")
                report = json.loads(repo.run("doctor", "--json").expect(1).out)
                check.true(any("fuse" in finding["what"] for finding in report["findings"]), report)
                allowed = repo.run("claim", "status", "42", env={"DIBS_STORE_ALLOW_NETWORK_FILE_SYSTEM": "true"})
                check.absent(allowed.err, "cannot be trusted")
            with FuseMount(repo.root / ".git"):
                check.contains(repo.refusal(10, "init")["message"], "fuse")
        except OSError as error:
            raise Skip(f"a FUSE file system cannot be mounted here: {error}")
        repo.acquire("42")


@case
def worktree_info_list_and_init():
    with Repo(commit=True) as repo:
        tree = repo.worktree("side")
        check.equal(repo.reply("worktree", "info")["worktree_id"], None, "looking gives no name")
        made = repo.reply("worktree", "init")
        check.true(re.match(r"^wt:[0-9a-f]{8}$", made["worktree_id"]))
        check.equal((made["root"], made["branch"], made["main"], made["current"], made["held"]),
                    (str(repo.root), "main", True, True, []))
        check.equal(repo.reply("worktree", "init")["worktree_id"], made["worktree_id"])
        lease = repo.acquire("42", cwd=tree, agent="agent:two")
        listed = {entry["root"]: entry for entry in repo.reply("worktree", "list", cwd=tree)["worktrees"]}
        check.equal(set(listed), {str(repo.root), str(tree)})
        check.equal((listed[str(tree)]["held"], listed[str(tree)]["current"], listed[str(tree)]["main"]),
                    (["item:42"], True, False))
        check.equal(listed[str(tree)]["worktree_id"], lease["worktree_id"])
        check.equal(repo.git("status", "--porcelain", cwd=tree), "", "nothing in the work tree")
        check.true((repo.root / ".git/worktrees/side/dibs/worktree.json").exists(),
                   "in the worktree's private git directory")
        private = json.loads((repo.root / ".git/worktrees/side/dibs/worktree.json").read_text())
        check.has_fields(private, {"schema_version", "worktree_id", "branch", "root", "created_at"})
        text = repo.run("worktree", "list").expect(0).out
        check.contains(text, "holds item:42")


@case
def a_moved_worktree_keeps_its_name_and_says_so():
    with Repo(commit=True) as repo:
        tree = repo.worktree("side")
        lease = repo.acquire("42", cwd=tree)
        repo.git("worktree", "move", tree, repo.dir / "moved", cwd=repo.root)
        reply = repo.run("claim", "renew", "42", "--json", cwd=repo.dir / "moved").expect(0)
        check.equal(reply.json()["worktree_id"], lease["worktree_id"])
        check.equal(len([w for w in reply.warnings() if "moved" in w]), 1)
        info = repo.reply("worktree", "info", cwd=repo.dir / "moved")
        check.equal((info["worktree_id"], info["root"]), (lease["worktree_id"], str(repo.dir / "moved")))
        check.has_fields(info, {"relocated_at"})
        check.equal(repo.run("claim", "renew", "42", "--json", cwd=repo.dir / "moved").expect(0).err, "",
                    "it is said once")


@case
def a_moved_repository_keeps_its_leases():
    with Repo() as repo:
        lease = repo.acquire("42")
        moved = repo.dir / "moved"
        repo.root.rename(moved)
        again = repo.reply("claim", "acquire", "42", cwd=moved)
        check.equal((again["already_held"], again["lease_id"]), (True, lease["lease_id"]))


@case
def a_copied_repository_gets_a_new_name_and_the_original_keeps_its_own():
    with Repo() as repo:
        lease = repo.acquire("42")
        copy = repo.dir / "copy"
        shutil.copytree(repo.root, copy, symlinks=True)
        other = repo.reply("worktree", "init", cwd=copy)
        check.true(other["worktree_id"] != lease["worktree_id"], "the copy has a name of its own")
        check.equal(repo.reply("worktree", "info")["worktree_id"], lease["worktree_id"])
        check.equal(repo.reply("worktree", "init", cwd=copy)["worktree_id"], other["worktree_id"], "and keeps it")


@case
def a_copied_worktree_gets_a_new_name_and_cannot_pass_for_the_original():
    with Repo(commit=True) as repo:
        tree = repo.worktree("side")
        lease = repo.acquire("42", cwd=tree)
        copy = repo.dir / "copy"
        shutil.copytree(tree, copy, symlinks=True)
        repo.refusal(3, "claim", "acquire", "42", cwd=copy)
        repo.refusal(3, "claim", "release", "42", cwd=copy)
        check.true(repo.reply("worktree", "info", cwd=copy)["worktree_id"] != lease["worktree_id"])
        check.true(repo.reply("claim", "acquire", "42", cwd=tree)["already_held"])


@case
def a_worktree_made_again_under_the_same_path_is_another():
    with Repo(commit=True) as repo:
        tree = repo.worktree("side")
        lease = repo.acquire("42", cwd=tree)
        repo.git("worktree", "remove", "--force", tree, cwd=repo.root)
        repo.git("worktree", "add", "-q", tree, "side", cwd=repo.root)
        check.true(repo.reply("worktree", "init", cwd=tree)["worktree_id"] != lease["worktree_id"])
        repo.refusal(3, "claim", "acquire", "42", cwd=tree)


@case
def a_detached_head_and_an_unborn_branch_work():
    with Repo(commit=True) as repo:
        repo.git("checkout", "-q", "--detach", cwd=repo.root)
        check.equal(repo.acquire("42")["branch"], "")
        check.contains(repo.run("worktree", "info").expect(0).out, "detached")


if __name__ == "__main__":
    main()
