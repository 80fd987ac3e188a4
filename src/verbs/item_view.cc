#include "verbs/item_view.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "verbs/item_sync.h"

namespace dibs::verbs {

namespace {

constexpr std::size_t kFirstLook = 32;  // ready items whose leases are asked for at once

using Leases = std::map<std::string, ListedLease>;  // by item

constexpr std::string_view kItemPrefix = "item:";

Result<Leases> leases_of(Workspace& workspace) {
  const Result<std::vector<ListedLease>> all = list(workspace, {});
  if (!all) return fail(all.error());
  Leases leases;
  for (const ListedLease& entry : *all) {
    if (entry.resource.text.starts_with(kItemPrefix))
      leases.emplace(entry.resource.text.substr(kItemPrefix.size()), entry);
  }
  return leases;
}

bool is_blocked(Readiness readiness) {
  return readiness != Readiness::ready && readiness != Readiness::not_open;
}

ShownItem shown(const Workflow& workflow, Item item, const Leases& leases, Readiness readiness) {
  const auto lease = leases.find(item.id.text);
  const bool held = lease != leases.end();
  std::string state = workflow.shown(item.state, {.blocked = is_blocked(readiness), .held = held});
  return {.item = std::move(item),
          .state = std::move(state),
          .lease = held ? std::optional(lease->second) : std::nullopt};
}

bool has_labels(const Item& item, const std::vector<std::string>& labels) {
  return std::ranges::all_of(labels, [&](const std::string& label) {
    return std::ranges::find(item.labels, label) != item.labels.end();
  });
}

bool fits(const ShownItem& entry, const ItemQuery& query, const Workflow& workflow) {
  const bool wanted =
      query.state ? entry.state == *query.state : !is_finished(workflow.kind_of(entry.item.state));
  return wanted && has_labels(entry.item, query.labels);
}

/// Everything that a list of items is made from.
struct Survey {
  OpenedItems items;
  Catalog catalog;
  Standings standings;
  Leases leases;

  [[nodiscard]] Result<ShownItem> at(ItemNumber number) const {
    Result<Item> card = catalog.card(number);
    if (!card) return fail(card.error());
    return shown(*items.workflow, *std::move(card), leases, standings.readiness[number]);
  }
};

Result<Survey> survey_items(Workspace& workspace) {
  Result<OpenedItems> items = open_items(workspace);
  if (!items) return fail(items.error());
  Result<Catalog> catalog = items->catalog();
  if (!catalog) return fail(catalog.error());
  Result<Leases> leases = leases_of(workspace);
  if (!leases) return fail(leases.error());
  Survey survey{.items = *std::move(items),
                .catalog = *std::move(catalog),
                .standings = {},
                .leases = *std::move(leases)};
  const Result<const ItemColumns*> columns = survey.catalog.columns();
  if (!columns) return fail(columns.error());
  survey.standings = standings_of(**columns);
  return survey;
}

std::vector<ItemNumber> by_urgency(const Catalog& catalog, const ItemColumns& columns) {
  std::vector<ItemNumber> numbers;
  for (ItemNumber i = 0; i < catalog.size(); ++i) {
    if (!catalog.is_gone(i)) numbers.push_back(i);
  }
  std::ranges::sort(numbers, {}, [&](ItemNumber i) {
    return std::tuple(columns.priorities[i], columns.created_unix_ms[i], i);
  });
  return numbers;
}

// By urgency, but nothing before what it depends on. The way down is kept by hand: chains may be
// long.
std::vector<ItemNumber> in_dependency_order(const Catalog& catalog, const ItemColumns& columns) {
  const DependencyGraph graph = columns.graph();
  std::vector<bool> seen(catalog.size(), false);
  std::vector<ItemNumber> order;
  std::vector<std::pair<ItemNumber, std::size_t>> way;  // an item, and its next dependency
  for (const ItemNumber first : by_urgency(catalog, columns)) {
    if (!seen[first]) way.emplace_back(first, 0);
    seen[first] = true;
    while (!way.empty()) {
      auto& [item, next] = way.back();
      const auto dependencies = graph.dependencies_of(item);
      if (next == dependencies.size()) {
        if (!catalog.is_gone(item)) order.push_back(item);
        way.pop_back();
        continue;
      }
      const ItemNumber dependency = dependencies[next++];
      if (dependency >= seen.size() || seen[dependency]) continue;
      seen[dependency] = true;
      way.emplace_back(dependency, 0);
    }
  }
  return order;
}

Result<std::vector<std::vector<ItemId>>> named(const Catalog& catalog, const Cycles& cycles) {
  std::vector<std::vector<ItemId>> all;
  for (const Cycle& cycle : cycles.all) {
    std::vector<ItemId>& ids = all.emplace_back();
    for (const ItemNumber number : cycle.members) {
      Result<std::string> id = catalog.id(number);
      if (!id) return fail(id.error());
      ids.push_back({*std::move(id)});
    }
  }
  return all;
}

}  // namespace

Result<std::vector<WaitsFor>> waits_of(const Catalog& catalog, const Workflow& workflow,
                                       const Item& item) {
  std::vector<WaitsFor> waits;
  for (const ItemId& id : item.depends_on) {
    const Result<std::optional<std::uint32_t>> number = catalog.find(id.text);
    if (!number) return fail(number.error());
    if (!number->has_value()) {
      waits.push_back({.id = id, .why = Readiness::dependency_missing, .state = {}});
      continue;
    }
    const Result<Item> card = catalog.card(**number);
    if (!card) return fail(card.error());
    const StateKind kind = workflow.kind_of(card->state);
    if (kind == StateKind::done) continue;
    waits.push_back(
        {.id = id,
         .why = kind == StateKind::dropped ? Readiness::dependency_dropped : Readiness::waits,
         .state = workflow.shown(card->state, {})});
  }
  return waits;
}

Result<ShownItem> shown_now(Workspace& workspace, const OpenedItems& items, const Item& item) {
  const Result<Catalog> catalog = items.catalog();
  if (!catalog) return fail(catalog.error());
  const Result<std::vector<WaitsFor>> waits = waits_of(*catalog, *items.workflow, item);
  if (!waits) return fail(waits.error());
  const Result<Status> now = status(workspace, std::string(kItemPrefix) + item.id.text);
  // What was just changed is changed, whether or not the store can say who holds it.
  const bool unseen = !now && now.error().kind == ErrorKind::unreachable;
  if (!now && !unseen) return fail(now.error());
  if (unseen) workspace.warn("nobody can say who holds it: " + now.error().message);
  Leases leases;
  if (now && !now->leases.empty()) leases.emplace(item.id.text, now->leases.front());
  return shown(*items.workflow, item, leases, waits->empty() ? Readiness::ready : Readiness::waits);
}

Result<ItemListing> list_items(Workspace& workspace, const ItemQuery& query) {
  look_for_items(workspace);
  const Result<Survey> survey = survey_items(workspace);
  if (!survey) return fail(survey.error());
  ItemListing listing;
  const Result<const ItemColumns*> columns = survey->catalog.columns();
  if (!columns) return fail(columns.error());
  for (const ItemNumber number : by_urgency(survey->catalog, **columns)) {
    if (!query.state && is_finished((*columns)->kinds[number])) continue;
    Result<ShownItem> entry = survey->at(number);
    if (!entry) return fail(entry.error());
    if (!fits(*entry, query, *survey->items.workflow)) continue;
    listing.more = listing.items.size() == query.most;
    if (listing.more) break;
    listing.items.push_back(*std::move(entry));
  }
  Result<std::vector<BrokenItem>> broken = survey->catalog.broken();
  if (!broken) return fail(broken.error());
  listing.broken = *std::move(broken);
  return listing;
}

// Leases are asked for by item, the best first, so that the cost goes with what is shown. When many
// of the best are held, more are looked at at once.
Result<ItemListing> ready_items(Workspace& workspace, const ItemQuery& query) {
  look_for_items(workspace);
  const Result<OpenedItems> items = open_items(workspace);
  if (!items) return fail(items.error());
  const Result<Catalog> catalog = items->catalog();
  if (!catalog) return fail(catalog.error());
  ItemListing listing;
  std::size_t seen = 0;
  for (std::size_t look = std::max(kFirstLook, query.most + 1);; look *= 4) {
    const Result<std::vector<std::uint32_t>> ready = catalog->ready(look);
    if (!ready) return fail(ready.error());
    const Result<Taken> taken = taken_of(workspace, *catalog, *ready, seen);
    if (!taken) return fail(taken.error());
    for (; seen < ready->size() && !listing.more; ++seen) {
      Result<Item> card = catalog->card((*ready)[seen]);
      if (!card) return fail(card.error());
      if (taken->contains(card->id.text) || !has_labels(*card, query.labels)) continue;
      listing.more = listing.items.size() == query.most;
      if (!listing.more)
        listing.items.push_back(shown(*items->workflow, *std::move(card), {}, Readiness::ready));
    }
    if (listing.more || ready->size() < look) break;
  }
  Result<std::vector<BrokenItem>> broken = catalog->broken();
  if (!broken) return fail(broken.error());
  listing.broken = *std::move(broken);
  return listing;
}

Result<Taken> taken_of(Workspace& workspace, const Catalog& catalog,
                       const std::vector<std::uint32_t>& numbers, std::size_t from) {
  std::vector<Key> keys;
  for (std::size_t i = from; i < numbers.size(); ++i) {
    const Result<std::string> id = catalog.id(numbers[i]);
    if (!id) return fail(id.error());
    keys.push_back({std::string(kItemPrefix) + *id});
  }
  Taken taken;
  if (keys.empty()) return taken;
  const Result<std::vector<ListedLease>> held = held_among(workspace, std::move(keys));
  if (!held) return fail(held.error());
  for (const ListedLease& entry : *held)
    taken.insert(entry.resource.text.substr(kItemPrefix.size()));
  return taken;
}

Result<BlockedListing> blocked_items(Workspace& workspace, const ItemQuery& query) {
  const Result<Survey> survey = survey_items(workspace);
  if (!survey) return fail(survey.error());
  const Result<const ItemColumns*> columns = survey->catalog.columns();
  if (!columns) return fail(columns.error());
  BlockedListing listing;
  for (const ItemNumber number : by_urgency(survey->catalog, **columns)) {
    if (!is_blocked(survey->standings.readiness[number])) continue;
    Result<ShownItem> entry = survey->at(number);
    if (!entry) return fail(entry.error());
    if (!has_labels(entry->item, query.labels)) continue;
    listing.more = listing.items.size() == query.most;
    if (listing.more) break;
    Result<std::vector<WaitsFor>> waits =
        waits_of(survey->catalog, *survey->items.workflow, entry->item);
    if (!waits) return fail(waits.error());
    listing.items.push_back({.shown = *std::move(entry), .waits_for = *std::move(waits)});
  }
  Result<std::vector<std::vector<ItemId>>> cycles =
      named(survey->catalog, survey->standings.cycles);
  if (!cycles) return fail(cycles.error());
  Result<std::vector<BrokenItem>> broken = survey->catalog.broken();
  if (!broken) return fail(broken.error());
  listing.cycles = *std::move(cycles);
  listing.broken = *std::move(broken);
  return listing;
}

Result<ItemGraph> item_graph(Workspace& workspace, const ItemQuery& query) {
  const Result<Survey> survey = survey_items(workspace);
  if (!survey) return fail(survey.error());
  const Result<const ItemColumns*> columns = survey->catalog.columns();
  if (!columns) return fail(columns.error());
  ItemGraph graph;
  for (const ItemNumber number : in_dependency_order(survey->catalog, **columns)) {
    if (!query.state && is_finished((*columns)->kinds[number])) continue;
    Result<ShownItem> entry = survey->at(number);
    if (!entry) return fail(entry.error());
    if (!fits(*entry, query, *survey->items.workflow)) continue;
    graph.more = graph.items.size() == query.most;
    if (graph.more) break;
    graph.items.push_back(*std::move(entry));
  }
  Result<std::vector<std::vector<ItemId>>> cycles =
      named(survey->catalog, survey->standings.cycles);
  if (!cycles) return fail(cycles.error());
  graph.cycles = *std::move(cycles);
  return graph;
}

}  // namespace dibs::verbs
