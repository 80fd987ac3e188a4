// Items from and to the files of other tools.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "items/broken_item.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

struct Exchange {
  std::string format;  // beads, aitasks or json
  std::string path;
};

struct Imported {
  std::size_t added = 0;
  std::size_t changed = 0;
  std::size_t unchanged = 0;
  std::vector<BrokenItem> broken;  // left out
};
// In one commit where the source has commits. What is there already becomes as the file has it.
[[nodiscard]] Result<Imported> import_items(Workspace& workspace, const Exchange& request);

// All items; how many there were.
[[nodiscard]] Result<std::size_t> export_items(Workspace& workspace, const Exchange& request);

}  // namespace dibs::verbs
