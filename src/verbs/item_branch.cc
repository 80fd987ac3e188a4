#include "verbs/item_branch.h"

#include <algorithm>

#include "base/name_encoding.h"
#include "model/claim_branch.h"
#include "verbs/opened_items.h"

namespace dibs::verbs {

namespace {

bool shows_branches(const Settings& settings) {
  return settings.text("store.kind") == "git" && settings.text("store.layout") == "branches";
}

// Empty when the workflow has no word for it, or dibs does not know the item.
Result<std::string> claim_word(const OpenedItems& items, const std::string& item) {
  const Result<Catalog> catalog = items.catalog();
  if (!catalog) return fail(catalog.error());
  const Result<std::optional<std::uint32_t>> number = catalog->find(item);
  if (!number) return fail(number.error());
  if (!number->has_value()) return std::string();
  const Result<Item> card = catalog->card(**number);
  if (!card) return fail(card.error());
  const Workflow& workflow = *items.workflow;
  const WorkState* state = workflow.find(card->state.empty() ? workflow.initial() : card->state);
  return state == nullptr ? std::string() : state->claim;
}

}  // namespace

Result<std::string> claim_state_of(Workspace& workspace, const std::string& item) {
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  if (!shows_branches(**settings)) return std::string();
  const Result<OpenedItems> items = open_items(workspace);
  if (!items) return fail(items.error());
  Result<std::string> word = claim_word(*items, item);
  if (word && word->empty()) word = std::string((*settings)->text("store.claim_state"));
  return word;
}

std::string item_branch(const std::string& claim_state, const std::string& item) {
  return claim_state.empty() ? "dibs/" + encode_name(item) : claim_branch_name(claim_state, item);
}

Result<std::string> branch_for_item(Workspace& workspace, const std::string& item) {
  const Result<std::string> state = claim_state_of(workspace, item);
  if (!state) return fail(state.error());
  return item_branch(*state, item);
}

Result<std::vector<std::string>> branches_of_item(Workspace& workspace, const std::string& item) {
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  if (!shows_branches(**settings)) return std::vector{item_branch({}, item)};
  const Result<OpenedItems> items = open_items(workspace);
  if (!items) return fail(items.error());
  std::vector<std::string> names{
      item_branch(std::string((*settings)->text("store.claim_state")), item)};
  for (const WorkState& state : items->workflow->states()) {
    if (state.claim.empty()) continue;
    std::string name = item_branch(state.claim, item);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace dibs::verbs
