// What becomes of an item when its work lands: its state goes on, in the same step as the target
// branch where the store is on this machine.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "model/ref_move.h"
#include "verbs/opened_items.h"

namespace dibs::verbs {

class ItemLanding {
 public:
  // Nothing when dibs does not know the item, or it is finished already. Refused when its state
  // cannot go on from here. Nobody else changes items while it exists.
  [[nodiscard]] static Result<std::optional<ItemLanding>> prepare(Workspace& workspace,
                                                                  const std::string& item);

  // What moves in the same step.
  [[nodiscard]] std::optional<RefMove> move() const;
  // Afterwards: what could not be part of that step.
  [[nodiscard]] Done finish(Workspace& workspace);
  [[nodiscard]] const std::string& state() const { return batch_.changes.front().item.state; }

 private:
  ItemLanding(OpenedItems items, ItemSource::Batch batch)
      : items_(std::move(items)), batch_(std::move(batch)) {}

  OpenedItems items_;
  ItemSource::Batch batch_;
  std::optional<ItemSource::Prepared> prepared_;
};

}  // namespace dibs::verbs
