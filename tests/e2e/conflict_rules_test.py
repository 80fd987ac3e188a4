"""[[conflicts]]: what becomes of files that conflict when work lands; without a rule it goes back to the worker."""

from pathlib import Path

from harness import case, check, main
from landing_site import LocalSite, on_every_store

EXIT_REFUSED, EXIT_USAGE = 8, 64

JOIN = 'cat $DIBS_OURS $DIBS_THEIRS | sort -u > $DIBS_RESULT'


def configure(site, text):
    with open(site.root / ".git/dibs/config.toml", "a", encoding="utf-8") as file:
        file.write(text)


def rule(paths, strategy, resolver=None):
    return (f"[[conflicts]]\npaths = {paths!r}\nstrategy = '{strategy}'\n"
            + (f"resolver = '{resolver}'\n" if resolver else ""))


def resolver(command, name="join", **members):
    return f"[resolvers.{name}]\ncommand = '''{command}'''\n" + "".join(f"{key} = {value}\n" for key, value in members.items())


def conflicting(site, files=("lines",), item="42"):
    """Work and target have changed the first line of the same files; each has a file of its own, too."""
    made = site.start(item)
    for name in files:
        old = (Path(made["path"]) / name).read_text() if (Path(made["path"]) / name).exists() else "x\n"
        site.write(Path(made["path"]) / name, "work\n" + old)
        site.move_target(name, "target\n" + old)
    site.work(made)
    site.move_target("news", "news\n")
    return made


@on_every_store
def one_sides_version_is_taken(site):
    configure(site, rule(["README"], "theirs") + rule(["l*"], "ours"))
    made = conflicting(site, ("lines", "README"))
    landed = site.reply("done", cwd=made["path"])
    check.equal(site.file_on_target("lines").splitlines()[:2], ["work", "line 0"])
    check.equal(site.file_on_target("README").splitlines(), ["target", "read me"])
    check.true({"work", "news"} <= site.files_on_target(), "the rest is merged")
    check.equal(site.trailers(landed["landed_commit"])["Dibs-Resolved"], "README (theirs), lines (ours)")
    check.equal(landed["notes"][0], "a conflict was resolved: README (theirs)")
    check.equal(len(site.on_target("log", "-1", "--format=%P", landed["landed_commit"]).split()), 2)


@case
def a_file_without_a_rule_leaves_all_of_it_to_the_worker():
    with LocalSite() as site:
        configure(site, rule(["lines"], "ours"))
        made = conflicting(site, ("lines", "README"))
        before = site.state(made["path"])
        error = site.refusal(EXIT_REFUSED, "done", cwd=made["path"])
        check.equal(sorted(error["conflicts"]), ["README", "lines"])
        configure(site, rule(["README"], "manual"))
        check.equal(sorted(site.refusal(EXIT_REFUSED, "done", cwd=made["path"])["conflicts"]), ["README", "lines"])
        check.equal(site.state(made["path"]), before, "nothing changed")


@case
def the_first_rule_that_fits_counts():
    with LocalSite() as site:
        configure(site, rule(["lines"], "theirs") + rule(["**"], "ours"))
        made = conflicting(site)
        site.reply("done", cwd=made["path"])
        check.equal(site.file_on_target("lines").splitlines()[0], "target")


@case
def it_works_for_squash_and_not_for_rebase():
    with LocalSite() as site:
        configure(site, rule(["**"], "ours"))
        made = conflicting(site)
        check.equal(site.refusal(EXIT_REFUSED, "done", "--mode", "rebase", cwd=made["path"])["conflicts"], ["lines"])
        landed = site.reply("done", "--mode", "squash", cwd=made["path"])
        check.equal(site.trailers(landed["landed_commit"])["Dibs-Resolved"], "lines (ours)")
        check.equal(len(site.on_target("log", "-1", "--format=%P", landed["landed_commit"]).split()), 1)


@case
def a_file_that_one_side_deleted_is_there_or_not_as_that_side_has_it():
    for strategy, there in (("ours", False), ("theirs", True)):
        with LocalSite() as site:
            configure(site, rule(["lines"], strategy))
            made = site.start("1")
            site.git("rm", "-q", "lines", cwd=made["path"])
            site.work(made)
            site.move_target("lines", "changed\n")
            site.reply("done", cwd=made["path"])
            check.equal("lines" in site.files_on_target(), there, strategy)


@on_every_store
def a_resolver_joins_both(site):
    out = site.dir / "out"
    configure(site, rule(["lines"], "auto", "join")
              + resolver(f"cat $DIBS_BASE > {out}; echo $DIBS_ITEM $DIBS_PATH >> {out}; {JOIN}"))
    made = conflicting(site)
    mode = site.git("ls-tree", "HEAD", "lines", cwd=made["path"]).split()[0]
    landed = site.reply("done", cwd=made["path"])
    lines = site.file_on_target("lines").splitlines()
    check.true("work" in lines and "target" in lines and len(lines) == 42, f"{lines}")
    check.equal(out.read_text().splitlines()[-1], "42 lines")
    check.equal(len(out.read_text().splitlines()), 41)
    check.equal(site.trailers(landed["landed_commit"])["Dibs-Resolved"], "lines (auto by join)")
    check.equal(site.on_target("ls-tree", "main", "lines").split()[0], mode)
    check.equal([path.name for path in Path(site.root / ".git/dibs").iterdir() if path.name.startswith("scratch")], [])


@case
def a_resolver_that_does_not_do_it_changes_nothing():
    for command, words, members in (("echo no idea; exit 4", "failed with exit code 4; it said last:\n    no idea", {}),
                                    ("true", "wrote nothing to $DIBS_RESULT", {}),
                                    ("printf '<<<<<<< ours\\n' > $DIBS_RESULT", "left conflict marks", {}),
                                    ("sleep 1000", "took longer than 1 s", {"timeout": 1})):
        with LocalSite() as site:
            configure(site, rule(["lines"], "auto", "join") + resolver(command, **members))
            made = conflicting(site)
            before = site.state(made["path"])
            error = site.refusal(EXIT_REFUSED, "done", cwd=made["path"])
            check.contains(error["message"], words)
            check.equal((error["conflicts"], error["resolver"]), (["lines"], "join"))
            after = site.state(made["path"])
            for one in (*before["leases"], *after["leases"]):
                one.pop("expires_at")
            check.equal(after, before, "nothing changed")


@case
def what_a_resolver_made_has_to_pass_the_gates():
    with LocalSite() as site:
        configure(site, rule(["lines"], "auto", "join") + resolver(JOIN) + '[gates.short]\ncommand = "test $(wc -l < lines) = 41"\n')
        made = conflicting(site)
        check.equal(site.refusal(EXIT_REFUSED, "done", cwd=made["path"])["gate"], "short")


@case
def a_committed_resolver_runs_only_when_trusted():
    with LocalSite() as site:
        trace = site.dir / "trace"
        site.move_target(".dibs/config.toml", rule(["lines"], "auto", "join") + resolver(f"touch {trace}; {JOIN}"))
        made = conflicting(site)
        check.equal(site.refusal(EXIT_REFUSED, "done", cwd=made["path"])["untrusted"], "join")
        check.true(not trace.exists(), "it did not run")
        site.reply("trust", "--yes")
        site.reply("done", cwd=made["path"])
        check.true(trace.exists(), "it ran")


@case
def other_conflicts_are_for_people():
    with LocalSite() as site:
        configure(site, rule(["**"], "ours"))
        made = site.start("1")
        site.work(made, "thing", "a file\n")
        site.move_target("thing/inside", "in a folder\n")
        check.true(site.refusal(EXIT_REFUSED, "done", cwd=made["path"])["conflicts"], "it is refused")
        made = site.start("2")
        site.git("mv", "lines", "of-work", cwd=made["path"])
        site.commit_all(made["path"])
        site.git("mv", "lines", "of-target", cwd=site.root)
        site.commit_all(site.root)
        check.true(site.refusal(EXIT_REFUSED, "done", cwd=made["path"])["conflicts"], "it is refused")


@case
def a_rule_that_names_no_resolver_there_is_says_so():
    with LocalSite() as site:
        configure(site, rule(["lines"], "auto", "nosuch"))
        made = conflicting(site)
        error = site.refusal(EXIT_USAGE, "done", cwd=made["path"])
        check.contains(error["message"], "there is no resolver nosuch")
        check.contains(error["message"], "config.toml:1")


if __name__ == "__main__":
    main()
