"""Which branches will collide: all pairs at once, beside one `git merge-tree` a pair, and a second look beside the first."""
import os
import random
import shutil

from measure import Stopwatch, expect, quietly, time_row

FILES, FOLDERS, LINES = 2_000, 40, 60
BRANCHES = 50
EDITS = 5  # files that a branch changes
HOT, HOT_SHARE = 20, 0.2  # a few files that everybody works on
SPAWNED_ROUNDS, ROUNDS = 5, 40


class ConflictBench:
    """A repository with many branches, a lease and a worktree for each; the worktrees hold no files, which nobody reads."""

    def __init__(self, dibs, stopwatch, scratch, rounds):
        self.dibs, self.rounds, self.path = dibs, rounds, scratch / "conflicts"
        self.cache = self.path / ".git/dibs/conflicts.cache"
        identity = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
                    for what, value in (("NAME", "bench"), ("EMAIL", "bench@example.com"))}
        self.watch = Stopwatch(stopwatch, dibs, scratch / "home", PATH=os.environ["PATH"], GIT_CONFIG_NOSYSTEM="1",
                               **identity)
        self.chance = random.Random(50)
        self.texts = {f"src/m{n % FOLDERS}/f{n}.c": [f"line {line} of {n}" for line in range(LINES)] for n in range(FILES)}
        self.build()

    def git(self, *words, text=None):
        if text is None:
            return quietly(["git", "-C", str(self.path), *map(str, words)], env=self.watch.environment).strip()
        file = self.path.with_name("import.txt")
        file.write_text(text)
        return quietly(["sh", "-c", f"git -C '{self.path}' {' '.join(words)} < '{file}'"], env=self.watch.environment)

    def commit(self, branch, start, texts):
        """A commit as `git fast-import` takes it."""
        files = "".join(f"M 100644 inline {path}\ndata {len(text)}\n{text}\n" for path, text in texts.items())
        parent = f"from {start}\n" if start else ""
        return (f"commit refs/heads/{branch}\ncommitter bench <bench@example.com> 1700000000 +0000\ndata 4\nwork"
                f"{parent}{files}\n")

    def edited(self):
        """Some files with a changed line, hot ones more often."""
        paths, changed = sorted(self.texts), {}
        for _ in range(EDITS):
            path = paths[self.chance.randrange(HOT if self.chance.random() < HOT_SHARE else FILES)]
            lines = list(self.texts[path])
            lines[self.chance.randrange(LINES)] = f"changed {self.chance.random()}"
            changed[path] = "\n".join(lines) + "\n"
        return changed

    def build(self):
        quietly(["git", "init", "-q", "-b", "main", str(self.path)], env=self.watch.environment)
        whole = {path: "\n".join(lines) + "\n" for path, lines in self.texts.items()}
        script = self.commit("main", None, whole)
        names = [f"topic-{n}" for n in range(BRANCHES)]
        for name in [*names, "changed"]:
            script += self.commit(name, "refs/heads/main", self.edited())
        self.git("fast-import", "--quiet", text=script)
        quietly([self.dibs, "init", "-C", str(self.path)], env=self.watch.environment)
        for name in names:
            place = self.path.with_name(f"conflicts-{name}")
            self.git("worktree", "add", "-q", "--no-checkout", place, name)
            quietly([self.dibs, "claim", "acquire", name, "--ttl", "86400", "-C", str(place)], env=self.watch.environment)
        tips = self.git("rev-parse", "main", *names).splitlines()
        self.pairs = self.path.with_name("pairs.txt")
        self.pairs.write_text("".join(f"{a} {b}\n" for n, a in enumerate(tips) for b in tips[n + 1:]))
        os.sync()

    def look(self, before):
        """After a step that every round needs, the unmeasured first one of the stopwatch too; the shell's share is ours to pay."""
        return ["/bin/sh", "-c", f"{before}; exec '{self.dibs}' conflicts --matrix -C '{self.path}'"]

    def first_look(self):
        """Without anything known. git says as often as dibs that two conflict, or the bench stops."""
        loop = (f"cd '{self.path}'; while read a b; do git merge-tree --write-tree --name-only --no-messages $a $b "
                f"> /dev/null || echo $a $b; done < '{self.pairs}'")
        conflicts = quietly(["sh", "-c", loop], env=self.watch.environment).splitlines()
        reply = quietly([self.dibs, "conflicts", "--json", "-C", str(self.path)], env=self.watch.environment)
        expect(f'"count":{len(conflicts)},' in reply and conflicts, f"git finds {len(conflicts)} conflicts, dibs: {reply[-300:]}")
        return self.watch.alternate(self.path, self.rounds(SPAWNED_ROUNDS), [
            ["/bin/sh", "-c", loop + " > /dev/null"], self.look(f"rm -f '{self.cache}'")])

    def second_look(self):
        """One branch has another commit than when the cache was written."""
        kept = self.path.with_name("kept.cache")
        shutil.copy(self.cache, kept)
        self.git("update-ref", "refs/heads/topic-7", "refs/heads/changed")
        return self.watch.alternate(self.path, self.rounds(ROUNDS), [
            self.look(f"rm -f '{self.cache}'"), self.look(f"cp '{kept}' '{self.cache}'")])

    def all_rows(self):
        pairs = BRANCHES * (BRANCHES + 1) // 2
        spawned, looks = self.first_look()
        first, second = self.second_look()
        one_by_one = f"{pairs:,} x git merge-tree"
        return [time_row("conflicts", f"conflicts, {BRANCHES} branches, {FILES:,} files", looks, one_by_one, spawned, 0.1),
                time_row("conflicts_again", "conflicts, one branch changed", second, one_by_one, spawned, 0.01),
                time_row("conflicts_kept", "     the same", second, "nothing known", first)]
