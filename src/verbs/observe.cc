#include "verbs/observe.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

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

/// What a reader who follows has not been shown yet.
class Following {
 public:
  Following(Store& store, HistoryQuery query) : store_(store), query_(std::move(query)) {}

  Result<std::vector<PastEvent>> begin() {
    const std::size_t limit = query_.newest;
    Result<History> history = store_.history(query_);
    query_.newest = kAllEvents;
    // All of them, so that it is known later what is new.
    if (history && history->may_be_late) history = store_.history(query_);
    if (!history) return fail(history.error());
    std::vector<PastEvent> events = unseen(*std::move(history));
    keep_newest(events, limit);
    return events;
  }
  Result<std::vector<PastEvent>> next() {
    const Result<Cursor> cursor = store_.wait(cursor_, kFollowWaitMs);
    if (!cursor) return fail(cursor.error());
    Result<History> history = store_.history(query_);
    if (!history) return fail(history.error());
    return unseen(*std::move(history));
  }

 private:
  std::vector<PastEvent> unseen(History history) {
    cursor_ = history.cursor;
    if (history.may_be_late) {
      std::erase_if(history.events, [&](const PastEvent& past) {
        return !shown_.insert(dibs::to_json(past)).second;
      });
    } else {
      query_.since = history.cursor;
    }
    return std::move(history.events);
  }

  Store& store_;
  HistoryQuery query_;
  Cursor cursor_;
  std::set<std::string> shown_;  // where numbers do not tell
};
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
  const Result<HistoryQuery> query = query_for(request);
  if (!query) return fail(query.error());
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  Following following((*ledger)->store(), *query);
  Result<std::vector<PastEvent>> events = following.begin();
  while (events) {
    for (const PastEvent& event : *events) {
      if (!on_event(event)) return {};
    }
    events = following.next();
  }
  return fail(events.error());
}

double Metrics::average_acquisition_ms() const {
  const auto timed = static_cast<double>(count(Counter::acquisitions_timed));
  return timed == 0 ? 0.0
                    : static_cast<double>(count(Counter::acquisition_micros)) / timed / 1000.0;
}

std::optional<double> Metrics::success_rate() const {
  const std::uint64_t asked = granted + count(Counter::conflicts);
  if (asked == 0) return std::nullopt;
  return static_cast<double>(granted) / static_cast<double>(asked);
}

std::optional<double> Metrics::contention() const {
  if (granted == 0) return std::nullopt;
  return static_cast<double>(count(Counter::conflicts)) / static_cast<double>(granted);
}

Finished& Finished::operator+=(const Finished& other) {
  landed += other.landed;
  released += other.released;
  return *this;
}

namespace {

constexpr std::int64_t kSpanMs = 600'000;  // ten minutes
constexpr std::int64_t kSpansPerHour = 6;
constexpr std::int64_t kSpansPerDay = 24 * kSpansPerHour;

// What ended in each ten minutes of the last day, by their number since 1970.
using Spans = std::map<std::int64_t, Finished>;

// How often each operation happened, up to an entry. Derived from the store's history and kept, so
// that the next question reads only what came since.
struct Totals {
  std::uint64_t seq = 0;
  OpTotals ops{};
  Spans spans;
};

constexpr std::size_t kTotalsFileMax = 16UL * 1024;

std::string to_json(const Totals& totals) {
  JsonObject ops;
  for (std::size_t i = 0; i < kOpCount; ++i)
    ops.add(name_of(static_cast<Op>(i)), std::uint64_t{totals.ops[i]});
  JsonArray spans;
  for (const auto& [span, finished] : totals.spans)
    spans.add_raw(fmt::format("[{},{},{}]", span, finished.landed, finished.released));
  return JsonObject()
      .add("schema_version", 1)
      .add("sequence", totals.seq)
      .add_raw("operations", ops.text())
      .add_raw("finished", spans.text())
      .text();
}

std::optional<Spans> spans_of(const Json& json) {
  if (!json.is_array()) return std::nullopt;
  Spans spans;
  for (const Json& entry : json) {
    const bool fits = entry.is_array() && entry.size() == 3 &&
                      std::ranges::all_of(entry, &Json::is_number_unsigned);
    if (!fits) return std::nullopt;
    spans[entry[0].get<std::int64_t>()] = {.landed = entry[1].get<std::uint64_t>(),
                                           .released = entry[2].get<std::uint64_t>()};
  }
  return spans;
}

// From the start when there is none or it cannot be read: it is derived.
Totals read_totals(FileSystem& files, const std::string& path) {
  const Result<std::optional<std::string>> text = files.read_file(path, kTotalsFileMax);
  if (!text || !text->has_value()) return {};
  const Result<Json> json = parse_json(**text);
  if (!json || unsigned_member(*json, "schema_version") != 1) return {};
  const auto seq = unsigned_member(*json, "sequence");
  if (!seq || !json->contains("operations") || !json->contains("finished")) return {};
  std::optional<Spans> spans = spans_of((*json)["finished"]);
  if (!spans) return {};
  Totals totals{.seq = *seq, .ops = {}, .spans = *std::move(spans)};
  for (std::size_t i = 0; i < kOpCount; ++i) {
    const std::string name(name_of(static_cast<Op>(i)));
    totals.ops[i] = unsigned_member((*json)["operations"], name.c_str()).value_or(0);
  }
  return totals;
}

void count(Totals& totals, const PastEvent& past) {
  ++totals.ops[static_cast<std::size_t>(past.event.op)];
  if (past.event.op == Op::land) ++totals.spans[past.unix_ms / kSpanMs].landed;
  if (past.event.op == Op::release) ++totals.spans[past.unix_ms / kSpanMs].released;
}

Result<Totals> count_operations(Workspace& workspace, Counting counting) {
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
  for (const PastEvent& past : since->events) count(totals, past);
  const std::int64_t now_span = workspace.system().clock.now().unix_ms / kSpanMs;
  std::erase_if(totals.spans, [&](const auto& entry) {
    return entry.first <= now_span - kSpansPerDay || entry.first > now_span;
  });
  if (since->cursor.seq == totals.seq || counting == Counting::passing) return totals;
  totals.seq = since->cursor.seq;
  // Where it cannot be kept, the next question counts again.
  (void)files.replace_file(path, to_json(totals) + "\n", workspace.file_mode());
  return totals;
}

void add_finished(Metrics& metrics, const Spans& spans, std::int64_t now_ms) {
  for (const auto& [span, finished] : spans) {
    metrics.last_day += finished;
    if (span > now_ms / kSpanMs - kSpansPerHour) metrics.last_hour += finished;
  }
}

// What is on the board, by how it stands.
Done add_leases(Metrics& metrics, Workspace& workspace, std::int64_t now_ms) {
  const Result<std::vector<ListedLease>> held = list(workspace, {});
  if (!held) return fail(held.error());
  metrics.active = held->size();
  for (const ListedLease& entry : *held)
    metrics.longest_held_ms =
        std::max(metrics.longest_held_ms, now_ms - entry.lease.acquired_unix_ms);
  const Result<std::vector<ListedLease>> stale =
      list(workspace, {.agent_id = {}, .stale = true, .own_session = false});
  if (!stale) return fail(stale.error());
  metrics.stale = stale->size();
  return {};
}

// Too few say nothing about a rate.
constexpr std::uint64_t kAttemptsForARate = 20;

}  // namespace

std::vector<Alert> alerts_of(const Metrics& metrics, const Settings& settings) {
  std::vector<Alert> alerts;
  const auto limit = [&](const char* key) {
    return static_cast<std::uint64_t>(settings.integer(key));
  };
  if (const auto most = limit("metrics.max_stale"); most > 0 && metrics.stale > most) {
    alerts.push_back({.about = Alert::About::stale,
                      .what = fmt::format("{} leases have ended or gone stale and are still "
                                          "listed, more than metrics.max_stale ({})",
                                          metrics.stale, most),
                      .fix = "dibs claim cleanup"});
  }
  const std::uint64_t attempts = metrics.granted + metrics.count(Counter::conflicts);
  const auto least_pct = limit("metrics.min_success_pct");
  if (least_pct > 0 && attempts >= kAttemptsForARate &&
      metrics.granted * 100 < least_pct * attempts) {
    alerts.push_back(
        {.about = Alert::About::success_rate,
         .what = fmt::format("only {} of {} claims on this clone were granted, less than "
                             "metrics.min_success_pct ({})",
                             metrics.granted, attempts, least_pct),
         .fix = "see what is fought over: dibs claim list"});
  }
  constexpr std::int64_t kHourMs = 3'600'000;
  const auto most_hours = limit("metrics.max_held_hours");
  if (most_hours > 0 && metrics.longest_held_ms > static_cast<std::int64_t>(most_hours) * kHourMs) {
    alerts.push_back({.about = Alert::About::held_long,
                      .what = fmt::format("a lease has been held for {}, longer than "
                                          "metrics.max_held_hours ({})",
                                          duration_text(metrics.longest_held_ms), most_hours),
                      .fix = "see whose it is: dibs claim list"});
  }
  return alerts;
}

Result<Metrics> metrics(Workspace& workspace, Counting counting) {
  Metrics metrics;
  const Result<Counters*> counters = workspace.counters();
  if (!counters) return fail(counters.error());
  metrics.counts = (*counters)->read();
  const Result<Totals> totals = count_operations(workspace, counting);
  if (!totals) return fail(totals.error());
  metrics.ops = totals->ops;
  const Result<const StoreBackend*> backend = workspace.backend();
  if (!backend) return fail(backend.error());
  metrics.granted =
      (*backend)->is_remote ? metrics.count(Counter::granted) : metrics.count(Op::acquire);
  const std::int64_t now_ms = workspace.system().clock.now().unix_ms;
  add_finished(metrics, totals->spans, now_ms);
  if (Done added = add_leases(metrics, workspace, now_ms); !added) return fail(added.error());
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  metrics.alerts = alerts_of(metrics, **settings);
  return metrics;
}

}  // namespace dibs::verbs
