#include "git/conflicted_merge.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace dibs {

namespace {

constexpr std::array<std::string_view, 4> kAboutContents{
    "Auto-merging", "CONFLICT (contents)", "CONFLICT (binary)", "CONFLICT (modify/delete)"};

tl::unexpected<Error> cut_short() {
  return fail(ErrorKind::internal, "git merge-tree was cut short");
}

bool is_ordinary(const std::optional<FileVersion>& version) {
  return !version || version->mode == "100644" || version->mode == "100755";
}

// "MODE OBJECT STAGE\tPATH"
bool add_version(std::string_view field, std::vector<ConflictedFile>& files) {
  const std::size_t tab = field.find('\t');
  if (tab == std::string_view::npos) return false;
  const std::vector<std::string_view> words = split(field.substr(0, tab), ' ');
  const std::string_view path = field.substr(tab + 1);
  if (words.size() != 3 || path.empty()) return false;
  if (files.empty() || files.back().path != path)
    files.push_back({.path = std::string(path), .base = {}, .target = {}, .work = {}});
  const FileVersion version{.mode = std::string(words[0]), .object = std::string(words[1])};
  if (words[2] == "1") files.back().base = version;
  if (words[2] == "2") files.back().target = version;
  if (words[2] == "3") files.back().work = version;
  return words[2] == "1" || words[2] == "2" || words[2] == "3";
}

// Each is how many paths, the paths, what kind it is, and a sentence. Whether all are of kinds that
// we know.
Result<bool> all_about_contents(const std::vector<std::string_view>& fields, std::size_t at) {
  bool all = true;
  while (at < fields.size() && !fields[at].empty()) {
    const auto paths = parse_unsigned(fields[at]);
    if (!paths || *paths > fields.size() || at + *paths + 2 >= fields.size()) return cut_short();
    all = all && std::ranges::find(kAboutContents, fields[at + *paths + 1]) != kAboutContents.end();
    at += *paths + 3;
  }
  return all;
}

}  // namespace

Result<ConflictedMerge> parse_conflicted_merge(std::string_view out) {
  const std::vector<std::string_view> fields = split(out, '\0');
  ConflictedMerge merge{.tree = std::string(fields.front()), .files = {}, .about_contents = false};
  std::size_t at = 1;
  for (; at < fields.size() && !fields[at].empty(); ++at) {
    if (!add_version(fields[at], merge.files)) return cut_short();
  }
  if (at >= fields.size()) return cut_short();
  const Result<bool> about_contents = all_about_contents(fields, at + 1);
  if (!about_contents) return fail(about_contents.error());
  merge.about_contents =
      *about_contents && !merge.files.empty() &&
      std::ranges::all_of(merge.files, [](const ConflictedFile& file) {
        return is_ordinary(file.base) && is_ordinary(file.target) && is_ordinary(file.work);
      });
  return merge;
}

Result<ConflictedMerge> ConflictedMerges::merge(const std::string& target,
                                                const std::string& work) const {
  const Result<ProgramEnd> end =
      git_.run({.git_dir = git_dir_,
                .arguments = {"merge-tree", "--write-tree", "-z", "--messages", target, work},
                .input = {},
                .settings = {"core.fsync=all"}});
  if (!end) return fail(end.error());
  const bool conflicts = end->cut == ProgramEnd::Cut::no && end->exit_code == 1;
  if (conflicts) return parse_conflicted_merge(end->out);
  return fail(ErrorKind::refused, fmt::format("git cannot merge that: {}", complaint_of(*end)),
              "merge the target into your branch yourself, then try again");
}

Result<std::string> ConflictedMerges::decided_tree(const std::string& tree,
                                                   const std::vector<DecidedFile>& files,
                                                   const std::string& scratch) const {
  const std::vector<std::string> index{"GIT_INDEX_FILE=" + scratch + "/index"};
  std::string lines;
  for (const DecidedFile& file : files) {
    const std::string nothing(tree.size(), '0');
    lines += file.version
                 ? fmt::format("{} {} 0\t{}", file.version->mode, file.version->object, file.path)
                 : fmt::format("0 {} 0\t{}", nothing, file.path);
    lines += '\0';
  }
  std::string written;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"read-tree", tree},
        std::vector<std::string>{"update-index", "-z", "--index-info"},
        std::vector<std::string>{"write-tree"}}) {
    const Result<std::string> done = git_.output_of(
        {.git_dir = git_dir_,
         .arguments = words,
         .input = words.front() == "update-index" ? std::string_view(lines) : std::string_view(),
         .environment = index,
         .settings = {"core.fsync=all"}},
        ErrorKind::internal);
    if (!done) return fail(done.error());
    written = trim(*done);
  }
  return written;
}

Result<std::string> ConflictedMerges::read(const std::string& object) const {
  return git_.output_of(
      {.git_dir = git_dir_, .arguments = {"cat-file", "blob", object}, .input = {}},
      ErrorKind::internal);
}

Result<std::string> ConflictedMerges::write(std::string_view text) const {
  const Result<std::string> object = git_.output_of({.git_dir = git_dir_,
                                                     .arguments = {"hash-object", "-w", "--stdin"},
                                                     .input = text,
                                                     .settings = {"core.fsync=all"}},
                                                    ErrorKind::internal);
  if (!object) return fail(object.error());
  return std::string(trim(*object));
}

}  // namespace dibs
