// What the commits of a branch brought, told without git as long as nobody has packed what it takes
// to know: work that lands was made a while ago, and `git log` costs more than all that it looks
// at.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "git/work_flush.h"
#include "sys/file_system.h"

namespace dibs {

// As brought_by; nothing where git has to be asked: something is packed, history is long, or its
// times run backwards.
[[nodiscard]] std::optional<BroughtWork> brought_loose(FileSystem& files,
                                                       const std::string& common_dir,
                                                       const std::string& work,
                                                       const std::vector<std::string>& others);

}  // namespace dibs
