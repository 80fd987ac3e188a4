// The states that items go through, as a table: which there are, what each means, and where one may
// go from there. A team writes its own in `.dibs/workflow.toml`, or names a preset there:
//
//   preset = "folders"
//
//   initial = "ready"
//   [[state]]
//   name = "ready"
//   kind = "open"             # open, active, waiting, done or dropped
//   to = ["in_review", "done"]
//   blocked_as = "backlog"    # what it is called while it waits for other items
//   held_as = "in_progress"   # what it is called while somebody holds it
//   lands_as = "done"         # what it becomes when its work lands; else the first that is done
//   claim = "indevelopment"   # the first half of its branch with store.layout = "branches"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/item.h"
#include "model/state_kind.h"

namespace dibs {

inline constexpr std::size_t kStatesMax = 64;

struct WorkState {
  std::string name;
  StateKind kind = StateKind::open;
  std::vector<std::string> to;
  std::string blocked_as = {};
  std::string held_as = {};
  std::string lands_as = {};
  std::string claim = {};

  friend bool operator==(const WorkState&, const WorkState&) = default;
};

class Workflow {
 public:
  // backlog, ready, in_progress, in_review, done, rejected, pending.
  [[nodiscard]] static const Workflow& standard();
  // Seed 000's: from new/ to archive/production/.
  [[nodiscard]] static const Workflow& folders();
  [[nodiscard]] static Result<Workflow> parse(std::string_view toml, const std::string& file);
  [[nodiscard]] static Result<Workflow> of(std::string initial, std::vector<WorkState> states);

  [[nodiscard]] const std::vector<WorkState>& states() const { return states_; }
  [[nodiscard]] const std::string& initial() const { return initial_; }
  // Null when there is no such state.
  [[nodiscard]] const WorkState* find(std::string_view name) const;
  // The same by an item's state, where empty is the first. A state that the table does not have
  // (another tool's) is nobody's to take and nothing's end.
  [[nodiscard]] StateKind kind_of(std::string_view state) const;
  // Where something closed goes: the first state that is `done`, or `dropped`.
  [[nodiscard]] std::optional<std::string> first_of(StateKind kind) const;

  // Where an item goes when its work lands.
  [[nodiscard]] std::string landed_from(std::string_view state) const;

  struct Circumstances {
    bool blocked = false;
    bool held = false;
  };
  // What the state is called then: ready, backlog or in_progress.
  [[nodiscard]] std::string shown(std::string_view state, Circumstances now) const;

  // The item in its new state; refused with the legal ones when the table has no such move. What
  // has waited goes back to where it was.
  [[nodiscard]] Result<Item> moved(Item item, std::string_view to) const;
  [[nodiscard]] std::vector<std::string> moves_from(const Item& item) const;

 private:
  Workflow(std::string initial, std::vector<WorkState> states)
      : initial_(std::move(initial)), states_(std::move(states)) {}

  std::string initial_;
  std::vector<WorkState> states_;
};

}  // namespace dibs
