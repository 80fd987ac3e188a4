#include "items/source_site.h"

#include <fmt/core.h>

#include "base/text.h"

namespace dibs {

namespace {

constexpr char kFieldEnd = '\x1f';
constexpr std::size_t kHistoryMax = 10'000;

std::optional<ItemRevision> revision_of(std::string_view record) {
  const std::vector<std::string_view> parts = split(trim(record), kFieldEnd);
  if (parts.size() != 4) return std::nullopt;
  const auto seconds = parse_unsigned(parts[1]).value_or(0);
  return ItemRevision{.commit = std::string(parts[0]),
                      .unix_ms = static_cast<std::int64_t>(seconds) * 1000,
                      .by = std::string(parts[2]),
                      .message = std::string(parts[3])};
}

}  // namespace

std::string path_below(const std::string& folder, const std::string& below) {
  std::string path = folder.empty() ? below : folder + "/" + below;
  while (path.ends_with('/')) path.pop_back();
  return path;
}

Done read_folder(SourceFiles& files, const std::string& folder, const std::string& below,
                 const std::function<std::optional<ItemId>(std::string_view)>& wanted,
                 FolderTexts& into) {
  const std::string path = path_below(folder, below);
  const Result<std::vector<std::string>> names = files.names_in(path);
  if (!names) return fail(names.error());
  for (const std::string& name : *names) {
    const std::optional<ItemId> id = wanted(below + name);
    if (!id) continue;
    if (into.files.size() == kSourceFilesMax)
      return fail(ErrorKind::refused, fmt::format("{} has too many files", folder));
    const auto text = files.read(path_below(path, name), kItemFileBytesMax);
    if (text && *text) into.files.push_back({.name = below + name, .text = **text});
    if (!text)
      into.broken.push_back(
          {.file = below + name, .line = 0, .why = text.error().message, .id = *id});
  }
  return {};
}

Result<std::vector<ItemRevision>> file_history(const SourceSite& site, const std::string& file,
                                               const std::string& line, std::size_t most) {
  std::vector<std::string> words{"log", "-z", "--format=%H%x1f%at%x1f%an%x1f%s",
                                 fmt::format("--max-count={}", std::min(most, kHistoryMax))};
  words.emplace_back(line.empty() ? "--follow" : "-G" + line);
  words.insert(words.end(), {site.tip, "--", file});
  const Result<ProgramEnd> log = site.git.run({.git_dir = site.git_dir,
                                               .arguments = std::move(words),
                                               .input = {},
                                               .work_tree = site.work_tree,
                                               .environment = {"GIT_LITERAL_PATHSPECS=1"}});
  if (!log) return fail(log.error());
  std::vector<ItemRevision> history;
  if (!log->succeeded()) return history;  // without a commit there is none
  for (const std::string_view record : split(log->out, '\0')) {
    if (auto revision = revision_of(record)) history.push_back(*std::move(revision));
  }
  return history;
}

}  // namespace dibs
