// Processes that are known by what stands in their environment: that is how the children of a run
// are found whose run was killed, and those that left their process group.
#pragma once

#include <sys/types.h>

#include <string_view>
#include <vector>

namespace dibs {

// Children of this process, adopted ones included.
[[nodiscard]] std::vector<pid_t> own_children();

// Those that run a program of that name, as far as we may see them.
[[nodiscard]] std::vector<pid_t> processes_named(std::string_view name);

// Whether it was started with NAME=value; false where that cannot be seen.
[[nodiscard]] bool has_variable(pid_t pid, std::string_view variable);

// All that were started with NAME=value, as far as we may see them, without ourselves.
[[nodiscard]] std::vector<pid_t> processes_with(std::string_view variable);

// Lets them go on if they were stopped.
void wake_processes_with(std::string_view variable);

// Asks them to end, waits a little, and kills what is left; how many there were.
[[nodiscard]] std::size_t end_processes_with(std::string_view variable);

}  // namespace dibs
