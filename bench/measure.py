"""Running things with bench/stopwatch.c, and making rows of the table from what it saw."""
import statistics
import subprocess


class Run:
    """What the stopwatch saw of one process."""

    def __init__(self, line):
        self.command, self.ns, self.peak_kib, self.status = map(int, line.split())


class Stopwatch:
    """Calls bench/stopwatch.c with a fixed environment, and remembers the largest peak memory of dibs."""

    def __init__(self, program, dibs, home, **environment):
        self.program, self.dibs = program, dibs
        self.environment = {"DIBS_AGENT_ID": "agent:bench", "HOME": str(home), **environment}
        self.peak_kib = 0
        self.next_run = 1  # so that every run of a bench gets an item nobody had before

    def _call(self, cwd, mode, numbers, commands, runs):
        words = [word for command in commands for word in [":::", *command]][1:]
        out = subprocess.run([self.program, mode, str(self.next_run), *map(str, numbers), *words],
                             cwd=cwd, env=self.environment, stdout=subprocess.PIPE, text=True, check=True).stdout
        self.next_run += runs
        seen = [Run(line) for line in out.splitlines()]
        self.peak_kib = max([self.peak_kib, *(r.peak_kib for r in seen if commands[r.command][0] == self.dibs)])
        return seen

    def alternate(self, cwd, rounds, commands):
        """The commands' times in nanoseconds, one list each."""
        seen = self._call(cwd, "alternate", [rounds], commands, rounds + 1)
        for run in seen:
            expect(run.status == 0, f"exit {run.status} in {cwd} from: {' '.join(commands[run.command])}")
        return [[run.ns for run in seen if run.command == i] for i in range(len(commands))]

    def parallel(self, cwd, command, workers, each):
        """How many runs a second these loops of fresh processes make together, and how many more failed."""
        runs = workers * each
        [total] = self._call(cwd, "parallel", [workers, each], [command], runs)
        failed = total.status
        return (runs - failed) / (total.ns / 1e9), failed

    def stampede(self, cwd, command, count):
        """How long each of so many processes waited for its answer, and how each ended."""
        seen = self._call(cwd, "stampede", [count], [command], count)
        return [run.ns for run in seen], [run.status for run in seen]


class Sample:
    def __init__(self, values):
        self.values = sorted(values)

    def at(self, share):
        return self.values[round(share * (len(self.values) - 1))]

    @property
    def median(self):
        return statistics.median(self.values)

    def summary(self):
        return {"n": len(self.values), "p10": round(self.at(0.1), 2), "median": round(self.median, 2),
                "p90": round(self.at(0.9), 2), "mean": round(statistics.fmean(self.values), 2),
                "spread": round((self.at(0.9) - self.at(0.1)) / self.median, 2)}


def row(name, what, unit, measured, against, baseline, ratio_limit=None, at_least=False):
    """Without a limit it is there to be read, and always ok."""
    ratio = measured.median / baseline.median
    result = {"name": name, "what": what, "unit": unit, "measured": round(measured.median, 2),
              "against": against, "baseline": round(baseline.median, 2), "ratio": round(ratio, 3), "ok": True,
              "samples": {"measured": measured.summary(), "baseline": baseline.summary()}}
    if ratio_limit is not None:
        result |= {"limit": round(baseline.median * ratio_limit, 2), "ratio_limit": ratio_limit,
                   "bound": "at least" if at_least else "at most",
                   "ok": ratio >= ratio_limit if at_least else ratio <= ratio_limit}
    return result


def time_row(name, what, measured_ns, against, baseline_ns, ratio_limit=None):
    in_us = [Sample(ns / 1000 for ns in times) for times in (measured_ns, baseline_ns)]
    return row(name, what, "us", in_us[0], against, in_us[1], ratio_limit)


def expect(condition, complaint):
    if not condition:
        raise SystemExit(f"bench: {complaint}")


def quietly(command, env=None, cwd=None):
    """What it said."""
    done = subprocess.run(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    expect(done.returncode == 0, f"exit {done.returncode} from: {' '.join(command)}\n{done.stdout}")
    return done.stdout
