#include "verbs/next.h"

#include <algorithm>

#include "verbs/field.h"
#include "verbs/item_landing.h"
#include "verbs/item_sync.h"
#include "verbs/item_view.h"
#include "verbs/worker.h"
#include "verbs/worker_kinds.h"

namespace dibs::verbs {

namespace {

constexpr int kTriesMax = 1000;  // races lost, each for another item

// Only where it can decide anything: history is the one thing here that grows without end. Who of
// several gets an item is to be decided even when it is the only one.
Done learn_past(Workspace& workspace, const Weights& weights, std::vector<AskingWorker>& asking,
                Field& field) {
  if (weights.success == 0 && weights.same_files == 0) return {};
  if (asking.empty() || (asking.size() == 1 && !field.is_close())) return {};
  for (WorkerNumber number = 0; number < asking.size(); ++number) {
    Result<WorkerPast> past = past_of(workspace, asking[number], field.catalog());
    if (!past) return fail(past.error());
    asking[number].worker.record = std::move(past->record);
    Done known = field.know_files_of(number, past->worked_on);
    if (!known) return known;
  }
  return {};
}

Done strike_out(Field& field, const std::vector<std::string>& items) {
  for (const std::string& item : items) {
    const Result<std::optional<std::uint32_t>> number = field.catalog().find(item);
    if (!number) return fail(number.error());
    if (number->has_value()) field.strike(**number);
  }
  return {};
}

// Between the look and the lease somebody may have finished it, or reopened what it waits for.
Result<bool> is_still_ready(const OpenedItems& items, const Catalog& seen, const ItemId& id) {
  Result<bool> unchanged = items.source->is_up_to_date(seen);
  if (!unchanged || *unchanged) return unchanged;
  const Result<Catalog> now = items.catalog();
  if (!now) return fail(now.error());
  const Result<std::optional<std::uint32_t>> number = now->find(id.text);
  if (!number) return fail(number.error());
  if (!number->has_value()) return false;
  const Result<Item> card = now->card(**number);
  if (!card) return fail(card.error());
  if (items.workflow->kind_of(card->state) != StateKind::open) return false;
  const Result<std::vector<WaitsFor>> waits = waits_of(*now, *items.workflow, *card);
  if (!waits) return fail(waits.error());
  return waits->empty();
}

// Where leases are on a remote, this clone may not have heard yet that an item's work has landed.
// Its leases tell at once.
Result<bool> has_landed_since(Workspace& workspace, const OpenedItems& items, const Item& card) {
  const Result<const StoreBackend*> backend = workspace.backend();
  if (!backend) return fail(backend.error());
  if (!(*backend)->is_remote || items.target) return false;
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  HistoryQuery query;
  query.resource = Key{"item:" + card.id.text};
  query.newest = 1;
  query.ops = {Op::land};
  const Result<History> history = (*ledger)->store().history(query);
  if (!history) return fail(history.error());
  return !history->events.empty() && history->events.back().unix_ms > card.updated_unix_ms;
}

/// How trying to take an item went.
struct Taking {
  bool taken = false;
  std::optional<HeldLease> held;
  std::optional<Started> started;
  std::optional<Error> gate;  // that kept it from becoming work
};

bool is_of_a_gate(const Error& error) {
  return error.kind == ErrorKind::refused &&
         std::ranges::any_of(error.fields, [](const ErrorField& f) { return f.name == "gate"; });
}

Result<Taking> take(Workspace& workspace, const Next& request, const ItemId& id) {
  Taking taking;
  if (request.take == Next::Take::worktree) {
    Start start_request{.item = id.text};
    start_request.ttl_secs = request.ttl_secs;
    start_request.pid = request.pid;
    start_request.reason = request.reason;
    Result<Started> started = start(workspace, start_request);
    if (!started && is_of_a_gate(started.error())) {
      taking.gate = started.error();
      return taking;
    }
    if (!started && started.error().kind != ErrorKind::held) return fail(started.error());
    taking.taken = started.has_value() && !started->held.already_held;
    if (started) taking.started = *std::move(started);
    return taking;
  }
  Acquire acquire_request;
  acquire_request.resources = {"item:" + id.text};
  acquire_request.ttl_secs = request.ttl_secs;
  acquire_request.pid = request.pid;
  acquire_request.reason = request.reason;
  Result<Grants> grants = acquire(workspace, acquire_request);
  if (!grants && grants.error().kind != ErrorKind::held) return fail(grants.error());
  taking.taken = grants.has_value() && !grants->front().already_held;
  if (grants) taking.held = grants->front();
  return taking;
}

Done give_back(Workspace& workspace, const Taking& taking) {
  if (taking.started) {
    const Result<Abandoned> given = abandon(
        workspace, {.item = taking.started->held.resource.text, .reason = "it was done already"});
    return given ? Done{} : Done(fail(given.error()));
  }
  const Result<Released> released = release(workspace, taking.held->lease.id.text);
  return released ? Done{} : Done(fail(released.error()));
}

// Not taken when somebody was faster, be it to take it or to finish it; then a claim is refused, or
// comes too late.
Result<Taking> take_if_ready(Workspace& workspace, OpenedItems& items, const Catalog& seen,
                             const Next& request, const Item& card) {
  const ItemId& id = card.id;
  Result<Taking> taking = take(workspace, request, id);
  const bool refused = !taking && taking.error().kind == ErrorKind::refused;
  if (!refused && (!taking || !taking->taken)) return taking;
  const Result<bool> ready = is_still_ready(items, seen, id);
  if (!ready) return fail(ready.error());
  const Result<bool> landed = has_landed_since(workspace, items, card);
  if (!landed) return fail(landed.error());
  if (*ready && !*landed) return taking;
  // Whoever landed it may have been cut short before it was closed.
  if (*ready) {
    if (Done closed = close_landed(workspace, items, id); !closed)
      workspace.warn(closed.error().message);
  }
  if (refused) return Taking{};
  if (Done given = give_back(workspace, *taking); !given) return fail(given.error());
  return Taking{};
}

std::vector<Worker> workers_of(const std::vector<AskingWorker>& asking) {
  std::vector<Worker> workers;
  for (const AskingWorker& one : asking) workers.push_back(one.worker);
  return workers;
}

Result<std::vector<Weighed>> named(const Catalog& catalog, const std::vector<AskingWorker>& asking,
                                   const std::vector<Scored>& scored) {
  std::vector<Weighed> weighed;
  for (const Scored& entry : scored) {
    Result<std::string> id = catalog.id(entry.item);
    if (!id) return fail(id.error());
    weighed.push_back({.id = {*std::move(id)},
                       .worker = asking.empty() ? "" : asking[entry.worker].kind,
                       .score = entry.score,
                       .overlap = entry.overlap});
  }
  return weighed;
}

}  // namespace

Result<NextItem> next(Workspace& workspace, const Next& request) {
  if (request.take != Next::Take::nothing) look_for_items(workspace);
  Result<OpenedItems> items = open_items(workspace);
  if (!items) return fail(items.error());
  Result<std::vector<AskingWorker>> asking = workers_asking(workspace, request.workers);
  if (!asking) return fail(asking.error());
  const Result<Schedule> schedule = schedule_of(workspace);
  if (!schedule) return fail(schedule.error());
  Result<Catalog> catalog = items->catalog();
  if (!catalog) return fail(catalog.error());
  Field field(workspace, *std::move(catalog), request.labels);
  if (Done opened = field.open(); !opened) return fail(opened.error());
  if (Done struck = strike_out(field, request.except); !struck) return fail(struck.error());
  Done learnt = learn_past(workspace, schedule->weights, *asking, field);
  if (!learnt) return fail(learnt.error());
  const std::vector<Worker> workers = workers_of(*asking);
  std::optional<Error> gate;  // the first one's: what nobody may begin keeps nobody from the rest
  for (int tries = 0; tries < kTriesMax; ++tries) {
    Result<Choice> choice = field.choose(workers, *schedule);
    if (!choice) return fail(choice.error());
    if (!choice->chosen) return fail(gate.value_or(nothing_ready(request.labels, request.workers)));
    const ItemNumber chosen = choice->chosen->item;
    Result<Item> card = field.catalog().card(chosen);
    if (!card) return fail(card.error());
    const AskingWorker whose = asking->empty() ? AskingWorker{} : (*asking)[choice->chosen->worker];
    Taking taking;
    if (request.take != Next::Take::nothing) {
      if (!whose.kind.empty()) workspace.act_as(whose.agent);
      Result<Taking> taken = take_if_ready(workspace, *items, field.catalog(), request, *card);
      if (!taken) return fail(taken.error());
      field.strike(chosen);
      if (taken->gate && !gate) gate = taken->gate;
      if (!taken->taken) continue;
      taking = *std::move(taken);
    }
    Result<Item> whole = whole_item(*items, *std::move(card));
    if (!whole) return fail(whole.error());
    Result<std::vector<Weighed>> runners_up = named(field.catalog(), *asking, choice->runners_up);
    if (!runners_up) return fail(runners_up.error());
    const Workflow::Circumstances now{.blocked = false,
                                      .held = request.take != Next::Take::nothing};
    std::string state = items->workflow->shown(whole->state, now);
    return NextItem{
        .shown = {.item = *std::move(whole), .state = std::move(state), .lease = std::nullopt},
        .worker = whose.kind,
        .model = whose.model,
        .held = std::move(taking.held),
        .started = std::move(taking.started),
        .overlap = choice->chosen->overlap,
        .as = choice->as,
        .score = choice->chosen->score,
        .runners_up = *std::move(runners_up)};
  }
  return fail(ErrorKind::contended, "others were faster, too often", "run the command again");
}

}  // namespace dibs::verbs
