// Where a source in the work tree lies, and what it needs to read and write there.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "git/git_program.h"
#include "items/found_items.h"
#include "items/source_files.h"
#include "sys/file_system.h"

namespace dibs {

struct SourceSite {
  FileSystem& files;
  const GitProgram& git;
  std::string git_dir;
  std::string work_tree;
  std::string lock_file;     // held while something is read, compared and written
  std::string tip = "HEAD";  // the commit whose history counts
};

/// A folder's files, and those that could not be read.
struct FolderTexts {
  std::vector<TextFile> files;
  std::vector<BrokenItem> broken;
};

// "" is the top; a slash at the end is left out.
[[nodiscard]] std::string path_below(const std::string& folder, const std::string& below);

// Those of the folder's files that `wanted` takes by their names; `below` is a folder in it, with
// its slash, or empty. No folder, no files.
[[nodiscard]] Done read_folder(SourceFiles& files, const std::string& folder,
                               const std::string& below,
                               const std::function<std::optional<ItemId>(std::string_view)>& wanted,
                               FolderTexts& into);
// The commits that changed a file, newest first; with `line`, only those that
// changed a line which that regular expression fits.
[[nodiscard]] Result<std::vector<ItemRevision>> file_history(const SourceSite& site,
                                                             const std::string& file,
                                                             const std::string& line,
                                                             std::size_t most);

}  // namespace dibs
