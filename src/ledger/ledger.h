// The loop that every change goes through: read a view, let a rule decide, commit what it decided,
// and decide again when somebody else was faster. Which store runs below and which rule decides are
// both no concern of it.
//
//   Ledger ledger(store, clock, random, machine);
//   auto grants = ledger.settle<Grants>(Selection::of({key}), [&](const Board& board) {
//     return acquire(board, request);
//   });
#pragma once

#include <functional>
#include <optional>

#include "base/result.h"
#include "rules/board.h"
#include "rules/claim.h"
#include "store/store.h"
#include "sys/clock.h"
#include "sys/machine.h"
#include "sys/randomness.h"

namespace dibs {

class Ledger {
 public:
  Ledger(Store& store, Clock& clock, Random& random, Machine& machine)
      : store_(store), clock_(clock), random_(random), machine_(machine) {}

  template <class Reply>
  struct Settled {
    Reply reply;
    std::optional<Fence> fence;  // of the commit; none when there was nothing to write
  };

  template <class Reply>
  [[nodiscard]] Result<Settled<Reply>> settle(
      const Selection& selection,
      const std::function<Result<Decision<Reply>>(const Board&)>& decide) {
    std::optional<Reply> reply;
    const Judge judge = [&](const Board& board) -> Result<Changes> {
      Result<Decision<Reply>> decision = decide(board);
      if (!decision) return fail(decision.error());
      reply = std::move(decision->reply);
      return std::move(decision->changes);
    };
    Result<std::optional<Fence>> fence = settle_changes(selection, judge);
    if (!fence) return fail(fence.error());
    return Settled<Reply>{.reply = *std::move(reply), .fence = *fence};
  }

  // Makes what can be read about `key` durable, for an answer that repeats an earlier one: whoever
  // wrote it may have died before its flush.
  [[nodiscard]] Done confirm(const Key& key);

  // The board as it is now, for commands that only look.
  [[nodiscard]] Result<Board> look(const Selection& selection);

  [[nodiscard]] Store& store() { return store_; }

 private:
  using Judge = std::function<Result<Changes>(const Board&)>;

  [[nodiscard]] Result<std::optional<Fence>> settle_changes(const Selection& selection,
                                                            const Judge& judge);
  [[nodiscard]] Result<Board> board_of(const View& view);
  [[nodiscard]] std::optional<std::string> how_it_ended(const ProcessTie& process,
                                                        const View& view);
  [[nodiscard]] Result<std::optional<Fence>> fence_of(const Transaction& transaction,
                                                      const Outcome& outcome);
  // After an unknown outcome: the fence if it happened, nothing if it did not and may be tried
  // again.
  [[nodiscard]] Result<std::optional<Fence>> look_for(const Transaction& transaction,
                                                      const std::string& why);

  Store& store_;
  Clock& clock_;
  Random& random_;
  Machine& machine_;
};

}  // namespace dibs
