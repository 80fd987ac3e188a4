#include "verbs/observe.h"

#include <fmt/core.h>

#include "model/resource.h"
#include "verbs/claim.h"

namespace dibs::verbs {

namespace {
constexpr std::size_t kAllEvents = SIZE_MAX;
constexpr std::int64_t kFollowWaitMs = 60'000;

Result<HistoryQuery> query_for(const Events& request) {
  HistoryQuery query{
      .since = {request.since}, .resource = {}, .mentioning = {}, .newest = request.limit};
  if (request.resource) {
    const Result<Resource> resource = parse_resource(*request.resource);
    if (!resource) return fail(resource.error());
    query.resource = resource->key();
  }
  return query;
}
}  // namespace

Result<History> events(Workspace& workspace, const Events& request) {
  const Result<HistoryQuery> query = query_for(request);
  if (!query) return fail(query.error());
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  return (*ledger)->store().history(*query);
}

Done follow_events(Workspace& workspace, const Events& request,
                   const std::function<bool(const PastEvent&)>& on_event) {
  Result<HistoryQuery> query = query_for(request);
  if (!query) return fail(query.error());
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  Store& store = (*ledger)->store();
  while (true) {
    const Result<History> history = store.history(*query);
    if (!history) return fail(history.error());
    for (const PastEvent& event : history->events) {
      if (!on_event(event)) return {};
    }
    query->since = history->cursor;
    query->newest = kAllEvents;
    const Result<Cursor> cursor = store.wait(query->since, kFollowWaitMs);
    if (!cursor) return fail(cursor.error());
  }
}

double Metrics::average_acquisition_ms() const {
  const auto acquired = static_cast<double>(count(Op::acquire));
  return acquired == 0
             ? 0.0
             : static_cast<double>(count(Counter::acquisition_micros)) / acquired / 1000.0;
}

Result<Metrics> metrics(Workspace& workspace) {
  Metrics metrics;
  const Result<Counters*> counters = workspace.counters();
  if (!counters) return fail(counters.error());
  metrics.counts = (*counters)->read();
  const Result<std::vector<ListedLease>> held = list(workspace, {});
  if (!held) return fail(held.error());
  metrics.active = held->size();
  const Result<std::vector<ListedLease>> stale =
      list(workspace, {.agent_id = {}, .stale = true, .own_session = false});
  if (!stale) return fail(stale.error());
  metrics.stale = stale->size();
  return metrics;
}

}  // namespace dibs::verbs
