#include "git/tip_merges.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "sys/scratch.h"

namespace dibs {

namespace {

constexpr std::int64_t kSurveyMs = 30LL * 60 * 1000;
constexpr int kFallsMax = 100;  // of git; more, and something else is wrong

// Quoted as git wants it, because a colon would separate two directories.
std::string borrowing(std::string_view directory) {
  std::string quoted = "GIT_ALTERNATE_OBJECT_DIRECTORIES=\"";
  for (const char c : directory) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::vector<std::string> words_before(std::vector<std::string> words,
                                      const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

// Back to what all of them have, which is not far even where the past is long.
Result<std::vector<HistoryCommit>> TipMerges::history(const std::vector<std::string>& tips) const {
  const Result<ProgramEnd> base =
      git_.run({.git_dir = common_dir_,
                .arguments = words_before({"merge-base", "--octopus"}, tips),
                .input = {}});
  if (!base) return fail(base.error());
  std::vector<std::string> arguments = words_before(
      {"rev-list", "--parents", "--topo-order", fmt::format("--max-count={}", kHistoryMax + 1)},
      tips);
  // Its parents, not itself. Without one there is nothing that all have.
  if (const std::string_view found = trim(base->out); base->succeeded() && !found.empty())
    arguments.insert(arguments.end(), {"--not", std::string(found) + "^@"});
  const Result<std::string> out = git_.output_of(
      {.git_dir = common_dir_, .arguments = arguments, .input = {}}, ErrorKind::internal);
  if (!out) return fail(out.error());
  std::vector<HistoryCommit> history;
  for (const std::string_view line : split(*out, '\n')) {
    if (line.empty()) continue;
    const std::vector<std::string_view> ids = split(line, ' ');
    history.push_back({.id = std::string(ids.front()), .parents = {ids.begin() + 1, ids.end()}});
  }
  return history;
}

Result<std::vector<ChangedPaths>> TipMerges::changes(const std::vector<Stretch>& stretches) const {
  std::string input;
  for (const Stretch& stretch : stretches)
    input += fmt::format("{} {}\n", stretch.to, stretch.from);
  const Result<std::string> out =
      git_.output_of({.git_dir = common_dir_,
                      .arguments = {"diff-tree", "--stdin", "-r", "-z", "--no-renames",
                                    "--name-status", "--always", "--ignore-submodules=none"},
                      .input = input,
                      .most_ms = kSurveyMs},
                     ErrorKind::internal);
  if (!out) return fail(out.error());
  Result<std::vector<ChangedPaths>> changes = parse_changed_paths(*out);
  if (changes && changes->size() != stretches.size())
    return fail(ErrorKind::internal, "git diff-tree left some out");
  return changes;
}

Result<std::vector<TipPair>> TipMerges::that_may_collide(const std::vector<std::string>& tips,
                                                         const std::vector<TipPair>& pairs) const {
  const Result<std::vector<HistoryCommit>> history = this->history(tips);
  if (!history) return fail(history.error());
  if (history->size() > kHistoryMax) return pairs;
  const ForkPoints forks(*history, tips);
  // Many pairs part at the same commit, so most stretches serve for several.
  std::map<Stretch, std::size_t> numbers;
  for (const TipPair pair : pairs) {
    const std::optional<std::string> fork = forks.of(pair);
    if (!fork) continue;
    numbers.emplace(Stretch{.from = *fork, .to = tips[pair.first]}, 0);
    numbers.emplace(Stretch{.from = *fork, .to = tips[pair.second]}, 0);
  }
  std::vector<Stretch> stretches;
  for (auto& [stretch, number] : numbers) {
    number = stretches.size();
    stretches.push_back(stretch);
  }
  const Result<std::vector<ChangedPaths>> changed = changes(stretches);
  if (!changed) return fail(changed.error());
  std::vector<TipPair> may;
  std::ranges::copy_if(pairs, std::back_inserter(may), [&](TipPair pair) {
    const std::optional<std::string> fork = forks.of(pair);
    return !fork || may_collide((*changed)[numbers.at({*fork, tips[pair.first]})],
                                (*changed)[numbers.at({*fork, tips[pair.second]})]);
  });
  return may;
}

// "1 NUL TREE NUL NUL" where two go together, "0 NUL TREE NUL PATH NUL … NUL" where they do not.
SaidMerges parse_merges(std::string_view out, std::span<const TipPair> pairs) {
  const auto next = [&]() -> std::optional<std::string_view> {
    const std::size_t end = out.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view field = out.substr(0, end);
    out.remove_prefix(end + 1);
    return field;
  };
  SaidMerges said;
  for (const TipPair pair : pairs) {
    const std::optional<std::string_view> status = next();
    const std::optional<std::string_view> tree = next();
    if (!tree || (*status != "0" && *status != "1")) return said;
    Collision collision{.pair = pair, .files = {}};
    std::optional<std::string_view> path = next();
    for (; path && !path->empty(); path = next()) collision.files.emplace_back(*path);
    if (!path) return said;
    if (*status == "0") said.collisions.push_back(std::move(collision));
    ++said.pairs;
  }
  return said;
}

Result<ProgramEnd> TipMerges::run_merges(const std::vector<std::string>& tips,
                                         std::span<const TipPair> pairs) const {
  const Result<ScratchDirectory> scratch = ScratchDirectory::make(scratch_parent_);
  if (!scratch) return fail(scratch.error());
  std::string input;
  for (const TipPair pair : pairs)
    input += fmt::format("{} {}\n", tips[pair.first], tips[pair.second]);
  // Histories that have nothing in common would end the whole call.
  return git_.run({.git_dir = common_dir_,
                   .arguments = {"merge-tree", "--write-tree", "--stdin", "--name-only",
                                 "--no-messages", "--allow-unrelated-histories"},
                   .input = input,
                   .most_ms = kSurveyMs,
                   .environment = {"GIT_OBJECT_DIRECTORY=" + scratch->path(),
                                   borrowing(common_dir_ + "/objects")},
                   .settings = {"core.fsync=none"}});
}

// There are merges that git 2.39 falls over (an assertion about renames), and what it had said
// about others may be lost then: each half is asked about again, until such a pair is alone. It
// does not go together either.
Result<std::vector<Collision>> TipMerges::merge(const std::vector<std::string>& tips,
                                                const std::vector<TipPair>& pairs) const {
  std::vector<Collision> collisions;
  std::vector<std::span<const TipPair>> left;  // the next is the last
  if (!pairs.empty()) left.emplace_back(pairs);
  for (int falls = 0; !left.empty();) {
    const std::span<const TipPair> some = left.back();
    left.pop_back();
    const Result<ProgramEnd> end = run_merges(tips, some);
    if (!end) return fail(end.error());
    SaidMerges said = parse_merges(end->out, some);
    if (end->succeeded() && said.pairs == some.size()) {
      std::ranges::move(said.collisions, std::back_inserter(collisions));
      continue;
    }
    if (end->succeeded() || end->cut != ProgramEnd::Cut::no || ++falls > kFallsMax) {
      return fail(ErrorKind::internal,
                  fmt::format("git merge-tree was cut short: {}", complaint_of(*end)));
    }
    if (some.size() == 1) {
      collisions.push_back({.pair = some.front(), .files = {}});
    } else {
      left.push_back(some.subspan(some.size() / 2));
      left.push_back(some.first(some.size() / 2));
    }
  }
  return collisions;
}

Result<TipSurvey> TipMerges::survey(const std::vector<std::string>& tips,
                                    const std::vector<TipPair>& pairs) const {
  if (pairs.empty()) return TipSurvey{};
  const Result<std::vector<TipPair>> may = that_may_collide(tips, pairs);
  if (!may) return fail(may.error());
  Result<std::vector<Collision>> collisions = merge(tips, *may);
  if (!collisions) return fail(collisions.error());
  return TipSurvey{.collisions = *std::move(collisions), .merged = may->size()};
}

}  // namespace dibs
