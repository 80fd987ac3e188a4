#include "verbs/item_landing.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "verbs/item_change.h"
#include "verbs/item_sync.h"

namespace dibs::verbs {

namespace {

constexpr int kLandingTriesMax = 16;

Result<std::optional<StoredItem>> unfinished_item(const OpenedItems& items,
                                                  const std::string& name) {
  const Result<Catalog> catalog = items.catalog();
  if (!catalog) return fail(catalog.error());
  const Result<std::optional<std::uint32_t>> number = catalog->find(name);
  if (!number) return fail(number.error());
  if (!number->has_value()) return std::nullopt;
  Result<std::vector<StoredItem>> stored = items.source->read({{name}});
  if (!stored) return fail(stored.error());
  if (stored->empty() || is_finished(items.workflow->kind_of(stored->front().item.state)))
    return std::nullopt;
  return std::move(stored->front());
}

}  // namespace

// What the work has done to an item itself counts, if the item lies where the work lands.
Result<ItemLanding::AllOnward> ItemLanding::onward(Workspace& workspace,
                                                   const std::vector<std::string>& names,
                                                   const RefMove& target) {
  Result<OpenedItems> items = open_items(workspace);
  if (!items) return fail(items.error());
  AllOnward going{.items = *std::move(items), .each = {}};
  for (const std::string& name : names) {
    Result<std::optional<StoredItem>> stored = unfinished_item(going.items, name);
    if (!stored) return fail(stored.error());
    if (stored->has_value()) going.each.push_back({.stored = **std::move(stored), .to = {}});
  }
  if (going.each.empty()) return going;
  going.on_target = going.items.source->stand_on(target);
  std::vector<Onward> still;
  for (Onward& one : going.each) {
    const std::string before = one.stored.item.state;
    if (going.on_target) {
      Result<std::optional<StoredItem>> landed =
          unfinished_item(going.items, one.stored.item.id.text);
      if (!landed) return fail(landed.error());
      if (!landed->has_value()) continue;
      one.stored = **std::move(landed);
    }
    const bool moved_itself = one.stored.item.state != before;
    one.to = moved_itself ? one.stored.item.state : going.items.workflow->landed_from(before);
    still.push_back(std::move(one));
  }
  going.each = std::move(still);
  return going;
}

Result<ItemSource::Batch> ItemLanding::batch_of(Workspace& workspace, const AllOnward& going) {
  const Result<AgentId> agent = workspace.agent();
  if (!agent) return fail(agent.error());
  ItemSource::Batch batch{.changes = {},
                          .author = *agent,
                          .message = {},
                          .unix_ms = workspace.system().clock.now().unix_ms};
  for (const auto& [stored, to] : going.each) {
    Result<Item> after = going.items.workflow->moved(stored.item, to);
    if (!after) return fail(after.error());
    after->updated_unix_ms = batch.unix_ms;
    batch.message += fmt::format("{}landed, becomes {}: {}", batch.message.empty() ? "" : "; ", to,
                                 stored.item.id.text);
    batch.changes.push_back({.item = *std::move(after), .expected = stored.version});
  }
  return batch;
}

Result<std::optional<ItemLanding>> ItemLanding::prepare(Workspace& workspace,
                                                        const std::vector<std::string>& names,
                                                        const RefMove& target) {
  const Result<const StoreBackend*> backend = workspace.backend();
  if (!backend) return fail(backend.error());
  for (int tries = 0; tries < kLandingTriesMax; ++tries) {
    Result<AllOnward> going = onward(workspace, names, target);
    if (!going) return fail(going.error());
    if (going->each.empty()) return std::nullopt;
    Result<ItemSource::Batch> batch = batch_of(workspace, *going);
    if (!batch) return fail(batch.error());
    const bool elsewhere = (*backend)->is_remote && !going->on_target;
    ItemLanding landing(std::move(going->items), *std::move(batch),
                        elsewhere ? automatic_sync(workspace) : std::nullopt);
    if (elsewhere && !landing.sync_) return landing;
    Result<std::optional<ItemSource::Prepared>> prepared =
        landing.items_.source->prepare(landing.batch_);
    if (!prepared) return fail(prepared.error());
    landing.prepared_ = *std::move(prepared);
    if (!landing.prepared_) continue;
    const Result<bool> joined = elsewhere ? landing.join_remote() : Result<bool>(true);
    if (!joined) return fail(joined.error());
    if (*joined) return landing;
  }
  return fail(ErrorKind::contended, "the items change faster than this can land",
              "run the command again");
}

Result<bool> ItemLanding::join_remote() {
  Result<std::optional<RefMove>> part = sync_->part_of_push(prepared_->from, prepared_->to);
  if (!part) return fail(part.error());
  on_remote_ = *std::move(part);
  if (on_remote_) return true;
  prepared_.reset();  // whoever makes items the same needs the turn
  const Result<ItemSyncEnd> same = sync_->run(ItemSync::Begin::fetch);
  if (same) return false;
  if (same.error().kind != ErrorKind::refused) return fail(same.error());
  // It takes no items at all, so here they are this clone's alone.
  return true;
}

void ItemLanding::look_again() {
  prepared_.reset();
  if (sync_) (void)sync_->run(ItemSync::Begin::fetch);  // the next try meets what is wrong with it
}

std::string ItemLanding::state_of(const std::string& item) const {
  const auto found = std::ranges::find_if(batch_.changes, [&](const ItemSource::Change& change) {
    return change.item.id.text == item;
  });
  return found == batch_.changes.end() ? std::string() : found->item.state;
}

void ItemLanding::join(std::vector<RefMove>& moves) const {
  if (!prepared_) return;
  if (on_remote_) {
    moves.push_back(*on_remote_);
    return;
  }
  const auto same = std::ranges::find(moves, prepared_->ref, &RefMove::name);
  if (same != moves.end()) {
    same->to = prepared_->to;
  } else {
    moves.push_back({.name = prepared_->ref, .from = prepared_->from, .to = prepared_->to});
  }
}

Done ItemLanding::finish(Workspace& workspace) {
  if (prepared_) {
    items_.source->moved(*prepared_, batch_);
    prepared_.reset();
    return on_remote_ ? sync_->pushed(*on_remote_) : Done{};
  }
  Done done;
  for (const ItemSource::Change& change : batch_.changes) {
    if (Done closed = close_landed(workspace, items_, change.item.id); !closed) done = closed;
  }
  return done;
}

Done close_landed(Workspace& workspace, OpenedItems& items, const ItemId& item) {
  const Workflow& workflow = *items.workflow;
  const Result<Item> changed =
      change_item(workspace, items,
                  {.item = item.text,
                   .what = "landed",
                   .scope = Scope::open_to_all,  // the lease was given back with the landing
                   .apply = [&](const Catalog&, const Item& found) -> Result<Item> {
                     if (is_finished(workflow.kind_of(found.state))) return found;
                     return workflow.moved(found, workflow.landed_from(found.state));
                   }});
  return changed ? Done{} : Done(fail(changed.error()));
}

}  // namespace dibs::verbs
