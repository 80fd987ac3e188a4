#include "verbs/item_change.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "rules/cycles.h"
#include "rules/dependency_graph.h"
#include "verbs/checkout.h"
#include "verbs/claim.h"
#include "verbs/item_sync.h"
#include "verbs/item_write.h"

namespace dibs::verbs {

namespace {

constexpr int kTriesMax = 64;
constexpr std::string_view kItemKey = "item:";

Error too_contended() {
  return {.kind = ErrorKind::contended,
          .message = "the items change faster than this change can be made",
          .hint = "run the command again",
          .fields = {}};
}

Done check(const Catalog& catalog, const Item& before, const Item& after) {
  if (Done checked = check_item(after); !checked) return checked;
  if (before.depends_on == after.depends_on) return {};
  return check_no_cycle(catalog, after);
}

// The way round, beginning and ending with the same item.
Error would_wait_for_itself(const Catalog& catalog, const std::vector<ItemNumber>& cycle) {
  std::string way;
  std::string first;
  for (const ItemNumber step : cycle) {
    const Result<std::string> id = catalog.id(step);
    if (!id) return id.error();
    if (way.empty()) first = printable(*id);
    way += (way.empty() ? "" : " → ") + printable(*id);
  }
  return {.kind = ErrorKind::refused,
          .message = fmt::format("{} would wait for itself: {}", first, way),
          .hint = "leave out one of these dependencies",
          .fields = {}};
}

// A cycle whose every member was there before is not ours to refuse.
Result<bool> was_there(const Catalog& before, const Catalog& after, const Cycle& cycle) {
  for (const ItemNumber member : cycle.members) {
    const Result<std::string> id = after.id(member);
    if (!id) return fail(id.error());
    const Result<std::optional<std::uint32_t>> known = before.find(*id);
    if (!known) return fail(known.error());
    if (!known->has_value()) return false;
  }
  return true;
}

Result<ItemSource::Batch> batch_of(Workspace& workspace, const std::string& message) {
  const Result<AgentId> author = workspace.agent();
  if (!author) return fail(author.error());
  return ItemSource::Batch{.changes = {},
                           .author = *author,
                           .message = message,
                           .unix_ms = workspace.system().clock.now().unix_ms};
}

void let_checkout_follow(Workspace& workspace, const OpenedItems& items) {
  if (!items.target) return;
  const Result<Surroundings> around = surroundings(workspace);
  if (!around) return workspace.warn(around.error().message);
  const Result<Target> now = known_target(workspace);
  if (!now) return workspace.warn(now.error().message);
  const auto note = bring_checkout_along(*around, *items.target, now->commit);
  if (note) workspace.warn(*note);
}

void complete(Item& item, const ItemSource::Batch& batch, const Workflow& workflow) {
  if (item.created_unix_ms == 0) item.created_unix_ms = batch.unix_ms;
  if (item.updated_unix_ms == 0) item.updated_unix_ms = item.created_unix_ms;
  if (item.created_by.empty()) item.created_by = batch.author.text;
  if (item.state.empty()) item.state = workflow.initial();
}

// The id of the item that is meant, if it may be changed.
Result<std::string> changeable(Workspace& workspace, const Catalog& catalog,
                               const ItemChange& change) {
  const Result<std::uint32_t> number = find_item(catalog, change.item);
  if (!number) return fail(number.error());
  Result<std::string> id = catalog.id(*number);
  if (!id || change.scope != Scope::holders) return id;
  if (Done may = check_holders(workspace, {{*id}}); !may) return fail(may.error());
  return id;
}

}  // namespace

Done check_holders(Workspace& workspace, const std::vector<ItemId>& ids) {
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  const std::string_view enforced = (*settings)->text("worktree.enforce_leases");
  if (enforced == "off") return {};
  const Result<Claimant> who = workspace.claimant();
  if (!who) return fail(who.error());
  std::vector<Key> keys;
  for (const ItemId& id : ids) keys.push_back({std::string(kItemKey) + id.text});
  const Result<std::vector<ListedLease>> held = held_among(workspace, std::move(keys));
  if (!held) return fail(held.error());
  for (const ListedLease& entry : *held) {
    if (entry.lease.session == who->session) continue;
    const std::string id = entry.resource.text.substr(kItemKey.size());
    const std::string is_held =
        fmt::format("{} is held by {}", printable(id), printable(entry.lease.agent.text));
    if (enforced != "warn")
      return fail(ErrorKind::held, is_held + ", who alone may change it",
                  fmt::format("say it there instead: dibs item comment {} TEXT", shell_word(id)));
    workspace.warn(is_held);
  }
  return {};
}

// With nothing to write it was written before, perhaps by a command that was killed before the
// checkout had followed.
Result<bool> put_items(Workspace& workspace, const OpenedItems& items,
                       const ItemSource::Batch& batch) {
  if (!batch.changes.empty()) {
    Result<bool> written = write_items(workspace, *items.source, batch);
    if (!written || !*written) return written;
    send_items(workspace);
  }
  let_checkout_follow(workspace, items);
  return true;
}

Done check_no_cycle(const Catalog& catalog, const Item& item) {
  const Result<std::optional<std::uint32_t>> number = catalog.find(item.id.text);
  if (!number) return fail(number.error());
  if (!number->has_value()) return {};  // nothing waits for what is not there yet
  std::vector<std::uint32_t> depends_on;
  for (const ItemId& id : item.depends_on) {
    const Result<std::optional<std::uint32_t>> there = catalog.find(id.text);
    if (!there) return fail(there.error());
    if (there->has_value()) depends_on.push_back(**there);
  }
  const Result<const ItemColumns*> columns = catalog.columns();
  if (!columns) return fail(columns.error());
  const std::optional<std::vector<std::uint32_t>> cycle =
      cycle_closed_by((*columns)->graph(), **number, depends_on);
  if (!cycle) return {};
  return fail(would_wait_for_itself(catalog, *cycle));
}

Done check_no_cycles_with(const Catalog& catalog, const std::vector<Item>& added,
                          const Workflow& workflow) {
  Result<std::vector<Item>> cards = catalog.cards();
  if (!cards) return fail(cards.error());
  cards->insert(cards->end(), added.begin(), added.end());
  std::ranges::sort(*cards, {}, &Item::id);
  const Result<Catalog> together = Catalog::of(*cards, {}, workflow);
  if (!together) return fail(together.error());
  const Result<const ItemColumns*> columns = together->columns();
  if (!columns) return fail(columns.error());
  for (const Cycle& cycle : cycles((*columns)->graph()).all) {
    const Result<bool> old = was_there(catalog, *together, cycle);
    if (!old) return fail(old.error());
    if (*old) continue;
    std::vector<ItemNumber> ring(cycle.members.begin(),
                                 cycle.members.begin() + static_cast<std::ptrdiff_t>(cycle.ring));
    ring.push_back(ring.front());
    return fail(would_wait_for_itself(*together, ring));
  }
  return {};
}

Result<Item> change_item(Workspace& workspace, OpenedItems& items, const ItemChange& change) {
  for (int tries = 0; tries < kTriesMax; ++tries) {
    const Result<Catalog> catalog = items.catalog();
    if (!catalog) return fail(catalog.error());
    const Result<std::string> id = changeable(workspace, *catalog, change);
    if (!id) return fail(id.error());
    const Result<std::vector<StoredItem>> stored = items.source->read({{*id}});
    if (!stored) return fail(stored.error());
    if (stored->empty()) continue;  // it went while we looked
    Result<ItemSource::Batch> batch = batch_of(workspace, change.what + ": " + *id);
    if (!batch) return fail(batch.error());
    Result<Item> after = change.apply(*catalog, stored->front().item);
    if (!after) return after;
    if (*after != stored->front().item) {
      after->updated_unix_ms = batch->unix_ms;
      if (Done checked = check(*catalog, stored->front().item, *after); !checked)
        return fail(checked.error());
      batch->changes.push_back({.item = *after, .expected = stored->front().version});
    }
    const Result<bool> written = put_items(workspace, items, *batch);
    if (!written) return fail(written.error());
    if (*written) return after;
  }
  return fail(too_contended());
}

Result<std::vector<Item>> add_items(
    Workspace& workspace, OpenedItems& items, const std::string& message,
    const std::function<Result<std::vector<Item>>(const Catalog&)>& make) {
  for (int tries = 0; tries < kTriesMax; ++tries) {
    const Result<Catalog> catalog = items.catalog();
    if (!catalog) return fail(catalog.error());
    Result<ItemSource::Batch> batch = batch_of(workspace, message);
    if (!batch) return fail(batch.error());
    Result<std::vector<Item>> made = make(*catalog);
    if (!made) return made;
    for (Item& item : *made) {
      complete(item, *batch, *items.workflow);
      if (Done checked = check_item(item); !checked) return fail(checked.error());
      batch->changes.push_back({.item = item, .expected = std::nullopt});
    }
    const Result<bool> written = put_items(workspace, items, *batch);
    if (!written) return fail(written.error());
    if (*written) return made;
  }
  return fail(too_contended());
}

}  // namespace dibs::verbs
