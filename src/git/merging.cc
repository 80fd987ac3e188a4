#include "git/merging.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace dibs {

namespace {

constexpr std::size_t kCommitsMax = 1000;  // of one rebase
constexpr std::size_t kSubjectsMax = 50;   // listed in a squash

}  // namespace

std::optional<LandMode> parse_land_mode(std::string_view name) {
  if (name == "merge") return LandMode::merge;
  if (name == "rebase") return LandMode::rebase;
  if (name == "squash") return LandMode::squash;
  return std::nullopt;
}

Result<std::string> Merging::ask(std::vector<std::string> arguments, std::string_view input) const {
  Result<std::string> out =
      git_.output_of({.git_dir = git_dir_, .arguments = std::move(arguments), .input = input},
                     ErrorKind::internal);
  if (!out) return out;
  return std::string(trim(*out));
}

Result<std::vector<std::string>> Merging::commits_to_land(const MergeRequest& request) const {
  return list({request.branch, "^" + request.target});
}

Result<std::vector<std::string>> Merging::changed_paths(const std::string& from,
                                                        const std::string& to) const {
  const Result<std::string> out = git_.output_of(
      {.git_dir = git_dir_,
       .arguments = {"diff-tree", "-r", "-z", "--no-renames", "--name-only", from, to},
       .input = {}},
      ErrorKind::internal);
  if (!out) return fail(out.error());
  std::vector<std::string> paths;
  for (const std::string_view path : split(*out, '\0')) {
    if (!path.empty()) paths.emplace_back(path);
  }
  return paths;
}

Result<std::vector<std::string>> Merging::list(const std::vector<std::string>& which) const {
  std::vector<std::string> arguments{"rev-list", "--reverse", "--topo-order",
                                     fmt::format("--max-count={}", kCommitsMax + 1)};
  arguments.insert(arguments.end(), which.begin(), which.end());
  const Result<std::string> out = ask(std::move(arguments));
  if (!out) return fail(out.error());
  std::vector<std::string> commits;
  for (const std::string_view line : split(*out, '\n')) {
    if (!line.empty()) commits.emplace_back(line);
  }
  return commits;
}

Result<Merging::MergedTree> Merging::merged_tree(const std::string& ours,
                                                 const std::string& theirs) const {
  std::vector<std::string> settings{as_git_setting(flushing_)};
  if (moved_folders_ == MovedFolders::stay) settings.emplace_back("merge.directoryRenames=false");
  const Result<ProgramEnd> end =
      git_.run({.git_dir = git_dir_,
                .arguments = {"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z",
                              ours, theirs},
                .input = {},
                .settings = std::move(settings)});
  if (!end) return fail(end.error());
  const bool conflicts = end->cut == ProgramEnd::Cut::no && end->exit_code == 1;
  if (!end->succeeded() && !conflicts) {
    return fail(ErrorKind::refused, fmt::format("git cannot merge that: {}", complaint_of(*end)),
                "merge the target into your branch yourself, then try again");
  }
  // The tree, then the paths that conflict; each ends with a zero byte.
  MergedTree merged;
  const std::vector<std::string_view> fields = split(end->out, '\0');
  if (!conflicts) {
    merged.tree = fields.front();
    return merged;
  }
  for (std::size_t i = 1; i < fields.size(); ++i) {
    const bool known = std::ranges::find(merged.conflicts, fields[i]) != merged.conflicts.end();
    if (!fields[i].empty() && !known) merged.conflicts.emplace_back(fields[i]);
  }
  return merged;
}

Result<std::string> Merging::commit(const NewCommit& commit) const {
  std::vector<std::string> arguments{"commit-tree", commit.tree};
  for (const std::string& parent : commit.parents)
    arguments.insert(arguments.end(), {"-p", parent});
  arguments.insert(arguments.end(), {"-F", "-"});
  const Result<ProgramEnd> end = git_.run({.git_dir = git_dir_,
                                           .arguments = std::move(arguments),
                                           .input = commit.message,
                                           .environment = commit.environment,
                                           .settings = {as_git_setting(flushing_)}});
  if (!end) return fail(end.error());
  if (end->succeeded()) return std::string(trim(end->out));
  return fail(ErrorKind::refused, fmt::format("git cannot commit: {}", complaint_of(*end)),
              "tell git who you are: git config user.name NAME && git config user.email EMAIL");
}

Result<std::string> Merging::with_trailers(const std::string& message,
                                           const MergeRequest& request) const {
  // One line has no trailers yet that git would have to look for.
  if (!contains(trim(message), "\n"))
    return fmt::format("{}\n\n{}\n", trim(message), fmt::join(request.trailers, "\n"));
  std::vector<std::string> arguments{"interpret-trailers", "--if-exists", "replace"};
  for (const std::string& trailer : request.trailers)
    arguments.insert(arguments.end(), {"--trailer", trailer});
  // In no repository and without settings: those may name commands that make trailers of their own.
  return git_.output_of(
      {.git_dir = "/dev/null",
       .arguments = std::move(arguments),
       .input = message + "\n",
       .directory = git_dir_,
       .environment = {"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"}},
      ErrorKind::internal);
}

Result<MergeEnd> Merging::merge(const MergeRequest& request) const {
  return request.mode == LandMode::rebase ? rebase(request) : merge_or_squash(request);
}

Result<MergeEnd> Merging::merge_or_squash(const MergeRequest& request) const {
  Result<MergedTree> merged = request.tree.empty()
                                  ? merged_tree(request.target, request.branch)
                                  : MergedTree{.tree = request.tree, .conflicts = {}};
  if (!merged) return fail(merged.error());
  if (merged->tree.empty())
    return MergeEnd{.commit = {}, .conflicts = std::move(merged->conflicts), .at = {}};
  const bool squash = request.mode == LandMode::squash;
  const Result<std::string> plain =
      squash ? squash_message(request) : Result<std::string>(request.subject);
  if (!plain) return fail(plain.error());
  const Result<std::string> message = with_trailers(*plain, request);
  if (!message) return fail(message.error());
  NewCommit made{
      .tree = merged->tree, .parents = {request.target}, .message = *message, .environment = {}};
  if (!squash) made.parents.push_back(request.branch);
  const Result<std::string> commit = this->commit(made);
  if (!commit) return fail(commit.error());
  return MergeEnd{.commit = *commit, .conflicts = {}, .at = {}};
}

// A single commit speaks for itself; of several, the subjects are listed.
Result<std::string> Merging::squash_message(const MergeRequest& request) const {
  // A path leaves out commits that change nothing, such as the one that a claim branch begins with.
  const Result<std::vector<std::string>> commits =
      list({request.branch, "^" + request.target, "--", ":/"});
  if (!commits) return fail(commits.error());
  if (commits->size() == 1) return ask({"log", "-1", "--format=%B", commits->front()});
  std::string message = request.subject + "\n\n";
  for (std::size_t i = 0; i < std::min(commits->size(), kSubjectsMax); ++i) {
    const Result<std::string> subject = ask({"log", "-1", "--format=%s", (*commits)[i]});
    if (!subject) return fail(subject.error());
    message += fmt::format("- {}\n", *subject);
  }
  return message;
}

// What `commit` changed, done to `onto`. A stand-in with onto's tree and the commit's parent makes
// that parent the merge base.
Result<Merging::MergedTree> Merging::picked(const std::string& onto,
                                            const std::string& commit) const {
  const Result<std::string> stand_in = this->commit({.tree = onto + "^{tree}",
                                                     .parents = {commit + "^"},
                                                     .message = "stand-in",
                                                     .environment = {}});
  if (!stand_in) return fail(stand_in.error());
  return merged_tree(*stand_in, commit);
}

// What has to be carried over when a commit is made anew.
Result<Merging::Described> Merging::described(const std::string& commit) const {
  const Result<std::string> told =
      ask({"log", "-1", "--date=raw", "--format=parents %P%n%an%n%ae%n%ad%n%B", commit});
  if (!told) return fail(told.error());
  constexpr std::size_t kHeaders = 4;
  const std::vector<std::string_view> lines = split(*told, '\n');
  if (lines.size() <= kHeaders) return fail(ErrorKind::internal, "git log said too little");
  // "parents" stands there alone when there is none.
  Described described{.parents = split(trim(lines[0]), ' ').size() - 1,
                      .message = {},
                      .author = {fmt::format("GIT_AUTHOR_NAME={}", lines[1]),
                                 fmt::format("GIT_AUTHOR_EMAIL={}", lines[2]),
                                 fmt::format("GIT_AUTHOR_DATE={}", lines[3])}};
  for (std::size_t i = kHeaders; i < lines.size(); ++i)
    described.message += std::string(lines[i]) + "\n";
  described.message = trim(described.message);
  return described;
}

Result<MergeEnd> Merging::rebase(const MergeRequest& request) const {
  const Result<std::vector<std::string>> commits = commits_to_land(request);
  if (!commits) return fail(commits.error());
  if (commits->size() > kCommitsMax) {
    return fail(ErrorKind::refused,
                fmt::format("the branch has more than {} commits of its own", kCommitsMax),
                "land it with --mode merge or --mode squash");
  }
  std::string tip = request.target;
  for (const std::string& commit : *commits) {
    Result<MergeEnd> end = put_on(tip, commit, request);
    if (!end || end->commit.empty()) return end;
    tip = std::move(end->commit);
  }
  return MergeEnd{.commit = tip, .conflicts = {}, .at = {}};
}

// One commit of a rebase. Stays at `tip` if there is nothing to add.
Result<MergeEnd> Merging::put_on(const std::string& tip, const std::string& commit,
                                 const MergeRequest& request) const {
  const Result<Described> described = this->described(commit);
  if (!described) return fail(described.error());
  MergeEnd nothing_to_add{.commit = tip, .conflicts = {}, .at = {}};
  if (described->parents > 1) return nothing_to_add;  // what a merge brought is there or comes
  if (described->parents == 0) {
    return fail(ErrorKind::refused, "the branch has a commit without a parent",
                "land it with --mode merge");
  }
  Result<MergedTree> merged = picked(tip, commit);
  if (!merged) return fail(merged.error());
  if (merged->tree.empty())
    return MergeEnd{.commit = {}, .conflicts = std::move(merged->conflicts), .at = commit};
  const Result<std::string> before = ask({"rev-parse", tip + "^{tree}"});
  if (!before) return fail(before.error());
  if (*before == merged->tree) return nothing_to_add;
  const Result<std::string> message = with_trailers(described->message, request);
  if (!message) return fail(message.error());
  const Result<std::string> made = this->commit({.tree = merged->tree,
                                                 .parents = {tip},
                                                 .message = *message,
                                                 .environment = described->author});
  if (!made) return fail(made.error());
  return MergeEnd{.commit = *made, .conflicts = {}, .at = {}};
}

}  // namespace dibs
