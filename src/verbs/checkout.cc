#include "verbs/checkout.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "git/commits.h"
#include "git/index_file.h"
#include "git/local_refs.h"
#include "git/stored_objects.h"
#include "git/worktrees.h"

namespace dibs::verbs {

namespace {

enum class Ran { done, failed, new_file_in_the_way };

Ran run_in(const Surroundings& around, const Repository& checkout,
           std::vector<std::string> arguments) {
  const Result<ProgramEnd> end = around.git.run({.git_dir = checkout.git_dir,
                                                 .arguments = std::move(arguments),
                                                 .input = {},
                                                 .most_ms = kWholeTreeMs,
                                                 .work_tree = checkout.root});
  if (end && end->succeeded()) return Ran::done;
  return end && contains(end->err, "ntracked working tree file") ? Ran::new_file_in_the_way
                                                                 : Ran::failed;
}

// What the user is told about a checkout that could not be brought along. A file that git does not
// know yet and that landed under the same name cannot be put back where it was: it stays in the
// stash.
std::string left_behind(const Repository& checkout, const Target& target, const std::string& at,
                        const std::string& onwards, Ran why) {
  const std::string git = "git -C " + shell_word(checkout.root);
  const std::string stays =
      fmt::format("{} is checked out in {} with {} in the way; that checkout stays at {}. ",
                  printable(target.branch), printable(checkout.root),
                  why == Ran::new_file_in_the_way ? "a new file that is" : "changes that are",
                  at.substr(0, 12));
  if (why == Ran::new_file_in_the_way)
    return stays + fmt::format(
                       "What you have there goes to the stash (git stash show --include-untracked "
                       "-p) when you bring it along with: {0} stash --include-untracked && {0} {1}",
                       git, onwards);
  return stays +
         fmt::format("Bring it along with: {0} stash && {0} {1} && {0} stash pop", git, onwards);
}

// How many paths the index has otherwise than a commit.
std::optional<std::size_t> differences(const Surroundings& around, const Repository& checkout,
                                       const std::string& commit) {
  const Result<ProgramEnd> end = around.git.run(
      {.git_dir = checkout.git_dir,
       .arguments = {"diff-index", "--cached", "--no-renames", "--name-only", "-z", commit, "--"},
       .input = {},
       .most_ms = kWholeTreeMs,
       .work_tree = checkout.root});
  if (!end || !end->succeeded()) return std::nullopt;
  return std::ranges::count(end->out, '\0');
}

// Whether the index is that commit, as far as can be told without git.
bool is_plainly_at(const Surroundings& around, const Repository& checkout,
                   const std::string& commit) {
  const std::optional<ReadIndex> read = read_index(around.files, checkout);
  const std::optional<IndexFile> index = read ? read->parsed() : std::nullopt;
  if (!index || index->tree.empty()) return false;
  return StoredObjects(around.files, around.common_dir).tree_of(commit) == to_hex(index->tree);
}

// Which commit the files are at, when the branch may have moved several times without them: the one
// that the index is nearest to. Whatever else is in the index, the user put there.
std::string where_files_are(const Surroundings& around, const Repository& checkout,
                            const std::string& before, const std::string& tip) {
  constexpr int kBehindMax = 64;
  // Nearly always, and then nothing else needs to be asked.
  if (before != tip &&
      (is_plainly_at(around, checkout, before) || differences(around, checkout, before) == 0))
    return before;
  const Result<std::string> out = around.git.output_of(
      {.git_dir = checkout.git_dir,
       .arguments = {"rev-list", "--first-parent", fmt::format("--max-count={}", kBehindMax), tip},
       .input = {}},
      ErrorKind::internal);
  if (!out) return before;
  std::optional<std::string> nearest;
  std::size_t least = 0;
  for (const std::string_view commit : split(trim(*out), '\n')) {
    const auto count = differences(around, checkout, std::string(commit));
    if (!count) return before;
    if (nearest && *count >= least) continue;
    nearest = commit;
    least = *count;
    if (least == 0) break;
  }
  return nearest.value_or(before);
}

// The branch moved under it. git's two-tree merge carries changes that are not in the way; if some
// are, HEAD goes back to where the files are, so that a commit cannot undo what has landed.
std::optional<std::string> follow(const Surroundings& around, const Repository& checkout,
                                  const Target& target) {
  const Result<std::optional<std::string>> tip =
      Commits(around.files, around.git, around.common_dir).find("refs/heads/" + target.branch);
  if (!tip || !tip->has_value()) return std::nullopt;
  const std::string at = where_files_are(around, checkout, target.commit, **tip);
  if (at == **tip) return std::nullopt;
  const std::vector<std::string> move{"read-tree", "-m", "-u", at, **tip};
  Ran moved = run_in(around, checkout, move);
  if (moved == Ran::failed) {
    // Perhaps only because files look changed that were merely touched.
    (void)run_in(around, checkout, {"update-index", "-q", "--refresh"});
    moved = run_in(around, checkout, move);
  }
  if (moved == Ran::done) return std::nullopt;
  (void)run_in(around, checkout,
               {"update-ref", "--no-deref", "-m", "dibs: left where it was", "HEAD", at});
  return left_behind(checkout, target, at, "switch " + shell_word(target.branch), moved);
}

// The remote's branch moved; the user's own of that name is brought along where it only lags
// behind.
std::optional<std::string> catch_up(const Surroundings& around, const Target& target,
                                    const std::string& commit) {
  const std::string ref = "refs/heads/" + target.branch;
  const Commits commits(around.files, around.git, around.common_dir);
  const Result<std::optional<std::string>> own = commits.find(ref);
  if (!own || !own->has_value()) return std::nullopt;
  const Result<bool> lags = commits.is_ancestor(**own, commit);
  if (!lags || !*lags) return std::nullopt;
  const Result<std::optional<FoundWorktree>> checkout = Worktrees(around).on_branch(target.branch);
  if (!checkout) return std::nullopt;
  if (!checkout->has_value()) {
    (void)GitLocalRefs(around.files, around.git, around.common_dir)
        .move({{.name = ref, .from = **own, .to = commit}}, "dibs: follow " + target.remote);
    return std::nullopt;
  }
  const Repository& place = (*checkout)->repository;
  const Ran moved = run_in(around, place, {"merge", "--ff-only", "--quiet", "--no-stat", commit});
  if (moved == Ran::done) return std::nullopt;
  return left_behind(place, target, **own,
                     "merge --ff-only " + shell_word(target.remote + "/" + target.branch), moved);
}

}  // namespace

std::optional<std::string> bring_checkout_along(const Surroundings& around, const Target& target,
                                                const std::string& commit) {
  // One at a time: several landings at once would find each other's index locked.
  const auto turn = lock_worktrees(around);
  if (!turn)
    return fmt::format("your checkout of {} stays: {}", printable(target.branch),
                       turn.error().message);
  if (!target.remote.empty()) return catch_up(around, target, commit);
  const Result<std::optional<FoundWorktree>> checkout = Worktrees(around).on_branch(target.branch);
  if (!checkout || !checkout->has_value()) return std::nullopt;
  return follow(around, (*checkout)->repository, target);
}

}  // namespace dibs::verbs
