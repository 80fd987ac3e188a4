#include "verbs/item_landing.h"

#include <fmt/core.h>

#include <algorithm>

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

// A file in a work tree can only change there; after the landing that work tree is gone.
Error has_to_land_with_the_work(const Item& item, const std::string& to) {
  const std::string id = shell_word(item.id.text);
  return {
      .kind = ErrorKind::refused,
      .message = fmt::format("{} has to become {} in your branch, where its file lies",
                             printable(item.id.text), printable(to)),
      .hint = fmt::format(
          "dibs item update {0} --state {1} && git add -A && git commit -m {2} && dibs done {0}",
          id, shell_word(to), shell_word(item.id.text + " becomes " + to)),
      .fields = {}};
}

}  // namespace

// What the work has done to the item itself counts, if the item lies where the work lands.
Result<std::optional<ItemLanding::Onward>> ItemLanding::onward(Workspace& workspace,
                                                               const std::string& item,
                                                               const RefMove& target) {
  Result<OpenedItems> items = open_items(workspace);
  if (!items) return fail(items.error());
  Result<std::optional<StoredItem>> stored = unfinished_item(*items, item);
  if (!stored) return fail(stored.error());
  if (!stored->has_value()) return std::nullopt;
  Onward onward{.items = *std::move(items), .stored = **std::move(stored), .to = {}};
  const std::string before = onward.stored.item.state;
  onward.on_target = onward.items.source->stand_on(target);
  if (onward.on_target) {
    Result<std::optional<StoredItem>> landed = unfinished_item(onward.items, item);
    if (!landed) return fail(landed.error());
    if (!landed->has_value()) return std::nullopt;
    onward.stored = **std::move(landed);
  }
  const bool moved_itself = onward.stored.item.state != before;
  onward.to = moved_itself ? onward.stored.item.state : onward.items.workflow->landed_from(before);
  return onward;
}

Result<std::optional<ItemLanding>> ItemLanding::prepare(Workspace& workspace,
                                                        const std::string& item,
                                                        const RefMove& target) {
  const Result<AgentId> agent = workspace.agent();
  if (!agent) return fail(agent.error());
  const Result<const StoreBackend*> backend = workspace.backend();
  if (!backend) return fail(backend.error());
  for (int tries = 0; tries < kTriesMax; ++tries) {
    Result<std::optional<Onward>> going = onward(workspace, item, target);
    if (!going) return fail(going.error());
    if (!going->has_value()) return std::nullopt;
    auto& [items, stored, to, on_target] = **going;
    if (!items.source->can_prepare()) return fail(has_to_land_with_the_work(stored.item, to));
    Result<Item> after = items.workflow->moved(stored.item, to);
    if (!after) return fail(after.error());
    const std::int64_t now_ms = workspace.system().clock.now().unix_ms;
    after->updated_unix_ms = now_ms;
    ItemLanding landing(std::move(items),
                        {.changes = {{.item = *after, .expected = stored.version}},
                         .author = *agent,
                         .message = fmt::format("landed, becomes {}: {}", to, item),
                         .unix_ms = now_ms});
    // A remote's refs are not this repository's; there it is a step of its own.
    if ((*backend)->is_remote && !on_target) return landing;
    Result<std::optional<ItemSource::Prepared>> prepared =
        landing.items_.source->prepare(landing.batch_);
    if (!prepared) return fail(prepared.error());
    landing.prepared_ = *std::move(prepared);
    if (landing.prepared_) return landing;
  }
  return fail(ErrorKind::contended, "the items change faster than this can land",
              "run the command again");
}

void ItemLanding::join(std::vector<RefMove>& moves) const {
  if (!prepared_) return;
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
