// Help, manual pages and shell completion, all from the command table.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.h"

namespace dibs::cli {

[[nodiscard]] std::string overview_text();
// The commands of a group: `dibs claim`.
[[nodiscard]] std::string group_text(std::string_view group);
[[nodiscard]] std::string help_text(const Command& command);
[[nodiscard]] std::string exit_codes_text();

// File name and contents of every manual page.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> manual_pages();

// `shell` is bash, zsh or fish.
[[nodiscard]] std::string completion_script(std::string_view shell);

}  // namespace dibs::cli
