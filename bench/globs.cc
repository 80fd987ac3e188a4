// How much CPU it takes to hold one new glob against all that are held: from the texts of lease
// records to an answer.
//
//   globs HELD ROUNDS NEW
//
// HELD says how many are held, NEW which of the new globs it is, from 0 on. Prints nanoseconds, a
// line a round: the first is what a fresh process pays, the others go without loading the code.
// Some of the new globs overlap with nothing and the others with the last held one only, so each
// has to get past all of them. Without words, prints how many new globs there are.
#include <charconv>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "model/held_globs.h"

namespace dibs {

namespace {

constexpr std::size_t kHeldMax = 1'000'000;
constexpr std::size_t kRoundsMax = 1'000'000;

using Texts = std::vector<std::string>;

const Texts kAreas = {"src", "lib", "apps", "services", "docs", "tests", "tools"};
const Texts kNames = {"auth",   "billing", "search", "network", "storage", "render",
                      "parser", "config",  "index",  "session", "queue",   "report"};
// What is held of a directory; literals and globs, as they are claimed.
const Texts kLeaves = {"/**",        "/*.cc",          "/main.cc",    "/**/*.h",
                       "/test_*.py", "/[a-m]*.cc",     "/README.md",  "/{api,impl}.cc",
                       "/",          "/**/gen/*.json", "/schema.sql", "/**/*_test.cc"};

// Directories three to five deep, each number another one.
std::string held_glob(std::size_t n) {
  std::string glob = kAreas[n % kAreas.size()];
  const std::size_t depth = 2 + n % 3;
  for (std::size_t level = 1; level < depth; ++level) {
    glob += "/" + kNames[(n / (level * 7) + level) % kNames.size()];
  }
  return glob + "/m" + std::to_string(n) + kLeaves[n / 5 % kLeaves.size()];
}

struct New {
  std::string glob;
  bool overlaps = false;
};
const std::vector<New> kNew = {
    {"src/auth/billing/new/**", false},
    {"services/billing/new_*.cc", false},
    {"apps/*/search/new/{a,b}.cc", false},
    {"tests/queue/new", false},
    {"lib/network/[n-z]*/new/*.h", false},
    {"*/*.cc", false},
    {"zz/last/**", true},
    {"zz/*/file.cc", true},
    {"zz/last/f*.cc", true},
};

std::int64_t cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// All that a process has to do once it has the texts.
bool is_overlapping(const std::vector<std::string_view>& held, const New& wanted) {
  Result<Glob> glob = Glob::parse(wanted.glob);
  return glob && first_overlap(held, GlobSet(std::move(*glob)));
}

Texts held_globs(std::size_t count) {
  Texts held;
  for (std::size_t n = 0; n + 1 < count; ++n) held.push_back(held_glob(n));
  held.emplace_back("zz/last/file.cc");
  return held;
}

int measure(std::size_t count, std::size_t rounds, const New& wanted) {
  const Texts held = held_globs(count);
  const std::vector<std::string_view> texts(held.begin(), held.end());
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::int64_t begin = cpu_ns();
    const bool overlaps = is_overlapping(texts, wanted);
    std::printf("%lld\n", static_cast<long long>(cpu_ns() - begin));
    if (overlaps == wanted.overlaps) continue;
    std::fprintf(stderr, "globs: wrong answer for %s\n", wanted.glob.c_str());
    return 1;
  }
  return 0;
}

bool read_number(std::string_view word, std::size_t most, std::size_t& number) {
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && rest == word.data() + word.size() && number <= most;
}

int run(int argc, char** argv) {
  if (argc == 1) {
    std::printf("%zu\n", kNew.size());
    return 0;
  }
  std::size_t count = 0;
  std::size_t rounds = 0;
  std::size_t which = 0;
  if (argc != 4 || !read_number(argv[1], kHeldMax, count) ||
      !read_number(argv[2], kRoundsMax, rounds) || !read_number(argv[3], kNew.size() - 1, which)) {
    std::fputs("usage: globs [HELD ROUNDS NEW]\n", stderr);
    return 64;
  }
  return measure(count, rounds, kNew[which]);
}

}  // namespace

}  // namespace dibs

int main(int argc, char** argv) { return dibs::run(argc, argv); }
