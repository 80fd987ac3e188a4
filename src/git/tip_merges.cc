#include "git/tip_merges.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>

#include "base/text.h"
#include "sys/scratch.h"

namespace dibs {

namespace {

constexpr std::int64_t kSurveyMs = 30LL * 60 * 1000;
constexpr int kFallsMax = 100;           // of git; more, and something else is wrong
constexpr std::size_t kNewerMax = 1000;  // commits; of more it is no less work to see all

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
Result<BranchPast> TipMerges::whole_past(const std::vector<std::string>& tips) const {
  const Result<ProgramEnd> base =
      git_.run({.git_dir = common_dir_,
                .arguments = words_before({"merge-base", "--octopus"}, tips),
                .input = {}});
  if (!base) return fail(base.error());
  std::vector<std::string> arguments = words_before(
      {"rev-list", "--parents", "--topo-order", fmt::format("--max-count={}", kHistoryMax + 1)},
      tips);
  BranchPast past;
  if (base->succeeded()) past.base = trim(base->out);
  // Its parents, not itself. Without one there is nothing that all have.
  if (!past.base.empty()) arguments.insert(arguments.end(), {"--not", past.base + "^@"});
  const Result<std::string> out = git_.output_of(
      {.git_dir = common_dir_, .arguments = arguments, .input = {}}, ErrorKind::internal);
  if (!out) return fail(out.error());
  for (const std::string_view line : split(*out, '\n')) {
    if (!line.empty()) past.commits.push_back(history_commit(line));
  }
  return past;
}

// One git for what came since, with what it changed. False where that does not follow what is
// known, is much, or git cannot tell; then `past` may be anything.
bool TipMerges::bring_up(BranchPast& past, const std::vector<std::string>& tips) const {
  if (past.commits.empty()) return false;
  std::unordered_set<std::string_view> known;
  for (const HistoryCommit& commit : past.commits) known.insert(commit.id);
  std::vector<std::string> arguments{"log",
                                     "-z",
                                     "--topo-order",
                                     "--name-status",
                                     "--no-renames",
                                     "--no-relative",
                                     "--no-color",
                                     "--diff-merges=off",
                                     "--ignore-submodules=none",
                                     "--format=%H %P",
                                     fmt::format("--max-count={}", kNewerMax + 1)};
  const std::size_t words = arguments.size();
  std::ranges::copy_if(tips, std::back_inserter(arguments),
                       [&](const std::string& tip) { return !known.contains(tip); });
  if (arguments.size() == words) return true;
  // Not the tips that are known, all of them: looking at each costs git more than going on a bit.
  arguments = words_before(words_before(std::move(arguments), {"--not"}), past.left_behind(tips));
  if (known.contains(tips.back())) arguments.push_back(tips.back());
  if (!past.base.empty()) arguments.push_back(past.base);
  const Result<ProgramEnd> end =
      git_.run({.git_dir = common_dir_, .arguments = arguments, .input = {}});
  if (!end || !end->succeeded()) return false;
  const Result<std::vector<CommitChanges>> changes = parse_commit_changes(end->out);
  if (!changes || changes->size() > kNewerMax) return false;
  std::vector<HistoryCommit> newer;
  for (const CommitChanges& change : *changes) {
    HistoryCommit commit = history_commit(change.commit);
    if (known.contains(commit.id)) continue;
    // Of a merge git tells nothing.
    if (commit.parents.size() == 1)
      past.changes.emplace(Stretch{commit.parents.front(), commit.id}, change.paths);
    newer.push_back(std::move(commit));
  }
  return past.add(std::move(newer));
}

// What is not known of the past is found out; nothing when it is too long. Where a tip does not
// have what all had before, forks may lie further back than that.
Result<std::optional<ForkPoints>> TipMerges::fork_points(const std::vector<std::string>& tips,
                                                         BranchPast& past) const {
  if (bring_up(past, tips)) {
    ForkPoints forks(past.commits, tips);
    if (past.base.empty() || forks.all_have(past.base)) return forks;
  }
  Result<BranchPast> whole = whole_past(tips);
  if (!whole) return fail(whole.error());
  past = whole->commits.size() <= kHistoryMax ? *std::move(whole) : BranchPast();
  if (past.commits.empty()) return std::nullopt;
  return ForkPoints(past.commits, tips);
}

Done TipMerges::find_changes(const std::vector<Stretch>& stretches, BranchPast& past) const {
  if (stretches.empty()) return {};
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
  Result<std::vector<CommitChanges>> changes = parse_commit_changes(*out);
  if (!changes) return fail(changes.error());
  if (changes->size() != stretches.size())
    return fail(ErrorKind::internal, "git diff-tree left some out");
  for (std::size_t i = 0; i < stretches.size(); ++i)
    past.changes[stretches[i]] = std::move((*changes)[i].paths);
  return {};
}

Result<std::vector<TipPair>> TipMerges::that_may_collide(const std::vector<std::string>& tips,
                                                         const std::vector<TipPair>& pairs,
                                                         BranchPast& past) const {
  const Result<std::optional<ForkPoints>> found = fork_points(tips, past);
  if (!found) return fail(found.error());
  if (!found->has_value()) return pairs;
  const ForkPoints& forks = **found;
  // Many pairs part at the same commit, so most stretches serve for several.
  std::set<Stretch> stretches;
  for (const TipPair pair : pairs) {
    const std::optional<std::string> fork = forks.of(pair);
    if (!fork) continue;
    stretches.insert({.from = *fork, .to = tips[pair.first]});
    stretches.insert({.from = *fork, .to = tips[pair.second]});
  }
  std::vector<Stretch> unknown;
  for (const Stretch& stretch : stretches) {
    if (std::optional<ChangedPaths> changed = past.changed(stretch)) {
      past.changes[stretch] = *std::move(changed);
    } else {
      unknown.push_back(stretch);
    }
  }
  if (Done asked = find_changes(unknown, past); !asked) return fail(asked.error());
  std::vector<TipPair> may;
  std::ranges::copy_if(pairs, std::back_inserter(may), [&](TipPair pair) {
    const std::optional<std::string> fork = forks.of(pair);
    return !fork || may_collide(past.changes.at({*fork, tips[pair.first]}),
                                past.changes.at({*fork, tips[pair.second]}));
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
                                         const FindPairs& find_pairs) const {
  const Result<ScratchDirectory> scratch = ScratchDirectory::make(scratch_parent_);
  if (!scratch) return fail(scratch.error());
  const auto input = [&] {
    std::string lines;
    for (const TipPair pair : find_pairs())
      lines += fmt::format("{} {}\n", tips[pair.first], tips[pair.second]);
    return lines;
  };
  // Histories that have nothing in common would end the whole call.
  return git_.run({.git_dir = common_dir_,
                   .arguments = {"merge-tree", "--write-tree", "--stdin", "--name-only",
                                 "--no-messages", "--allow-unrelated-histories"},
                   .input = {},
                   .most_ms = kSurveyMs,
                   .environment = {"GIT_OBJECT_DIRECTORY=" + scratch->path(),
                                   borrowing(common_dir_ + "/objects")},
                   .settings = {"core.fsync=none"},
                   .later_input = input});
}

Result<std::vector<Collision>> TipMerges::merge(const std::vector<std::string>& tips,
                                                const std::vector<TipPair>& pairs) const {
  if (pairs.empty()) return std::vector<Collision>();
  return merge_again(tips, pairs, run_merges(tips, [&] { return std::span(pairs); }));
}

// There are merges that git 2.39 falls over (an assertion about renames), and what it had said
// about others may be lost then: each half is asked about again, until such a pair is alone. It
// does not go together either.
Result<std::vector<Collision>> TipMerges::merge_again(const std::vector<std::string>& tips,
                                                      std::span<const TipPair> pairs,
                                                      Result<ProgramEnd> first) const {
  std::vector<Collision> collisions;
  std::vector<std::span<const TipPair>> left{pairs};  // the next is the last
  for (int falls = 0; !left.empty();) {
    const std::span<const TipPair> some = left.back();
    left.pop_back();
    const Result<ProgramEnd> end =
        falls == 0 ? std::move(first) : run_merges(tips, [&] { return some; });
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
                                    const std::vector<TipPair>& pairs, BranchPast& past) const {
  if (pairs.empty()) return TipSurvey{};
  Result<std::vector<TipPair>> may;
  Result<ProgramEnd> end = run_merges(tips, [&] {
    may = that_may_collide(tips, pairs, past);
    return may ? std::span<const TipPair>(*may) : std::span<const TipPair>();
  });
  if (!end) return fail(end.error());
  if (!may) return fail(may.error());
  past.forget_all_but(tips);
  if (may->empty()) return TipSurvey{};
  Result<std::vector<Collision>> collisions = merge_again(tips, *may, std::move(end));
  if (!collisions) return fail(collisions.error());
  return TipSurvey{.collisions = *std::move(collisions), .merged = may->size()};
}

}  // namespace dibs
