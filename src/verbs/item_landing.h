// What becomes of items when the work on them lands: their state goes on, in the same step as the
// target branch. Only where items are synced by hand, leases being on a remote, it is a step after.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "items/item_sync.h"
#include "model/ref_move.h"
#include "verbs/opened_items.h"

namespace dibs::verbs {

class ItemLanding {
 public:
  // `target` is how the target branch is to move. Nothing when dibs knows none of the items, or all
  // are finished already. Refused when the state of one cannot go on from here. Nobody else changes
  // items while it exists.
  [[nodiscard]] static Result<std::optional<ItemLanding>> prepare(
      Workspace& workspace, const std::vector<std::string>& names, const RefMove& target);

  // Adds what moves in the same step; where items lie on the target, that goes one commit further.
  void join(std::vector<RefMove>& moves) const;
  // Afterwards: what could not be part of that step.
  [[nodiscard]] Done finish(Workspace& workspace);
  // That step was not to be, because something had moved: perhaps the remote's items.
  void look_again();
  // What the item becomes; empty when it is none of those.
  [[nodiscard]] std::string state_of(const std::string& item) const;

 private:
  struct Onward {
    StoredItem stored;
    std::string to;
  };
  struct AllOnward {
    OpenedItems items;
    std::vector<Onward> each;
    bool on_target = false;  // items lie on the branch that moves
  };
  [[nodiscard]] static Result<AllOnward> onward(Workspace& workspace,
                                                const std::vector<std::string>& names,
                                                const RefMove& target);
  [[nodiscard]] static Result<ItemSource::Batch> batch_of(Workspace& workspace,
                                                          const AllOnward& going);
  // False when the remote's items have to be looked at first; that is done then.
  [[nodiscard]] Result<bool> join_remote();
  ItemLanding(OpenedItems items, ItemSource::Batch batch, std::optional<ItemSync> sync)
      : items_(std::move(items)), batch_(std::move(batch)), sync_(std::move(sync)) {}

  OpenedItems items_;
  ItemSource::Batch batch_;
  std::optional<ItemSource::Prepared> prepared_;
  std::optional<ItemSync> sync_;      // where leases are on a remote, and items a ref there
  std::optional<RefMove> on_remote_;  // how that ref moves
};

// For an item whose work is on the target while the item still says otherwise.
[[nodiscard]] Done close_landed(Workspace& workspace, OpenedItems& items, const ItemId& item);

}  // namespace dibs::verbs
