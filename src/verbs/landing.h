// From an item to the target branch: `start` claims it and makes a worktree, `done` lands what was
// done there, `abandon` gives it up. Work is never lost on the way: what does not land is kept on a
// rescue ref.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "git/merging.h"
#include "git/rescue.h"
#include "rules/claim.h"
#include "verbs/claim.h"
#include "verbs/work_site.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

struct Start {
  std::string item;
  std::optional<std::string> path;
  std::optional<std::int64_t> ttl_secs;
  Strategy strategy = Strategy::fail_fast;
  std::optional<std::int64_t> pid;
  std::string reason;
};
struct Started {
  HeldLease held;
  std::string path;
  std::string branch;
  std::string target;  // the branch it started from
  std::string base;    // the commit
};
// Asked again, it answers with the worktree that was made before.
[[nodiscard]] Result<Started> start(Workspace& workspace, const Start& request);

struct Land {
  std::optional<std::string> item;              // none: what is held from this worktree
  std::optional<LandMode> mode = std::nullopt;  // none: as the settings say
  enum class Afterwards { remove_worktree, keep_worktree };
  Afterwards afterwards = Afterwards::remove_worktree;
  enum class Gates { pass, skip };
  Gates gates = Gates::pass;
  std::string reason = {};  // why gates are skipped; needed if one is required
};
struct Landed {
  Key item;
  LeaseId lease;
  std::string commit;
  std::string target;
  std::string path;
  bool worktree_removed = false;
  std::string item_state;            // what the item became; empty when dibs does not know it
  bool already = false;              // it had landed before; what was left to do is done now
  std::optional<Rescued> leftovers;  // of files that were in no commit
  std::vector<std::string> notes;    // about the user's own checkout of the target
};
[[nodiscard]] Result<Landed> land(Workspace& workspace, const Land& request);

/// What `done` would land now, as far as git is concerned.
struct LandingPreview {
  std::string target;  // the branch
  std::string commit;  // that it would stand at
  std::string work;    // the worker's own commit
};
[[nodiscard]] Result<LandingPreview> preview_landing(Workspace& workspace, const WorkSite& site);

struct Abandon {
  std::optional<std::string> item;
  std::string reason;
};
struct Abandoned {
  Key item;
  bool released = false;  // false: the lease was lost before
  std::string path;
  bool worktree_removed = false;
  std::optional<Rescued> rescue;
};
[[nodiscard]] Result<Abandoned> abandon(Workspace& workspace, const Abandon& request);

}  // namespace dibs::verbs
