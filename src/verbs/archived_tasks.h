// Tasks that the other tool on a shared lock branch has put into its archive. A lock that is still
// there for one of them was forgotten.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rules/board.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

/// The id of each archived task, and the file that shows it.
using ArchivedTasks = std::map<std::string, std::string, std::less<>>;

// From the names of files: aitasks/archived/t42_name.md is task 42, and
// aitasks/archived/t42/t42_1_name.md its child 42_1.
[[nodiscard]] ArchivedTasks archived_in(std::string_view names_by_nul);

// As the commit that is checked out has them. None where leases are not on a lock branch.
[[nodiscard]] Result<ArchivedTasks> archived_tasks(Workspace& workspace);

// Marks the leases on archived tasks as over: those without a time limit, as the others end by
// themselves.
void note_archived(Board& board, const ArchivedTasks& archived);

}  // namespace dibs::verbs
