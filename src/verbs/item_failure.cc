#include "verbs/item_failure.h"

#include <fmt/core.h>

#include "base/text.h"
#include "verbs/item_change.h"
#include "verbs/item_view.h"

namespace dibs::verbs {

namespace {

// The end of it, from the beginning of a line, with nothing in it that a terminal would obey.
std::string tail_of(std::string_view output) {
  if (output.size() > kOutputBytesMax) {
    output.remove_prefix(output.size() - kOutputBytesMax);
    const std::size_t line = output.find('\n');
    if (line != std::string_view::npos) output.remove_prefix(line + 1);
  }
  std::string tail;
  for (const std::string_view line : split(trim(output), '\n'))
    tail += (tail.empty() ? "" : "\n") + printable(line);
  return tail;
}

std::string comment_about(const FailItem& request, std::int64_t tries) {
  std::string text = fmt::format("try {} failed", tries);
  if (!request.reason.empty()) text += ": " + request.reason;
  if (const std::string tail = tail_of(request.output); !tail.empty()) text += "\n\n" + tail;
  return text;
}

Result<Item> failed(Workspace& workspace, const Workflow& workflow, const FailItem& request,
                    Item item) {
  const Result<AgentId> by = workspace.agent();
  if (!by) return fail(by.error());
  const std::int64_t tries = item.tries + 1;
  if (request.then == FailItem::Then::park || tries >= request.tries_max) {
    const std::optional<std::string> waiting = workflow.first_of(StateKind::waiting);
    if (!waiting)
      return fail(ErrorKind::refused, "the workflow has no state for what waits",
                  "add one of the kind waiting to .dibs/workflow.toml");
    Result<Item> moved = workflow.moved(std::move(item), *waiting);
    if (!moved) return moved;
    item = *std::move(moved);
  }
  item.tries = tries;
  if (item.comments.size() < kCommentsMax)
    item.comments.push_back({.by = by->text,
                             .unix_ms = workspace.system().clock.now().unix_ms,
                             .text = comment_about(request, tries)});
  return item;
}

}  // namespace

Result<FailedItem> fail_item(Workspace& workspace, const FailItem& request) {
  Result<OpenedItems> items = open_items(workspace);
  if (!items) return fail(items.error());
  const Result<Item> after =
      change_item(workspace, *items,
                  {.item = request.item,
                   .what = "failed",
                   .scope = Scope::holders,
                   .apply = [&](const Catalog&, Item item) {
                     return failed(workspace, *items->workflow, request, std::move(item));
                   }});
  if (!after) return fail(after.error());
  Result<ShownItem> shown = shown_now(workspace, *items, *after);
  if (!shown) return fail(shown.error());
  const bool parked = items->workflow->kind_of(after->state) == StateKind::waiting;
  return FailedItem{.shown = *std::move(shown), .parked = parked};
}

}  // namespace dibs::verbs
