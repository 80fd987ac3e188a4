#include "verbs/merge_driver.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "items/file_merge.h"

namespace dibs::verbs {

namespace {

constexpr std::size_t kFileBytesMax = 256UL * 1024 * 1024;
constexpr unsigned kUsualMode = 0644;
constexpr std::size_t kClashesNamed = 5;

std::string absolute(const System& system, const std::string& path) {
  return path.starts_with('/') ? path : system.current_directory + "/" + path;
}

Result<std::string> contents(System& system, const std::string& path) {
  Result<std::optional<std::string>> text = system.files.read_file(path, kFileBytesMax);
  if (!text) return fail(text.error());
  if (text->has_value()) return **std::move(text);
  return fail(ErrorKind::usage, fmt::format("there is no file {}", printable(path)),
              "git calls it: git config merge.dibs.driver \"dibs merge-driver %O %A %B %P\"");
}

Result<FileVersions> read_versions(System& system, const MergeFiles& files) {
  Result<std::string> base = contents(system, files.base);
  if (!base) return fail(base.error());
  Result<std::string> ours = contents(system, files.ours);
  if (!ours) return fail(ours.error());
  Result<std::string> theirs = contents(system, files.theirs);
  if (!theirs) return fail(theirs.error());
  return FileVersions{.base = *std::move(base),
                      .ours = *std::move(ours),
                      .theirs = *std::move(theirs),
                      .path = files.path};
}

Result<MergedFile> merged_by_field(const MergeFiles& files, const FileVersions& versions) {
  const MergeFormat* format = format_at(files.path);
  if (format == nullptr) return fail(ErrorKind::refused, "it is no file of items that dibs knows");
  return format->merge(versions);
}

// By lines, as git does where nobody else is asked.
Done merge_by_line(Workspace& workspace, const MergeFiles& files, const std::string& why) {
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const Result<ProgramEnd> end = workspace.system().git.run(
      {.git_dir = (*repository)->common_dir,
       .arguments = {"merge-file", "-L", "ours", "-L", "base", "-L", "theirs", "--", files.ours,
                     files.base, files.theirs},
       .input = {}});
  if (!end) return fail(end.error());
  if (end->succeeded()) return {};
  return fail(ErrorKind::internal,
              fmt::format("{} cannot be merged by field: {}", printable(files.path), why),
              fmt::format("mend it by hand, and then: git add {}", shell_word(files.path)));
}

Error clash_error(const MergeFiles& files, std::vector<std::string> clashes) {
  const std::size_t more = clashes.size() - std::min(clashes.size(), kClashesNamed);
  clashes.resize(clashes.size() - more);
  return {
      .kind = ErrorKind::internal,
      .message = printable(fmt::format("both sides changed, in {}: {}{}", files.path,
                                       fmt::join(clashes, "; "),
                                       more == 0 ? "" : fmt::format("; {} more", more))),
      .hint = fmt::format("choose between the marks, and then: git add {}", shell_word(files.path)),
      .fields = {}};
}

Done replace_ours(System& system, const MergeFiles& files, const std::string& text) {
  const Result<std::optional<FileStatus>> status = system.files.status(files.ours);
  const unsigned mode = status && status->has_value() ? (*status)->mode & 0777U : kUsualMode;
  return system.files.replace_file(files.ours, text, mode);
}

}  // namespace

Done merge_files(Workspace& workspace, const MergeFiles& named) {
  System& system = workspace.system();
  const MergeFiles files{.base = absolute(system, named.base),
                         .ours = absolute(system, named.ours),
                         .theirs = absolute(system, named.theirs),
                         .path = named.path};
  const Result<FileVersions> versions = read_versions(system, files);
  if (!versions) return fail(versions.error());
  const Result<MergedFile> merged = merged_by_field(files, *versions);
  if (!merged) return merge_by_line(workspace, files, merged.error().message);
  if (Done written = replace_ours(system, files, merged->text); !written) return written;
  if (merged->clashes.empty()) return {};
  return fail(clash_error(files, merged->clashes));
}

}  // namespace dibs::verbs
