// The command-line front: words in, exit code out.
#pragma once

#include <string>
#include <vector>

#include "verbs/workspace.h"

namespace dibs::cli {

[[nodiscard]] int run(const std::vector<std::string>& arguments, const System& system,
                      const std::vector<StoreBackend>& backends, std::string_view version);

}  // namespace dibs::cli
