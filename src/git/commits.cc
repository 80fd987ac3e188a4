#include "git/commits.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "git/ref_lookup.h"

namespace dibs {

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, std::min(text.find('\n'), text.size())));
}

GitProgram::Call Commits::call(std::vector<std::string> arguments) const {
  return {.git_dir = git_dir_, .arguments = std::move(arguments), .input = {}};
}

Result<std::optional<std::string>> Commits::find(const std::string& revision) const {
  // A word that git could take for an option names no commit.
  if (revision.empty() || revision.starts_with('-')) return std::nullopt;
  RefAnswer known = look_up_commit(files_, git_dir_, revision);
  if (known.kind == RefAnswer::Kind::found) return std::move(known.text);
  if (known.kind == RefAnswer::Kind::absent) return std::nullopt;
  const Result<ProgramEnd> end =
      git_.run(call({"rev-parse", "--verify", "--quiet", revision + "^{commit}"}));
  if (!end) return fail(end.error());
  if (end->succeeded()) return first_line(end->out);
  if (end->exit_code == 1 && end->cut == ProgramEnd::Cut::no) return std::nullopt;
  return fail(ErrorKind::internal,
              fmt::format("git cannot look up {}: {}", printable(revision), complaint_of(*end)));
}

Result<std::string> Commits::resolve(const std::string& revision) const {
  const Result<std::optional<std::string>> found = find(revision);
  if (!found) return fail(found.error());
  if (found->has_value()) return **found;
  return fail(ErrorKind::not_found, fmt::format("there is no commit {}", printable(revision)),
              "see the branches: git branch --all");
}

Result<bool> Commits::is_ancestor(const std::string& ancestor,
                                  const std::string& descendant) const {
  const Result<ProgramEnd> end =
      git_.run(call({"merge-base", "--is-ancestor", ancestor, descendant}));
  if (!end) return fail(end.error());
  if (end->cut == ProgramEnd::Cut::no && end->exit_code <= 1) return end->exit_code == 0;
  return fail(ErrorKind::internal,
              fmt::format("git cannot compare two commits: {}", complaint_of(*end)));
}

Result<std::optional<std::string>> Commits::symbolic(const std::string& ref) const {
  RefAnswer known = look_up_symbolic(files_, git_dir_, ref);
  if (known.kind == RefAnswer::Kind::found) return std::move(known.text);
  if (known.kind == RefAnswer::Kind::absent) return std::nullopt;
  const Result<ProgramEnd> end = git_.run(call({"symbolic-ref", "--quiet", ref}));
  if (!end) return fail(end.error());
  if (!end->succeeded()) return std::nullopt;
  return first_line(end->out);
}

Result<bool> Commits::all_reachable(const std::vector<std::string>& commits,
                                    const std::vector<std::string>& staying) const {
  std::vector<std::string> asked = commits;
  std::erase_if(asked, [&](const std::string& commit) {
    return std::ranges::find(staying, commit) != staying.end();
  });
  if (asked.empty()) return true;
  std::vector<std::string> arguments{"rev-list", "--max-count=1"};
  arguments.insert(arguments.end(), asked.begin(), asked.end());
  arguments.emplace_back("--not");
  arguments.insert(arguments.end(), staying.begin(), staying.end());
  GitProgram::Call listing = call(arguments);
  listing.environment = {kRefsMayGo};  // what is behind those counts as unreachable, and is kept
  const Result<std::string> left = git_.output_of(listing, ErrorKind::internal);
  if (!left) return fail(left.error());
  return left->empty();
}

}  // namespace dibs
