#include "verbs/observe.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
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
  const auto timed = static_cast<double>(count(Counter::acquisitions_timed));
  return timed == 0 ? 0.0
                    : static_cast<double>(count(Counter::acquisition_micros)) / timed / 1000.0;
}

namespace {

// How often each operation happened, up to an entry. Derived from the store's history and kept, so
// that the next question reads only what came since.
struct Totals {
  std::uint64_t seq = 0;
  OpTotals ops{};
};

constexpr std::size_t kTotalsFileMax = 4096;

std::string to_json(const Totals& totals) {
  JsonObject ops;
  for (std::size_t i = 0; i < kOpCount; ++i)
    ops.add(name_of(static_cast<Op>(i)), std::uint64_t{totals.ops[i]});
  return JsonObject()
      .add("schema_version", 1)
      .add("sequence", totals.seq)
      .add_raw("operations", ops.text())
      .text();
}

// From the start when there is none or it cannot be read: it is derived.
Totals read_totals(FileSystem& files, const std::string& path) {
  const Result<std::optional<std::string>> text = files.read_file(path, kTotalsFileMax);
  if (!text || !text->has_value()) return {};
  const Result<Json> json = parse_json(**text);
  if (!json || unsigned_member(*json, "schema_version") != 1) return {};
  const auto seq = unsigned_member(*json, "sequence");
  if (!seq || !json->contains("operations")) return {};
  Totals totals{.seq = *seq, .ops = {}};
  for (std::size_t i = 0; i < kOpCount; ++i) {
    const std::string name(name_of(static_cast<Op>(i)));
    totals.ops[i] = unsigned_member((*json)["operations"], name.c_str()).value_or(0);
  }
  return totals;
}

Result<OpTotals> count_operations(Workspace& workspace) {
  const Result<std::string> directory = workspace.directory();
  if (!directory) return fail(directory.error());
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  Store& store = (*ledger)->store();
  FileSystem& files = workspace.system().files;
  const std::string path = *directory + "/totals.json";

  Totals totals = read_totals(files, path);
  Result<History> since = store.history({.since = {totals.seq}, .newest = kAllEvents});
  if (since && since->cursor.seq < totals.seq) {
    totals = {};  // of a store that was replaced by another
    since = store.history({.since = {}, .newest = kAllEvents});
  }
  if (!since) return fail(since.error());
  for (const PastEvent& past : since->events) ++totals.ops[static_cast<std::size_t>(past.event.op)];
  if (since->cursor.seq == totals.seq) return totals.ops;
  totals.seq = since->cursor.seq;
  // Where it cannot be kept, the next question counts again.
  (void)files.replace_file(path, to_json(totals) + "\n", workspace.file_mode());
  return totals.ops;
}

}  // namespace

Result<Metrics> metrics(Workspace& workspace) {
  Metrics metrics;
  const Result<Counters*> counters = workspace.counters();
  if (!counters) return fail(counters.error());
  metrics.counts = (*counters)->read();
  const Result<OpTotals> ops = count_operations(workspace);
  if (!ops) return fail(ops.error());
  metrics.ops = *ops;
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
