#include "git/uncommitted.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "git/clean_glance.h"
#include "git/index_file.h"
#include "git/surroundings.h"
#include "sys/scratch.h"

namespace dibs {

namespace {

// The path at the end of a line of `git status --porcelain=v2`, behind this many fields.
std::string_view path_after(std::string_view line, int fields) {
  for (int i = 0; i < fields; ++i) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return line;
    line.remove_prefix(space + 1);
  }
  return line;
}

Uncommitted parse_status(std::string_view out) {
  Uncommitted changes;
  bool old_name = false;  // what follows the entry of a renamed file
  for (const std::string_view line : split(out, '\0')) {
    if (line.empty() || std::exchange(old_name, false)) continue;
    switch (line.front()) {
      case '1':
        changes.tracked.add(path_after(line, 8));
        break;
      case '2':
        changes.tracked.add(path_after(line, 9));
        old_name = true;
        break;
      case 'u':
        changes.tracked.add(path_after(line, 10));
        break;
      case '?':
        changes.untracked.add(path_after(line, 1));
        break;
      default:
        break;
    }
  }
  return changes;
}

// git looks away from what is marked so; an index that holds nothing but these entries, without
// their marks, makes it look.
Result<std::string> look_at(FileSystem& files, const GitProgram& git, const Repository& worktree,
                            const std::vector<IndexEntry>& hidden) {
  std::string lines;
  for (const IndexEntry& entry : hidden) {
    if (entry.skipped() && !is_there(files, worktree.root + "/" + entry.path)) continue;
    lines += index_line(entry);
  }
  if (lines.empty()) return std::string();
  const Result<ScratchDirectory> scratch = ScratchDirectory::make(worktree.git_dir);
  if (!scratch) return fail(scratch.error());
  const std::vector<std::string> index{"GIT_INDEX_FILE=" + scratch->path() + "/index"};
  GitProgram::Call put = whole_tree_call(worktree, {"update-index", "-z", "--index-info"});
  put.environment = index;
  put.input = lines;
  if (const auto done = git.output_of(put, ErrorKind::internal); !done) return done;
  // Entries made by hand look changed until their contents have been compared; an exit of 1 says
  // that some are.
  GitProgram::Call refresh = whole_tree_call(worktree, {"update-index", "-q", "--refresh"});
  refresh.environment = index;
  if (const auto done = git.run(refresh); !done) return fail(done.error());
  GitProgram::Call diff =
      whole_tree_call(worktree, {"diff-files", "-z", "--name-only", "--ignore-submodules=none"});
  diff.environment = index;
  diff.settings.emplace_back("core.sparseCheckout=false");
  return git.output_of(diff, ErrorKind::internal);
}

}  // namespace

void Paths::add(std::string_view path) {
  ++count;
  if (first.size() < kNamedPathsMax) first.emplace_back(path);
}

std::vector<IndexEntry> parse_index_listing(std::string_view listing) {
  std::vector<IndexEntry> entries;
  for (const std::string_view line : split(listing, '\0')) {
    // "H 100644 OBJECT 0\tPATH"
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) continue;
    const std::vector<std::string_view> fields = split(line.substr(0, tab), ' ');
    if (fields.size() != 4 || fields[0].size() != 1 || fields[3].size() != 1) continue;
    entries.push_back({.tag = fields[0][0],
                       .mode = std::string(fields[1]),
                       .object = std::string(fields[2]),
                       .stage = fields[3][0],
                       .path = std::string(line.substr(tab + 1))});
  }
  return entries;
}

Result<std::string> index_listing(const GitProgram& git, const Repository& worktree) {
  return git.output_of(whole_tree_call(worktree, {"ls-files", "-z", "--stage", "-v"}),
                       ErrorKind::internal);
}

std::string index_line(const IndexEntry& entry, std::string_view folder) {
  std::string line = fmt::format("{} {} {}\t", entry.mode, entry.object, entry.stage);
  line += folder;
  line += entry.path;
  line += '\0';
  return line;
}

Result<std::vector<std::string>> untracked_paths(const GitProgram& git,
                                                 const Repository& worktree) {
  const Result<std::string> out =
      git.output_of(whole_tree_call(worktree, {"ls-files", "-z", "--others", "--exclude-standard"}),
                    ErrorKind::internal);
  if (!out) return fail(out.error());
  std::vector<std::string> paths;
  for (const std::string_view path : split(*out, '\0')) {
    if (!path.empty()) paths.emplace_back(path);
  }
  return paths;
}

Result<Uncommitted> uncommitted_in(FileSystem& files, const GitProgram& git,
                                   const Repository& worktree) {
  const std::optional<ReadIndex> read = read_index(files, worktree);
  const std::optional<IndexFile> index = read ? read->parsed() : std::nullopt;
  if (index && !index->has_marked()) return uncommitted_in(files, git, worktree, {});
  const Result<std::string> listing = index_listing(git, worktree);
  if (!listing) return fail(listing.error());
  return uncommitted_in(files, git, worktree, parse_index_listing(*listing));
}

Result<Uncommitted> uncommitted_in(FileSystem& files, const GitProgram& git,
                                   const Repository& worktree, std::vector<IndexEntry> entries) {
  if (entries.empty() && is_plainly_clean(files, worktree)) return Uncommitted{};
  const Result<std::string> status = git.output_of(
      whole_tree_call(worktree, {"status", "--porcelain=v2", "-z", "--untracked-files=all",
                                 "--ignore-submodules=none", "--no-renames"}),
      ErrorKind::internal);
  if (!status) return fail(status.error());
  Uncommitted changes = parse_status(*status);
  std::erase_if(entries, [](const IndexEntry& entry) { return !entry.hidden(); });
  const Result<std::string> differing = look_at(files, git, worktree, entries);
  if (!differing) return fail(differing.error());
  for (const std::string_view path : split(*differing, '\0')) {
    if (!path.empty()) changes.tracked.add(path);
  }
  return changes;
}

}  // namespace dibs
