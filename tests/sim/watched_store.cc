#include "watched_store.h"

#include <algorithm>

#include "store/claims_index.h"

namespace dibs::sim {

namespace {

bool wants(const Selection& selection, const Record& record) {
  return selection.mentioning ||
         std::ranges::find(selection.keys, record.key) != selection.keys.end();
}

// What the index says, as if nothing had come after it.
void leave_out_the_tail(View& view, const Selection& selection, Process& process) {
  const std::unique_ptr<ClaimsIndex> index =
      ClaimsIndex::open(process.files(), "/repo/.git/dibs/claims.index.json");
  if (!index) return;
  const Result<std::vector<Record>> records = index->mentioning("");
  if (!records) return;
  view.records.clear();
  for (const Record& record : *records) {
    if (wants(selection, record)) view.records.push_back(record);
  }
}

}  // namespace

Result<View> WatchedStore::read(const Selection& selection) {
  site_.catch_up(witness_);
  const Sighting looked_at = witness_.chronicle().sighting(site_.in_sight(witness_));
  Result<View> view = inner_->read(selection);
  if (!view) return view;
  if (process_.bug() == Bug::the_index_without_the_tail)
    leave_out_the_tail(*view, selection, process_);
  if (process_.bug() == Bug::no_skew_margin) view->margin_ms = 0;
  asked_.now = view->now;
  asked_.margin_ms = view->margin_ms;
  asked_.last_look = view->last_look;
  asked_.looked_at = looked_at;
  cursor_ = view->cursor.seq;
  return view;
}

Result<Outcome> WatchedStore::commit(const Transaction& transaction) {
  witness_.sent(transaction, asked_);
  Result<Outcome> outcome = spoiled(transaction);
  if (!outcome) return outcome;
  const Bug bug = process_.bug();
  const bool lost = std::holds_alternative<LostRace>(*outcome);
  const bool unknown = std::holds_alternative<OutcomeUnknown>(*outcome);
  if ((lost && bug == Bug::a_lost_race_is_success) || (unknown && bug == Bug::unknown_is_success))
    return Committed{Fence{cursor_ + 1}};
  const auto* committed = std::get_if<Committed>(&*outcome);
  if (committed != nullptr && bug == Bug::the_fence_before)
    return Committed{Fence{committed->fence.value - 1}};
  return outcome;
}

Result<Outcome> WatchedStore::spoiled(const Transaction& transaction) {
  if (process_.bug() == Bug::answers_again_without_a_flush && transaction.writes.empty())
    return Committed{Fence{cursor_}};
  if (process_.bug() != Bug::no_version_check) return inner_->commit(transaction);
  Transaction careless = transaction;
  careless.expectations.clear();
  return inner_->commit(careless);
}

}  // namespace dibs::sim
