// What becomes of an item when its work lands: its state goes on, in the same step as the target
// branch where the store is on this machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/ref_move.h"
#include "verbs/opened_items.h"

namespace dibs::verbs {

class ItemLanding {
 public:
  // `target` is how the target branch is to move. Nothing when dibs does not know the item, or it
  // is finished already. Refused when its state cannot go on from here. Nobody else changes items
  // while it exists.
  [[nodiscard]] static Result<std::optional<ItemLanding>> prepare(Workspace& workspace,
                                                                  const std::string& item,
                                                                  const RefMove& target);

  // Adds what moves in the same step; where items lie on the target, that goes one commit further.
  void join(std::vector<RefMove>& moves) const;
  // Afterwards: what could not be part of that step.
  [[nodiscard]] Done finish(Workspace& workspace);
  [[nodiscard]] const std::string& state() const { return batch_.changes.front().item.state; }

 private:
  struct Onward {
    OpenedItems items;
    StoredItem stored;
    std::string to;
    bool on_target = false;  // items lie on the branch that moves
  };
  [[nodiscard]] static Result<std::optional<Onward>> onward(Workspace& workspace,
                                                            const std::string& item,
                                                            const RefMove& target);
  ItemLanding(OpenedItems items, ItemSource::Batch batch)
      : items_(std::move(items)), batch_(std::move(batch)) {}

  OpenedItems items_;
  ItemSource::Batch batch_;
  std::optional<ItemSource::Prepared> prepared_;
};

}  // namespace dibs::verbs
