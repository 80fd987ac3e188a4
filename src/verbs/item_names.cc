#include "verbs/item_names.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "items/native_items.h"
#include "verbs/claim.h"
#include "verbs/item_view.h"
#include "verbs/opened_items.h"

namespace dibs::verbs {

namespace {

// Most repositories that only lease have none, and a claim should not pay for asking.
Result<bool> has_items(Workspace& workspace) {
  const Result<std::string> directory = workspace.directory();
  if (!directory) return fail(directory.error());
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  if ((*settings)->text("items.source") != "native") return true;
  for (const std::string& path :
       {*directory + "/items.index", (*repository)->common_dir + "/" + kItemsRef}) {
    const Result<std::optional<FileStatus>> there = workspace.system().files.status(path);
    if (!there) return fail(there.error());
    if (there->has_value()) return true;
  }
  return false;
}

/// What a name stands for among the items there are.
struct Meaning {
  OpenedItems items;
  Catalog catalog;
  std::optional<std::uint32_t> number;  // none: no item is called so
};

Result<std::optional<Meaning>> meaning_of(Workspace& workspace, const Resource& resource) {
  if (resource.kind != ResourceKind::item) return std::nullopt;
  const Result<bool> any = has_items(workspace);
  if (!any) return fail(any.error());
  if (!*any) return std::nullopt;
  Result<OpenedItems> items = open_items(workspace);
  if (!items) return fail(items.error());
  Result<Catalog> catalog = items->catalog();
  if (!catalog) return fail(catalog.error());
  if (catalog->size() == 0) return std::nullopt;
  const Result<std::uint32_t> found = find_item(*catalog, resource.name);
  if (!found && found.error().kind != ErrorKind::not_found) return fail(found.error());
  return Meaning{.items = *std::move(items),
                 .catalog = *std::move(catalog),
                 .number = found ? std::optional(*found) : std::nullopt};
}

Error finished(const Item& card) {
  return {
      .kind = ErrorKind::refused,
      .message = fmt::format("{} is {}", printable(card.id.text), printable(card.state)),
      .hint = fmt::format("take it up again with: dibs item reopen {}", shell_word(card.id.text)),
      .fields = {}};
}

Error blocked(const Item& card, const WaitsFor& first, std::size_t count) {
  const std::string more = count == 1 ? "" : fmt::format(" and {} more", count - 1);
  return {.kind = ErrorKind::refused,
          .message = fmt::format("{} waits for {}{}", printable(card.id.text),
                                 printable(first.id.text), more),
          .hint = "take what waits for nothing: dibs next --claim",
          .fields = {}};
}

// Whoever has it may ask for it again, whatever became of the items since.
Result<bool> is_own_already(Workspace& workspace, const Resource& resource) {
  const Result<Claimant> who = workspace.claimant();
  if (!who) return fail(who.error());
  const Result<std::vector<ListedLease>> held = held_among(workspace, {resource.key()});
  if (!held) return fail(held.error());
  return std::ranges::any_of(
      *held, [&](const ListedLease& entry) { return entry.lease.agent == who->agent; });
}

Done check_may_begin(Workspace& workspace, const Meaning& meaning, const Resource& resource) {
  const Result<Item> card = meaning.catalog.card(*meaning.number);
  if (!card) return fail(card.error());
  const bool over = is_finished(meaning.items.workflow->kind_of(card->state));
  const Result<std::vector<WaitsFor>> waits =
      waits_of(meaning.catalog, *meaning.items.workflow, *card);
  if (!waits) return fail(waits.error());
  if (!over && waits->empty()) return {};
  const Result<bool> own = is_own_already(workspace, resource);
  if (!own) return fail(own.error());
  if (*own) return {};
  return fail(over ? finished(*card) : blocked(*card, waits->front(), waits->size()));
}

Result<Resource> named_by(const Meaning& meaning, Resource resource) {
  if (!meaning.number) return resource;
  Result<std::string> id = meaning.catalog.id(*meaning.number);
  if (!id) return fail(id.error());
  resource.name = *std::move(id);
  return resource;
}

}  // namespace

Result<Resource> resolved(Workspace& workspace, Resource resource) {
  const Result<std::optional<Meaning>> meaning = meaning_of(workspace, resource);
  if (!meaning) return fail(meaning.error());
  return meaning->has_value() ? named_by(**meaning, std::move(resource)) : resource;
}

Result<Resource> claimable(Workspace& workspace, Resource resource) {
  if (resource.kind != ResourceKind::item) return resource;
  const Result<std::optional<Meaning>> meaning = meaning_of(workspace, resource);
  if (!meaning) return fail(meaning.error());
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  const bool known = meaning->has_value() && (*meaning)->number.has_value();
  if (!known && (*settings)->boolean("items.require"))
    return fail(ErrorKind::not_found,
                fmt::format("there is no item '{}'", printable(resource.name)),
                "make it first: dibs item add TITLE");
  if (!known) {
    if (meaning->has_value())
      workspace.warn(
          fmt::format("dibs knows no item {}; it is leased as written", printable(resource.name)));
    return resource;
  }
  Result<Resource> whole = named_by(**meaning, std::move(resource));
  if (!whole) return whole;
  if (Done may = check_may_begin(workspace, **meaning, *whole); !may) return fail(may.error());
  return whole;
}

}  // namespace dibs::verbs
