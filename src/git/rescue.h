// Work that is in no commit, kept before its worktree goes away.
//
// A snapshot is one commit under refs/dibs/rescue/LABEL/ULID, made like a stash: its tree is the
// work tree byte for byte, its parents are HEAD and a commit of the index, so that
// `git stash apply` understands it too. Behind the index commit hang what else would be lost: the
// index as a listing, the sparse patterns, commits that no ref holds, and snapshots of submodules.
// One ref holds it all, so that it is kept or dropped as one. docs/formats/rescue-refs.md has the
// details.
//
//   Result<std::optional<Rescued>> kept = rescue.snapshot(worktree, {.label = "42", .why = "…"});
//   if (kept && *kept) say((*kept)->name);   // and the worktree may go
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "git/repository.h"
#include "git/surroundings.h"

namespace dibs {

struct KeepRequest {
  std::string label;  // what it is found under: an item, a branch, a worktree
  std::string why;
  std::string agent = {};
  std::vector<std::string> going = {};  // refs that will be deleted, such as refs/heads/dibs/42
  std::vector<std::string> landed =
      {};  // commits that need not be kept, in whatever form they went
};

/// What a snapshot says about itself.
struct RescueNote {
  struct Submodule {
    std::string path;
    std::string name;    // of its git directory below modules/
    std::string commit;  // its snapshot
  };

  std::string label;
  std::string why;
  std::string agent;
  std::string worktree_id;
  std::string path;    // of the worktree
  std::string branch;  // empty when HEAD was detached
  std::string head;    // empty when there was no commit yet
  std::string index;   // the commit of the index
  std::string things;  // the commit whose tree holds the listing and what belongs to it
  std::string url;     // submodules: of their origin
  std::int64_t unix_ms = 0;
  std::size_t tracked = 0;
  std::size_t untracked = 0;
  std::vector<std::pair<std::string, std::string>> refs;  // submodules: their own, and where
  std::vector<Submodule> submodules;
};
[[nodiscard]] std::string to_message(const RescueNote& note);
[[nodiscard]] std::optional<RescueNote> parse_rescue_message(std::string_view message);

struct Rescued {
  std::string name;  // LABEL/ULID, as people type it
  std::string commit;
  RescueNote note;
};

class Rescue {
 public:
  explicit Rescue(Surroundings around) : around_(std::move(around)) {}

  // Keeps everything that would be lost with the worktree, on disk when it returns. Nothing when
  // there is nothing: no change, and every commit on a ref that stays. Touches neither the files
  // nor the user's index. Refused when there is something that git cannot keep.
  [[nodiscard]] Result<std::optional<Rescued>> snapshot(const Repository& worktree,
                                                        const KeepRequest& request);
  // Oldest first.
  [[nodiscard]] Result<std::vector<Rescued>> list() const;
  // By its name, or by the last part of it alone.
  [[nodiscard]] Result<Rescued> find(const std::string& name) const;
  [[nodiscard]] Result<Rescued> drop(const std::string& name);

 private:
  Surroundings around_;
};

inline constexpr std::string_view kRescuePrefix = "refs/dibs/rescue/";

}  // namespace dibs
