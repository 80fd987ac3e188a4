#include "verbs/item_landing.h"

#include <fmt/core.h>

#include "base/text.h"
#include "verbs/item_change.h"

namespace dibs::verbs {

namespace {

constexpr int kTriesMax = 16;

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

Result<std::optional<ItemLanding>> ItemLanding::prepare(Workspace& workspace,
                                                        const std::string& item) {
  const Result<AgentId> agent = workspace.agent();
  if (!agent) return fail(agent.error());
  const Result<const StoreBackend*> backend = workspace.backend();
  if (!backend) return fail(backend.error());
  for (int tries = 0; tries < kTriesMax; ++tries) {
    Result<OpenedItems> items = open_items(workspace);
    if (!items) return fail(items.error());
    Result<std::optional<StoredItem>> stored = unfinished_item(*items, item);
    if (!stored) return fail(stored.error());
    if (!stored->has_value()) return std::nullopt;
    const std::string to = items->workflow->landed_from((*stored)->item.state);
    Result<Item> after = items->workflow->moved((*stored)->item, to);
    if (!after) return fail(after.error());
    const std::int64_t now_ms = workspace.system().clock.now().unix_ms;
    after->updated_unix_ms = now_ms;
    ItemLanding landing(*std::move(items),
                        {.changes = {{.item = *after, .expected = (*stored)->version}},
                         .author = *agent,
                         .message = fmt::format("landed, becomes {}: {}", to, item),
                         .unix_ms = now_ms});
    // A remote's refs are not this repository's; there it is a step of its own.
    if ((*backend)->is_remote) return landing;
    Result<std::optional<ItemSource::Prepared>> prepared =
        landing.items_.source->prepare(landing.batch_);
    if (!prepared) return fail(prepared.error());
    landing.prepared_ = *std::move(prepared);
    if (landing.prepared_) return landing;
  }
  return fail(ErrorKind::contended, "the items change faster than this can land",
              "run the command again");
}

std::optional<RefMove> ItemLanding::move() const {
  if (!prepared_) return std::nullopt;
  return RefMove{.name = prepared_->ref, .from = prepared_->from, .to = prepared_->to};
}

Done ItemLanding::finish(Workspace& workspace) {
  if (prepared_) {
    items_.source->moved(*prepared_, batch_);
    prepared_.reset();
    return {};
  }
  const Result<Item> changed =
      change_item(workspace, items_,
                  {.item = batch_.changes.front().item.id.text,
                   .what = fmt::format("landed, becomes {}", state()),
                   .scope = Scope::open_to_all,  // the lease was given back with the landing
                   .apply = [&](const Catalog&, const Item& item) -> Result<Item> {
                     if (is_finished(items_.workflow->kind_of(item.state))) return item;
                     return items_.workflow->moved(item, items_.workflow->landed_from(item.state));
                   }});
  return changed ? Done{} : Done(fail(changed.error()));
}

}  // namespace dibs::verbs
