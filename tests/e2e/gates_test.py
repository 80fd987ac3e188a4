"""Gates: prechecks before a claim becomes work, postchecks on the merged result, and nothing lands past a required one."""

import os
import signal
import subprocess
from pathlib import Path

from gate_site import configure, gate, gate_trees
from harness import DIBS, case, check, main, wait_until
from landing_site import LocalSite, on_every_store

EXIT_LOST, EXIT_REFUSED, EXIT_USAGE = 5, 8, 64


def worktrees(site):
    return site.git("worktree", "list", "--porcelain", cwd=site.root).count("worktree ")


@on_every_store
def a_postcheck_sees_the_merged_result_in_a_tree_of_its_own(site):
    out = site.dir / "out"
    configure(site, gate("test", f"pwd > {out}; cat news work >> {out}; git rev-parse HEAD >> {out}; "
                                 f"echo $DIBS_ITEM $DIBS_BRANCH $DIBS_TARGET $DIBS_COMMIT $DIBS_GATE >> {out}; echo junk > junk"))
    made = site.start("42")
    head = site.work(made)
    site.move_target("news", "news\n")
    landed = site.reply("done", "--keep-worktree", cwd=made["path"])
    place, news, work, at, words = out.read_text().splitlines()
    check.true(place not in (made["path"], str(site.root)), f"it ran in {place}")
    commit = landed["landed_commit"]
    check.equal((news, work, at, words), ("news", "work", commit, f"42 dibs/42 main {commit} test"))
    check.equal(site.git("rev-parse", "HEAD", cwd=made["path"]), head)
    check.equal(site.git("status", "--porcelain", cwd=made["path"]), "")
    check.equal((gate_trees(site), worktrees(site)), ([], 2))
    check.equal(site.trailers(commit)["Dibs-Gates"], "test")
    check.equal(landed["notes"], [])


@on_every_store
def a_gate_that_fails_keeps_it_from_landing(site):
    configure(site, gate("test", "seq 1 30; echo it broke >&2; exit 3"))
    made = site.start("42")
    site.work(made)
    before = site.state(made["path"])
    error = site.refusal(EXIT_REFUSED, "done", cwd=made["path"])
    check.equal((error["gate"], error["exit_code"], error["timed_out"]), ("test", 3, False))
    check.contains(error["message"], "the gate test failed with exit code 3; it said last:\n    22\n")
    check.contains(error["message"], "it broke")
    check.equal(error["output"].splitlines()[0], "1")
    after = site.state(made["path"])
    for one in (*before["leases"], *after["leases"]):
        one.pop("expires_at")
    check.equal(after, before, "nothing changed")
    check.equal(gate_trees(site), [])
    [listed] = site.reply("gate", "list", "42")["gates"]
    check.equal((listed["last"]["outcome"], listed["last"]["exit_code"], listed["last"]["agent_id"]),
                ("failed", 3, "agent:one"))
    check.contains(site.run("gate", "list", "42", "--output").expect(0).out, "    it broke\n")
    landed = site.reply("done", "--no-gates", "--reason", "the test is wrong", cwd=made["path"])
    check.equal(site.trailers(landed["landed_commit"])["Dibs-Gates-Skipped"], "test (the test is wrong)")


@case
def two_changes_that_are_fine_alone_are_caught_together():
    with LocalSite() as site:
        configure(site, gate("both", "! { test -e one && test -e two; }"))
        one, two = site.start("1"), site.start("2")
        site.work(one, "one")
        site.work(two, "two")
        site.reply("done", cwd=one["path"])
        check.equal(site.refusal(EXIT_REFUSED, "done", cwd=two["path"])["gate"], "both")


@case
def all_gates_run_in_the_order_of_their_names_until_one_fails():
    with LocalSite() as site:
        out = site.dir / "out"
        for name, ending in (("c", "true"), ("a", "true"), ("b", "false")):
            configure(site, gate(name, f"echo {name} >> {out}; {ending}"))
        made = site.start("1")
        site.work(made)
        check.equal(site.refusal(EXIT_REFUSED, "done", cwd=made["path"])["gate"], "b")
        check.equal(out.read_text().split(), ["a", "b"])


@case
def one_that_is_not_required_is_a_note():
    with LocalSite() as site:
        configure(site, gate("style", "exit 1", required=False))
        made = site.start("1")
        site.work(made)
        landed = site.reply("done", cwd=made["path"])
        check.contains(landed["notes"][0], "the gate style failed with exit code 1, and is not required")
        made = site.start("2")
        site.work(made, "two")
        site.reply("done", "--no-gates", cwd=made["path"])


@case
def one_that_takes_too_long_is_killed_with_all_that_it_started():
    with LocalSite() as site:
        pids = site.dir / "pids"
        configure(site, gate("slow", f"trap 'echo asked to end' TERM; sleep 1000 & echo $! >> {pids}; echo $$ >> {pids}; "
                                     "while :; do sleep 0.1; done", timeout=1))
        made = site.start("1")
        site.work(made)
        error = site.refusal(EXIT_REFUSED, "done", cwd=made["path"])
        check.equal((error["gate"], error["timed_out"]), ("slow", True))
        check.contains(error["message"], "took longer than 1 s")
        check.contains(error["output"], "asked to end")
        for pid in pids.read_text().split():
            wait_until(lambda: not runs(pid), f"{pid} is gone")


def runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@on_every_store
def a_manual_gate_is_passed_for_the_work_that_was_looked_at(site):
    configure(site, "[gates.review]\nmanual = true\n")
    made = site.start("42")
    site.work(made)
    error = site.refusal(EXIT_REFUSED, "done", cwd=made["path"])
    check.equal(error["gate"], "review")
    check.contains(error["hint"], "dibs gate pass 42 review --reason")
    check.equal(site.refusal(EXIT_USAGE, "gate", "pass", "42", "review")["code"], "usage")
    passed = site.reply("gate", "pass", "42", "review", "--reason", "read it", agent="human:two")["result"]
    check.equal((passed["agent_id"], passed["reason"], passed["outcome"]), ("human:two", "read it", "passed"))
    site.work(made, "more", "more\n")
    check.contains(site.refusal(EXIT_REFUSED, "done", cwd=made["path"])["message"], "the work went on since")
    site.reply("gate", "pass", "42", "review", "--reason", "read it again", agent="human:two")
    landed = site.reply("done", cwd=made["path"])
    check.equal(site.trailers(landed["landed_commit"])["Dibs-Gates"], "review")
    check.equal(site.reply("gate", "list", "42")["gates"][0]["last"], None)


@case
def what_cannot_be_passed_says_so():
    with LocalSite() as site:
        configure(site, gate("test", "true") + "[gates.review]\nmanual = true\n")
        pass_it = ("--reason", "x")
        check.contains(site.refusal(4, "gate", "pass", "1", "nosuch", *pass_it)["hint"], "dibs gate list")
        check.contains(site.refusal(EXIT_REFUSED, "gate", "pass", "1", "test", *pass_it)["hint"], "dibs gate run 1 test")
        check.contains(site.refusal(EXIT_REFUSED, "gate", "pass", "1", "review", *pass_it)["message"], "nobody works on")
        check.equal(site.refusal(EXIT_REFUSED, "gate", "run", "1")["code"], "refused")
        check.equal(site.refusal(4, "gate", "run", "1", "nosuch")["code"], "not_found")


@on_every_store
def a_precheck_that_fails_leaves_nothing_begun(site):
    configure(site, gate("ready", f"echo $DIBS_ITEM >> {site.dir}/asked; echo left > behind; test $DIBS_ITEM != 1",
                         stage="precheck"))
    before = (site.branches(), worktrees(site))
    error = site.refusal(EXIT_REFUSED, "start", "1")
    check.equal((error["gate"], error["exit_code"]), ("ready", 1))
    check.equal((site.branches(), worktrees(site)), before)
    check.equal((site.reply("claim", "list")["leases"], site.rescues()), ([], []))
    made = site.start("2")
    check.equal((Path(made["path"]) / "behind").read_text(), "left\n")
    again = site.start("2")
    check.equal((again["already_held"], again["path"]), (True, made["path"]))
    check.equal((site.dir / "asked").read_text().split(), ["1", "2"], "asked once")


@case
def next_goes_on_to_an_item_that_passes():
    with LocalSite() as site:
        ids = [site.reply("item", "add", f"item {n}", "--priority", str(n))["id"] for n in (0, 1)]
        configure(site, gate("ready", f"test $DIBS_ITEM != {ids[0]}", stage="precheck"))
        check.equal(site.reply("next", "--start")["item"]["id"], ids[1])
        check.equal(site.refusal(EXIT_REFUSED, "next", "--start", agent="agent:two")["gate"], "ready")
        check.equal([one["resource"] for one in site.reply("claim", "list")["leases"]], [f"item:{ids[1]}"])


@case
def a_manual_precheck_is_passed_before_anybody_begins():
    with LocalSite() as site:
        configure(site, '[gates.planned]\nmanual = true\nstage = "precheck"\n')
        check.equal(site.refusal(EXIT_REFUSED, "start", "1")["gate"], "planned")
        check.equal(site.reply("claim", "list")["leases"], [])
        site.reply("gate", "pass", "1", "planned", "--reason", "we talked about it", agent="human:two")
        site.start("1")


@case
def a_precheck_that_was_cut_short_is_made_up_for():
    with LocalSite() as site:
        go = site.dir / "go"
        begun = site.dir / "begun"
        configure(site, gate("ready", f"echo $$ > {begun}; test -e {go} || sleep 1000", stage="precheck"))
        process = subprocess.Popen([DIBS, "start", "1"], cwd=site.root, env=site.env, stdout=subprocess.DEVNULL)
        wait_until(lambda: begun.exists() and begun.read_text(), "the gate runs")
        process.kill()
        process.wait()
        os.killpg(int(begun.read_text()), signal.SIGKILL)
        path = site.root / ".git/dibs/config.toml"
        path.write_text(path.read_text().replace("sleep 1000", "false"))
        check.equal(site.refusal(EXIT_REFUSED, "start", "1")["gate"], "ready")
        go.write_text("")
        check.equal(site.start("1")["already_held"], True)


@case
def skipping_a_required_gate_needs_a_reason():
    with LocalSite() as site:
        configure(site, gate("test", "false"))
        made = site.start("1")
        site.work(made)
        error = site.refusal(EXIT_REFUSED, "done", "--no-gates", cwd=made["path"])
        check.contains(error["hint"], "dibs done --no-gates --reason")
        landed = site.reply("done", "--no-gates", "--reason", "on fire", cwd=made["path"])
        check_trailer(site, landed, "Dibs-Gates-Skipped", "test (on fire)")


def check_trailer(site, landed, name, value):
    check.equal(site.trailers(landed["landed_commit"]).get(name), value)


@case
def the_lease_is_kept_alive_while_gates_run():
    with LocalSite() as site:
        configure(site, gate("slow", "sleep 4"))
        made = site.start("1", "--ttl", "2")
        site.work(made)
        landed = site.reply("done", cwd=made["path"])
        check.equal(landed["released"], True)


@case
def a_lease_that_is_lost_meanwhile_stops_the_gate_and_nothing_lands():
    with LocalSite() as site:
        begun = site.dir / "begun"
        configure(site, gate("slow", f"echo $$ > {begun}; sleep 1000"))
        made = site.start("1", "--ttl", "3")
        site.work(made)
        before = site.target()
        process = subprocess.Popen([DIBS, "--json", "done"], cwd=made["path"], env=site.env, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        wait_until(lambda: begun.exists() and begun.read_text(), "the gate runs")
        site.reply("claim", "force-evict", made["lease_id"], "--reason", "test", agent="human:two")
        _, err = process.communicate(timeout=30)
        check.equal((process.returncode, site.target()), (EXIT_LOST, before))
        check.contains(err, "nothing has landed")
        wait_until(lambda: not runs(begun.read_text().strip()), "the gate is gone")
        check.equal((len(site.rescues()), gate_trees(site)), (1, []))


@case
def when_the_target_moves_meanwhile_the_new_result_is_gated():
    with LocalSite() as site:
        seen = site.dir / "seen"
        configure(site, gate("look", f"ls >> {seen}; echo end >> {seen}; while test ! -e {site.dir}/go; do sleep 0.05; done"))
        made = site.start("1")
        site.work(made)
        process = subprocess.Popen([DIBS, "--json", "done"], cwd=made["path"], env=site.env, stdout=subprocess.PIPE)
        wait_until(lambda: seen.exists() and "end" in seen.read_text(), "the gate runs")
        site.move_target("news", "news\n")
        (site.dir / "go").write_text("")
        check.equal(process.wait(30), 0)
        first, second, _ = seen.read_text().split("end\n")
        check.true("news" not in first and "news" in second and "work" in second, f"{first!r}, {second!r}")


@case
def many_gates_at_once_each_have_their_own_tree():
    with LocalSite() as site:
        configure(site, gate("alone", "test ! -e mark && touch mark && sleep 0.3 && rm mark"))
        made = [site.start(str(n)) for n in range(4)]
        for n, one in enumerate(made):
            site.work(one, f"work-{n}")
        processes = [subprocess.Popen([DIBS, "--json", "done"], cwd=one["path"], env=site.env, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True) for one in made]
        for process in processes:
            _, err = process.communicate(timeout=60)
            check.equal(process.returncode, 0, err)
        check.true({f"work-{n}" for n in range(4)} <= site.files_on_target(), "all landed")
        check.equal(gate_trees(site), [])


@case
def a_kept_tree_has_what_git_ignores_and_nothing_else_of_before():
    with LocalSite() as site:
        site.move_target(".gitignore", "build/\n")
        configure(site, '[gates]\ntree = "kept"\n' + gate("build", "ls -d build junk; mkdir -p build; touch junk; echo x >> README; true"))
        for n, wanted in enumerate(("", "build\n")):
            made = site.start(str(n))
            site.work(made, f"work-{n}")
            result = site.reply("gate", "run", str(n))["results"][0]
            check.equal("".join(line for line in result["output"].splitlines(True) if "cannot" not in line), wanted)
            site.reply("done", cwd=made["path"])
            check.equal(site.file_on_target("README"), "read me")
        check.equal(len(gate_trees(site)), 1)
        site.healthy()


@case
def what_a_killed_dibs_left_is_cleared_away_by_the_next_gate():
    with LocalSite() as site:
        begun = site.dir / "begun"
        configure(site, gate("slow", f"echo $$ > {begun}; test -e {site.dir}/go || sleep 1000"))
        made = site.start("1")
        site.work(made)
        process = subprocess.Popen([DIBS, "done"], cwd=made["path"], env=site.env, stdout=subprocess.DEVNULL)
        wait_until(lambda: begun.exists() and begun.read_text(), "the gate runs")
        process.kill()
        process.wait()
        os.killpg(int(begun.read_text()), signal.SIGKILL)
        check.equal(len(gate_trees(site)), 1)
        (site.dir / "go").write_text("")
        site.reply("done", cwd=made["path"])
        check.equal(gate_trees(site), [])


@case
def control_c_ends_the_gate_as_well():
    with LocalSite() as site:
        begun = site.dir / "begun"
        configure(site, gate("slow", f"echo $$ > {begun}; sleep 1000"))
        made = site.start("1")
        site.work(made)
        process = subprocess.Popen([DIBS, "done"], cwd=made["path"], env=site.env, stdout=subprocess.DEVNULL)
        wait_until(lambda: begun.exists() and begun.read_text(), "the gate runs")
        process.send_signal(signal.SIGINT)
        check.equal(process.wait(30), -signal.SIGINT)
        wait_until(lambda: not runs(begun.read_text().strip()), "the gate is gone")
        site.reply("done", "--no-gates", "--reason", "test", cwd=made["path"])


@case
def gate_run_lands_nothing():
    with LocalSite() as site:
        configure(site, gate("test", "cat news; exit 0") + gate("before", "pwd", stage="precheck"))
        made = site.start("1")
        site.work(made)
        site.move_target("news", "news\n")
        before = site.state(made["path"])
        run = site.reply("gate", "run", "1")
        check.equal([(one["gate"], one["outcome"], one["output"]) for one in run["results"]], [("test", "passed", "news\n")])
        run = site.reply("gate", "run", "1", "before")
        check.equal(run["results"][0]["output"], made["path"] + "\n")
        check.equal({**site.state(made["path"]), "leases": 0}, {**before, "leases": 0})


@case
def a_wrong_configuration_is_named_with_its_line():
    with LocalSite() as site:
        configure(site, '[gates.test]\ncomand = "make"\n')
        error = site.refusal(EXIT_USAGE, "gate", "list")
        check.contains(error["message"], "config.toml:2: a gate has no 'comand'")
        check.contains(error["hint"], "did you mean command?")


@case
def strange_output_is_made_safe_to_show():
    with LocalSite() as site:
        configure(site, gate("test", r"printf '\033[31mred\377\n'; exit 1"))
        made = site.start("1")
        site.work(made)
        run = site.run("done", cwd=made["path"]).expect(EXIT_REFUSED)
        check.contains(run.err, "\\x1b[31mred")
        check.absent(run.err, "\x1b")


if __name__ == "__main__":
    main()
