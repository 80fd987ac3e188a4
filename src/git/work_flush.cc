#include "git/work_flush.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "git/loose_work.h"

namespace dibs {

namespace {

bool is_object_name(std::string_view word) {
  constexpr std::size_t kSha1Hex = 40;
  return word.size() >= kSha1Hex &&
         word.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// "COMMIT TREE", or "::MODE… OBJECT… LETTERS\tPATH" with what it became behind what it was, once
// for every parent.
void add_line(std::string_view line, BroughtWork& brought) {
  std::vector<std::string_view> names;
  for (const std::string_view word : split(line.substr(0, line.find('\t')), ' ')) {
    if (is_object_name(word)) names.push_back(word);
  }
  if (names.empty()) return;
  if (line.starts_with(':')) {
    brought.objects.emplace_back(names.back());
    return;
  }
  ++brought.commits;
  brought.objects.insert(brought.objects.end(), names.begin(), names.end());
}

// One diff a commit finds what is new without reading what both sides have.
Result<BroughtWork> told_by_git(const GitProgram& git, const std::string& git_dir,
                                const std::string& work, const std::vector<std::string>& others) {
  BroughtWork brought;
  const auto take_lines = [&](std::string& said) {
    const std::size_t whole = said.rfind('\n') + 1;
    const std::string_view lines = std::string_view(said).substr(0, whole);
    for (const std::string_view line : split(lines, '\n')) add_line(line, brought);
    said.erase(0, whole);
  };
  std::vector<std::string> arguments{"log", "--format=%H %T", "--raw",       "-r", "-t",
                                     "-c",  "--no-renames",   "--no-abbrev", work};
  for (const std::string& other : others) arguments.push_back("^" + other);
  const Result<std::string> rest = git.output_of(
      {.git_dir = git_dir, .arguments = std::move(arguments), .input = {}, .heard = take_lines},
      ErrorKind::internal);
  if (!rest) return fail(rest.error());
  return brought;
}

}  // namespace

Result<BroughtWork> brought_by(FileSystem& files, const GitProgram& git,
                               const std::string& common_dir, const std::string& work,
                               const std::vector<std::string>& others) {
  std::optional<BroughtWork> loose = brought_loose(files, common_dir, work, others);
  Result<BroughtWork> brought =
      loose ? Result<BroughtWork>(*std::move(loose)) : told_by_git(git, common_dir, work, others);
  if (!brought) return brought;
  std::ranges::sort(brought->objects);
  const auto again = std::ranges::unique(brought->objects);
  brought->objects.erase(again.begin(), again.end());
  return brought;
}

Done flush_objects(FileSystem& files, const std::string& common_dir,
                   const std::vector<std::string>& objects) {
  std::vector<std::string> paths;  // where there is none, it is in a pack, or a submodule's
  for (const std::string& name : objects)
    paths.push_back(common_dir + "/objects/" + name.substr(0, 2) + "/" + name.substr(2));
  return files.sync_all(paths);
}

}  // namespace dibs
