#!/usr/bin/env python3
"""Reads src/ and fails on a breach of the architecture: an include that goes up the layers, or a call that
touches the machine from where it must not. `--self-test` checks that each rule still catches a breach.

The graph is cmake/layers.txt, the reasons are in docs/architecture.md.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What the layers above store/ may see of it. Concrete stores are named by program.cc alone; tests of any layer may
# also use the memory store, the model to compare with, and the stores that are compared with it.
PROGRAM = {"main.cc", "program.h", "program.cc"}
STORE_INTERFACE = {"store/store.h", "store/upkeep.h"}
STORE_FOR_TESTS = ("store/memory", "store/local.h", "store/git_store.h")


def calls(*names):
    """Calls of plain functions: name(, ::name(, std::name(, but not x.name(, X::name( nor a declaration of one."""
    return re.compile(r"(?<![\w.:>])(?P<scope>std::|::)?(?:" + "|".join(names) + r")\s*\(")


# What is banned, where it is allowed all the same ("main" is what stands in src/ itself), and how it looks.
BANS = {
    "clock outside sys/": ({"sys"}, [
        re.compile(r"_clock\s*::\s*now\b|\bsleep_(?:for|until)\b"),
        calls("time", "clock", "clock_gettime", "gettimeofday", "usleep", "nanosleep", "sleep")]),
    "randomness outside sys/": ({"sys", "testing"}, [
        re.compile(r"\brandom_device\b|\bmt19937\w*|\bdefault_random_engine\b"),
        calls("rand", "srand", "random", "getrandom", "getentropy")]),
    "files outside sys/": ({"sys", "testing"}, [
        re.compile(r"\b[io]?fstream\b|\b(?:filesystem|fs)::(?!path\b)\w+|(?<![\w>])::(?:open|openat|read|write|rename|unlink|flock)\s*\("),
        calls("fopen", "fdopen", "freopen", "tmpfile", "mkstemp", "mkdtemp", "opendir", "fsync", "fdatasync")]),
    "processes outside sys/": ({"sys", "testing"}, [
        calls("fork", "vfork", "exec[lv]p?e?", "posix_spawnp?", "system", "popen", "kill", "waitpid", "getpid", "getppid")]),
    "environment outside sys/ and program.cc": ({"sys", "testing", "main"}, [
        calls("getenv", "secure_getenv", "setenv", "unsetenv", "putenv")]),
    "terminal outside cli/ and program.cc": ({"cli", "main"}, [
        re.compile(r"\bstd::(?:cout|cerr|clog|cin)\b|\b(?:stdin|stdout|stderr)\b|\bfmt::print(?:ln)?\b"),
        calls("isatty", "printf", "fprintf", "vprintf", "puts", "fputs", "putchar", "perror", "getchar")]),
    "system header outside sys/": ({"sys", "testing", "cli", "main"}, [
        re.compile(r"#\s*include\s*<(?:sys/\w+|unistd|fcntl|spawn|signal|poll|dirent|termios)\.h>|#\s*include\s*<csignal>")]),
    "<iostream> in src/": (set(), [re.compile(r"#\s*include\s*<iostream>")]),
}

# Text to skip: comments and literals. Includes come first, to be kept as they are.
SKIP = re.compile(
    r'(?P<include>^[ \t]*#[ \t]*include\b[^\n]*)|//[^\n]*|/\*.*?\*/|R"(?P<tag>\w*)\(.*?\)(?P=tag)"'
    r"""|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""", re.S | re.M)
INCLUDE = re.compile(r'\s*#\s*include\s*(?:"(?P<own>[^"]+)"|<(?P<lib>[^>]+)>)')
# `Result<Fd> open(`, `int time(`: a type before the name makes it a declaration; `return time(` is a call.
DECLARATION = re.compile(r"(?:(?P<word>\w+)|[\w>]>|\w[&*])\s+$")
NOT_A_TYPE = {"return", "co_return", "co_await", "co_yield", "else", "do", "case", "throw", "and", "or", "not"}


TOML = "model/toml_text.h"
TOML_READERS = {TOML, "model/toml_members.h"}  # headers that only .cc files include


def code_lines(text):
    """The lines of a file with comments and literals blanked, line numbers kept."""
    def blank(match):
        return match[0] if match["include"] is not None else '""' + "\n" * match[0].count("\n")
    return SKIP.sub(blank, text).split("\n")


def is_declaration(line, match):
    before = DECLARATION.search(line[:match.start()])
    return bool(before) and before["word"] not in NOT_A_TYPE and not match.groupdict().get("scope")


def read_graph(text):
    words = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return {layer: set(uses) for layer, *uses in words}


def include_breach(path, layer, target, graph):
    """Why `path` may not include "target", or None."""
    is_test = path.endswith(("_test.cc", "_fixture.h"))
    if layer == "main" and target == "program.h":
        return None
    into = target.split("/")[0] if "/" in target else None
    if into not in graph:
        return f'"{target}" does not start with a layer of cmake/layers.txt'
    if layer != "main" and into != layer and into not in graph[layer] and not (is_test and into == "testing"):
        return f"{layer}/ may not include {into}/"
    if layer == "main" and into == "testing":
        return "the program may not include testing/"
    if into == "store" and layer != "store" and path != "program.cc" and target not in STORE_INTERFACE:
        if not ((is_test or layer == "testing") and target.startswith(STORE_FOR_TESTS)):
            return "concrete stores are named by program.cc alone"
    return None


def check(files, graph):
    """The breaches in {path below src/: text}, as "path:line: rule"."""
    breaches, toml_users = [], []
    for path, text in sorted(files.items()):
        layer = "main" if path in PROGRAM else path.split("/")[0]
        if layer != "main" and layer not in graph:
            breaches.append(f"src/{path}:1: {layer} is not in cmake/layers.txt")
            continue
        for number, line in enumerate(code_lines(text), start=1):
            where = f"src/{path}:{number}"
            if include := INCLUDE.match(line):
                own, lib = include["own"], include["lib"] or ""
                if own in TOML_READERS and path.endswith(".h") and path not in TOML_READERS:
                    breaches.append(f"{where}: {own} in a header")
                if own and (why := include_breach(path, layer, own, graph)):
                    breaches.append(f"{where}: {why}")
                if lib == "nlohmann/json.hpp" and path.endswith(".h"):
                    breaches.append(f"{where}: nlohmann/json.hpp in a header; json_fwd.hpp is enough there")
                if lib.startswith("toml++/"):
                    toml_users.append((path, where))
            for rule, (allowed, patterns) in BANS.items():
                hits = (hit for pattern in patterns for hit in pattern.finditer(line))
                if layer not in allowed and any(not is_declaration(line, hit) for hit in hits):
                    breaches.append(f"{where}: {rule}: {line.strip()}")
    # toml++ costs seconds of compiling, so it comes in by one door, and no header opens that for others.
    breaches += [f"{where}: toml++ outside {TOML}" for path, where in toml_users if path != TOML]
    return breaches


# Each breaks one rule, named by part of the message; None: allowed.
SAMPLES = [
    ("base/a.h", '#include "model/lease.h"', "base/ may not include model/"),
    ("rules/a.cc", '#include "sys/clock.h"', "rules/ may not include sys/"),
    ("cli/a.cc", '#include "store/store.h"', "cli/ may not include store/"),
    ("cli/a.cc", '  #  include "git/repository.h"', "cli/ may not include git/"),
    ("git/a.cc", '#include "store/store.h"', "git/ may not include store/"),
    ("testing/a.h", '#include "cli/render.h"', "testing/ may not include cli/"),
    ("model/a.cc", '#include "testing/clock.h"', "model/ may not include testing/"),
    ("program.cc", '#include "testing/clock.h"', "may not include testing/"),
    ("main.cc", '#include "store/local.h"', "concrete stores"),
    ("program.h", '#include "store/local.h"', "concrete stores"),
    ("another.cc", "", "is not in cmake/layers.txt"),
    ("verbs/a.cc", '#include "store/local_store.h"', "concrete stores"),
    ("ledger/a.cc", '#include "store/memory_store.h"', "concrete stores"),
    ("base/a.cc", '#include "text.h"', "does not start with a layer"),
    ("elsewhere/a.cc", "", "is not in cmake/layers.txt"),
    ("base/a.h", "#include <nlohmann/json.hpp>", "nlohmann/json.hpp in a header"),
    ("model/a.cc", "#include <toml++/toml.h>", "toml++ outside model/toml_text.h"),
    ("model/a.h", '#include "model/toml_text.h"', "model/toml_text.h in a header"),
    ("model/a.h", '#include "model/toml_members.h"', "model/toml_members.h in a header"),
    ("model/toml_members.h", '#include "model/toml_text.h"', None),
    ("model/toml_text.h", "#include <toml++/toml.h>", None),
    ("model/a.cc", '#include "model/toml_text.h"', None),
    ("cli/a.cc", "#include <iostream>", "<iostream>"),
    ("store/a.cc", "#include <sys/file.h>", "system header"),
    ("rules/a.cc", "auto t = std::chrono::steady_clock::now();", "clock"),
    ("rules/a.cc", "return time(nullptr);", "clock"),
    ("ledger/a.cc", "std::this_thread::sleep_for(delay);", "clock"),
    ("base/a.cc", "std::random_device device;", "randomness"),
    ("base/a.cc", "int x = rand();", "randomness"),
    ("store/a.cc", "std::ofstream out(path);", "files"),
    ("store/a.cc", "int fd = ::open(path, 0);", "files"),
    ("store/a.cc", "if (std::filesystem::exists(path)) {", "files"),
    ("git/a.cc", "if (fork() == 0) execvp(argv[0], argv);", "processes"),
    ("git/a_test.cc", 'system("git init");', "processes"),
    ("cli/a.cc", 'std::getenv("HOME");', "environment"),
    ("verbs/a.cc", 'std::cout << "x";', "terminal"),
    ("verbs/a.cc", 'fmt::print("x");', "terminal"),
    ("sys/a.cc", "if (isatty(1)) return;", "terminal"),
    ("base/a.cc", "/* a\n b */ int x = 1'000; rand();", "src/base/a.cc:2: randomness"),
    ("rules/a.cc", '#include "model/lease.h"\n#include "base/result.h"\n#include "rules/claim.h"', None),
    ("rules/a_test.cc", '#include "testing/clock.h"\n#include "store/memory.h"', "rules/ may not include store/"),
    ("ledger/a_test.cc", '#include "testing/clock.h"\n#include "store/memory_store.h"', None),
    ("ledger/a_test.cc", '#include "store/local.h"', None),
    ("store/a_fixture.h", '#include "testing/local_site.h"', None),
    ("store/a.h", '#include "testing/local_site.h"', "store/ may not include testing/"),
    ("ledger/a_test.cc", '#include "store/segments.h"', "concrete stores"),
    ("main.cc", '#include "program.h"', None),
    ("program.h", '#include "store/store.h"', None),
    ("program.cc", '#include "program.h"\n#include "store/local_store.h"\n#include "cli/front.h"\nstd::getenv("DIBS_AGENT");', None),
    ("cli/a.cc", 'std::puts("x");', None),
    ("base/a.cc", '// rand() and time()\nauto text = "std::cout << getenv(x)"; auto raw = R"(rand())";', None),
    ("store/a.h", "virtual Result<File> open(Path path);\nInstant time(int x);\nresult.time(); clock.random();", None),
]


def self_test(graph):
    wrong, seen = [], []
    for path, text, expected in SAMPLES:
        got = check({path: text}, graph)
        seen += got
        if (expected is None and got) or (expected and not any(expected in breach for breach in got)):
            wrong.append(f"{path}: {text!r}: expected {expected!r}, got {got}")
    wrong += [f"no sample breaks the rule: {rule}" for rule in BANS if not any(f": {rule}: " in breach for breach in seen)]
    return wrong


def main():
    graph = read_graph((ROOT / "cmake/layers.txt").read_text())
    if sys.argv[1:] == ["--self-test"]:
        wrong, subject = self_test(graph), f"{len(SAMPLES)} samples"
    else:
        src = ROOT / "src"
        files = {p.relative_to(src).as_posix(): p.read_text() for p in src.rglob("*") if p.suffix in (".h", ".cc")}
        wrong, subject = check(files, graph), f"{len(files)} files"
    print("\n".join(wrong) if wrong else f"{subject}: no breach")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
