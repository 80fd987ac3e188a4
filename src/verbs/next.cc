#include "verbs/next.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "model/held_globs.h"
#include "verbs/item_sync.h"
#include "verbs/item_view.h"
#include "verbs/worker.h"

namespace dibs::verbs {

namespace {

constexpr int kTriesMax = 1000;        // races lost, each for another item
constexpr std::size_t kFirstLook = 8;  // leases that are asked for at once; then more

/// The candidates of one call, and what was learnt about them so far. Everything is asked when its
/// turn comes, and once.
class Field {
 public:
  Field(Workspace& workspace, Catalog catalog, const Next& request)
      : workspace_(workspace), catalog_(std::move(catalog)), request_(request) {}

  [[nodiscard]] Done open() {
    Result<Catalog::ReadyOrder> order = catalog_.ready_order();
    if (!order) return fail(order.error());
    order_ = *std::move(order);
    const Result<const ItemColumns*> columns = catalog_.columns();
    if (!columns) return fail(columns.error());
    columns_ = *columns;
    return {};
  }

  [[nodiscard]] Result<Choice> choose(const std::optional<Worker>& worker,
                                      const Schedule& schedule) {
    weighs_ = worker.has_value();
    const Candidates candidates{.order = order_.items,
                                .columns = {.priority = columns_->priorities,
                                            .path_length = order_.path_lengths,
                                            .estimate_min = columns_->estimates_min,
                                            .created_unix_ms = columns_->created_unix_ms},
                                .is_taken = [this](ItemNumber item) { return is_taken(item); },
                                .asked = [this](ItemNumber item) { return asked(item); },
                                .overlaps = [this](ItemNumber item) { return overlaps(item); },
                                .window = weighs_ ? kWindow : kRunnersUpMax + 1};
    Choice choice = dibs::choose(candidates, worker.value_or(Worker{}), schedule,
                                 {.now_unix_ms = workspace_.system().clock.now().unix_ms,
                                  .chance = workspace_.system().random.below(UINT32_MAX)});
    if (problem_) return fail(*problem_);
    return choice;
  }

  // Somebody was faster.
  void strike(ItemNumber item) { taken_[item] = true; }

  [[nodiscard]] const Catalog& catalog() const { return catalog_; }

 private:
  // The predicates of a choice cannot fail; what went wrong is told when it is over.
  template <class T>
  T noted(Result<T> result, T fallback) {
    if (result) return *std::move(result);
    if (!problem_) problem_ = result.error();
    return fallback;
  }

  bool is_taken(ItemNumber item) {
    const auto known = taken_.find(item);
    if (known != taken_.end()) return known->second;
    look_ahead(item);
    return taken_[item];
  }

  // One question to the store for the next few; more of them when many of the best are held.
  void look_ahead(ItemNumber item) {
    const auto at = std::ranges::find(order_.items, item);
    std::vector<std::uint32_t> numbers;
    for (auto next = at; next != order_.items.end() && numbers.size() < look_; ++next) {
      if (!taken_.contains(*next)) numbers.push_back(*next);
    }
    look_ *= 2;
    const Taken held = noted(taken_of(workspace_, catalog_, numbers, 0), Taken{});
    for (const std::uint32_t number : numbers) {
      const std::string id = noted(catalog_.id(number), std::string());
      taken_[number] = is_unwanted(number) || held.contains(id);
    }
  }

  bool is_unwanted(ItemNumber item) {
    if (request_.labels.empty()) return false;
    const Catalog::Words words = noted(catalog_.words(item), Catalog::Words{});
    return std::ranges::any_of(request_.labels, [&](const std::string& label) {
      return std::ranges::find(words.labels, label) == words.labels.end();
    });
  }

  // Where workers are alike, nothing about an item can speak for one of them.
  Asked asked(ItemNumber item) {
    if (!weighs_) return {};
    const Catalog::Words words = noted(catalog_.words(item), Catalog::Words{});
    return {.type = words.type, .needs = needs_of(words.labels), .same_files = false};
  }

  std::optional<std::string> overlaps(ItemNumber item) {
    const auto files = noted(catalog_.files(item), std::vector<std::string_view>());
    if (files.empty()) return std::nullopt;
    const Result<GlobSet> wanted =
        GlobSet::parse(std::vector<std::string>(files.begin(), files.end()));
    if (!wanted) return std::nullopt;  // nobody can say what it means
    learn_held();
    std::vector<std::string_view> texts;
    for (const HeldGlob& held : *held_) texts.push_back(held.glob);
    for (std::size_t from = 0; from < texts.size();) {
      const std::optional<HeldOverlap> found = first_overlap(texts, *wanted, from);
      if (!found) return std::nullopt;
      const HeldGlob& held = (*held_)[found->index];
      if (const std::optional<std::string> agent = holder_of(held.item))
        return fmt::format("{} ({}, held by {})",
                           found->overlap.path.value_or(std::string(held.glob)), held.item, *agent);
      from = found->index + 1;
    }
    return std::nullopt;
  }

  struct HeldGlob {
    std::string_view glob;
    std::string item;
  };

  // What the items that somebody works on say they touch. Whether a lease has ended is asked of
  // those alone that matter: reading one costs more than all globs together.
  void learn_held() {
    if (held_) return;
    held_.emplace();
    const Result<Ledger*> ledger = workspace_.ledger();
    if (!ledger) return;
    const View view = noted((*ledger)->store().read(Selection::everything()), View{});
    for (const Record& record : view.records) {
      const std::optional<Resource> resource = resource_of(record.key);
      if (!resource || resource->kind != ResourceKind::item) continue;
      const auto number = noted(catalog_.find(resource->name), std::optional<std::uint32_t>());
      if (!number) continue;
      for (const std::string_view glob :
           noted(catalog_.files(*number), std::vector<std::string_view>()))
        held_->push_back({.glob = glob, .item = resource->name});
    }
  }

  std::optional<std::string> holder_of(const std::string& item) {
    const auto leases =
        noted(held_among(workspace_, {{"item:" + item}}), std::vector<ListedLease>());
    if (leases.empty()) return std::nullopt;
    return leases.front().lease.agent.text;
  }

  Workspace& workspace_;
  Catalog catalog_;
  const Next& request_;
  Catalog::ReadyOrder order_;
  const ItemColumns* columns_ = nullptr;
  std::map<ItemNumber, bool> taken_;
  std::size_t look_ = kFirstLook;
  bool weighs_ = false;
  std::optional<std::vector<HeldGlob>> held_;
  std::optional<Error> problem_;
};

Error nothing_ready(const Next& request) {
  return {
      .kind = ErrorKind::nothing_ready,
      .message = request.labels.empty() ? "nothing is ready" : "nothing with these labels is ready",
      .hint = "see what waits, and what for: dibs blocked",
      .fields = {}};
}

// Between the look and the lease somebody may have finished it, or reopened what it waits for.
Result<bool> is_still_ready(const OpenedItems& items, const Catalog& seen, const ItemId& id) {
  const Result<bool> unchanged = items.source->is_up_to_date(seen);
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

/// How trying to take an item went.
struct Taking {
  bool taken = false;
  std::optional<HeldLease> held;
  std::optional<Started> started;
};

Result<Taking> take(Workspace& workspace, const Next& request, const ItemId& id) {
  Taking taking;
  if (request.take == Next::Take::worktree) {
    Start start_request{.item = id.text};
    start_request.ttl_secs = request.ttl_secs;
    start_request.pid = request.pid;
    start_request.reason = request.reason;
    Result<Started> started = start(workspace, start_request);
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
Result<Taking> take_if_ready(Workspace& workspace, const OpenedItems& items, const Catalog& seen,
                             const Next& request, const ItemId& id) {
  Result<Taking> taking = take(workspace, request, id);
  const bool refused = !taking && taking.error().kind == ErrorKind::refused;
  if (!refused && (!taking || !taking->taken)) return taking;
  const Result<bool> ready = is_still_ready(items, seen, id);
  if (!ready) return fail(ready.error());
  if (*ready) return taking;
  if (refused) return Taking{};
  if (Done given = give_back(workspace, *taking); !given) return fail(given.error());
  return Taking{};
}

Result<std::vector<Weighed>> named(const Catalog& catalog, const std::vector<Scored>& scored) {
  std::vector<Weighed> weighed;
  for (const Scored& entry : scored) {
    Result<std::string> id = catalog.id(entry.item);
    if (!id) return fail(id.error());
    weighed.push_back({.id = {*std::move(id)}, .score = entry.score, .overlap = entry.overlap});
  }
  return weighed;
}

}  // namespace

Result<NextItem> next(Workspace& workspace, const Next& request) {
  if (request.take != Next::Take::nothing) look_for_items(workspace);
  const Result<OpenedItems> items = open_items(workspace);
  if (!items) return fail(items.error());
  const Result<std::optional<Worker>> worker = worker_asking(workspace);
  if (!worker) return fail(worker.error());
  const Result<Schedule> schedule = schedule_of(workspace);
  if (!schedule) return fail(schedule.error());
  Result<Catalog> catalog = items->catalog();
  if (!catalog) return fail(catalog.error());
  Field field(workspace, *std::move(catalog), request);
  if (Done opened = field.open(); !opened) return fail(opened.error());
  for (int tries = 0; tries < kTriesMax; ++tries) {
    Result<Choice> choice = field.choose(*worker, *schedule);
    if (!choice) return fail(choice.error());
    if (!choice->chosen) return fail(nothing_ready(request));
    const ItemNumber chosen = choice->chosen->item;
    Result<Item> card = field.catalog().card(chosen);
    if (!card) return fail(card.error());
    Taking taking;
    if (request.take != Next::Take::nothing) {
      Result<Taking> taken = take_if_ready(workspace, *items, field.catalog(), request, card->id);
      if (!taken) return fail(taken.error());
      field.strike(chosen);
      if (!taken->taken) continue;
      taking = *std::move(taken);
    }
    Result<Item> whole = whole_item(*items, *std::move(card));
    if (!whole) return fail(whole.error());
    Result<std::vector<Weighed>> runners_up = named(field.catalog(), choice->runners_up);
    if (!runners_up) return fail(runners_up.error());
    const Workflow::Circumstances now{.blocked = false,
                                      .held = request.take != Next::Take::nothing};
    std::string state = items->workflow->shown(whole->state, now);
    return NextItem{
        .shown = {.item = *std::move(whole), .state = std::move(state), .lease = std::nullopt},
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
