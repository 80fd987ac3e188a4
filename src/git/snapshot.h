// Makes the commits of one snapshot, in the repository that a work tree belongs to. Rescue gives it
// a ref; a submodule's hangs on that of the worktree around it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "git/rescue.h"
#include "git/surroundings.h"

namespace dibs {

struct SnapshotRequest {
  RescueNote note;                   // who, why, when; the rest is filled in
  std::vector<std::string> staying;  // the refs that will be left, as for Commits::all_reachable
  std::size_t depth = 0;             // how many submodules we are in
};

struct Snapshot {
  std::string commit;
  RescueNote note;
};

// Nothing when there is nothing to keep.
[[nodiscard]] Result<std::optional<Snapshot>> take_snapshot(const Surroundings& around,
                                                            const Repository& worktree,
                                                            const SnapshotRequest& request);

/// A file of a worktree's private git directory that a snapshot keeps.
struct PrivateFile {
  std::string_view kept_as;
  std::string_view path;
};
inline constexpr std::array<PrivateFile, 3> kPrivateFiles{
    {{.kept_as = "sparse-checkout", .path = "info/sparse-checkout"},
     {.kept_as = "config.worktree", .path = "config.worktree"},
     {.kept_as = "MERGE_MSG", .path = "MERGE_MSG"}}};

}  // namespace dibs
