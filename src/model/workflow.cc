#include "model/workflow.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"

namespace dibs {

namespace {

Done check_names(const std::vector<WorkState>& states) {
  const auto known = [&](const std::string& name) {
    return std::ranges::find(states, name, &WorkState::name) != states.end();
  };
  for (const WorkState& state : states) {
    std::vector<std::string> named = state.to;
    if (!state.blocked_as.empty()) named.push_back(state.blocked_as);
    if (!state.held_as.empty()) named.push_back(state.held_as);
    if (!state.lands_as.empty()) named.push_back(state.lands_as);
    for (const std::string& other : named) {
      if (!known(other))
        return fail(ErrorKind::usage,
                    fmt::format("the state '{}' names '{}', which is none", printable(state.name),
                                printable(other)),
                    "add it to the table, or correct the name");
    }
    if (std::ranges::count(states, state.name, &WorkState::name) > 1)
      return fail(ErrorKind::usage,
                  fmt::format("there are two states named '{}'", printable(state.name)));
  }
  return {};
}

// A branch's name begins with it.
Done check_claims(const std::vector<WorkState>& states) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  for (const WorkState& state : states) {
    const std::string& claim = state.claim;
    if (claim.starts_with('-') || claim.size() > kWordMax || !std::ranges::all_of(claim, is_plain))
      return fail(ErrorKind::usage,
                  fmt::format("the claim '{}' of the state '{}' cannot begin a branch's name",
                              printable(claim), printable(state.name)),
                  "use letters, digits, _ and -");
  }
  return {};
}

}  // namespace

Result<Workflow> Workflow::of(std::string initial, std::vector<WorkState> states) {
  if (states.empty() || states.size() > kStatesMax)
    return fail(ErrorKind::usage, fmt::format("a workflow has 1 to {} states", kStatesMax));
  if (Done checked = check_names(states); !checked) return fail(checked.error());
  if (Done checked = check_claims(states); !checked) return fail(checked.error());
  Workflow workflow(std::move(initial), std::move(states));
  const WorkState* first = workflow.find(workflow.initial_);
  if (first == nullptr || first->kind != StateKind::open)
    return fail(
        ErrorKind::usage,
        fmt::format("initial is '{}', which is no open state", printable(workflow.initial_)),
        "name the state that new items are in");
  if (!workflow.first_of(StateKind::done))
    return fail(ErrorKind::usage, "no state is of the kind done", "give one kind = \"done\"");
  return workflow;
}

const WorkState* Workflow::find(std::string_view name) const {
  const auto state = std::ranges::find(states_, name, &WorkState::name);
  return state == states_.end() ? nullptr : &*state;
}

StateKind Workflow::kind_of(std::string_view state) const {
  const WorkState* known = find(state.empty() ? initial_ : state);
  return known == nullptr ? StateKind::waiting : known->kind;
}

std::optional<std::string> Workflow::first_of(StateKind kind) const {
  const auto state = std::ranges::find(states_, kind, &WorkState::kind);
  return state == states_.end() ? std::nullopt : std::optional(state->name);
}

std::string Workflow::landed_from(std::string_view state) const {
  const WorkState* known = find(state.empty() ? initial_ : state);
  if (known != nullptr && !known->lands_as.empty()) return known->lands_as;
  return first_of(StateKind::done).value_or(initial_);
}

std::string Workflow::shown(std::string_view state, Circumstances now) const {
  const WorkState* known = find(state.empty() ? initial_ : state);
  if (known == nullptr) return std::string(state);
  if (now.held && !known->held_as.empty()) return known->held_as;
  if (now.blocked && !known->blocked_as.empty()) return known->blocked_as;
  return known->name;
}

std::vector<std::string> Workflow::moves_from(const Item& item) const {
  const WorkState* from = find(item.state.empty() ? initial_ : item.state);
  if (from == nullptr) return {initial_};  // out of another tool's state there is one way
  std::vector<std::string> moves = from->to;
  if (from->kind == StateKind::waiting && !item.came_from.empty() &&
      std::ranges::find(moves, item.came_from) == moves.end())
    moves.insert(moves.begin(), item.came_from);
  return moves;
}

Result<Item> Workflow::moved(Item item, std::string_view to) const {
  const std::string from = item.state.empty() ? initial_ : item.state;
  if (from == to) return item;
  const std::vector<std::string> moves = moves_from(item);
  if (std::ranges::find(moves, to) == moves.end()) {
    const std::string legal = moves.empty() ? "nowhere" : fmt::format("{}", fmt::join(moves, ", "));
    return fail(ErrorKind::refused,
                fmt::format("{} is {} and cannot become {}", printable(item.id.text),
                            printable(from), printable(to)),
                fmt::format("from {} it can go to: {}", printable(from), printable(legal)));
  }
  item.came_from = kind_of(to) == StateKind::waiting ? from : std::string();
  // Whoever takes it up again, or has finished it, has seen what failed.
  if (kind_of(from) == StateKind::waiting || is_finished(kind_of(to))) item.tries = 0;
  item.state = to;
  return item;
}

const Workflow& Workflow::standard() {
  using enum StateKind;
  static const Workflow kStandard(
      "ready", {{.name = "backlog", .kind = open, .to = {}},
                {.name = "ready",
                 .kind = open,
                 .to = {"in_progress", "in_review", "done", "rejected", "pending"},
                 .blocked_as = "backlog",
                 .held_as = "in_progress",
                 .claim = "indevelopment"},
                {.name = "in_progress",
                 .kind = active,
                 .to = {"ready", "in_review", "done", "rejected", "pending"},
                 .claim = "indevelopment"},
                {.name = "in_review",
                 .kind = active,
                 .to = {"ready", "in_progress", "done", "rejected", "pending"},
                 .claim = "inreview"},
                {.name = "done", .kind = done, .to = {"ready"}},
                {.name = "rejected", .kind = dropped, .to = {"ready"}},
                {.name = "pending", .kind = waiting, .to = {"rejected"}, .claim = "pending"}});
  return kStandard;
}

// The claim is what the branch of whoever works on it is called: `indevelopment-userauth-b5c6d7e8`.
const Workflow& Workflow::folders() {
  using enum StateKind;
  static const Workflow kFolders(
      "new", {{.name = "new",
               .kind = open,
               .to = {"stamped", "pending"},
               .lands_as = "stamped",
               .claim = "stamp"},
              {.name = "stamped",
               .kind = open,
               .to = {"next", "pending"},
               .lands_as = "next",
               .claim = "triaging"},
              {.name = "pending", .kind = waiting, .to = {"next"}, .claim = "triaging"},
              {.name = "next",
               .kind = open,
               .to = {"readyforanalysis", "inanalysis", "pending"},
               .lands_as = "inanalysis",
               .claim = "readyforanalysis"},
              {.name = "readyforanalysis",
               .kind = open,
               .to = {"inanalysis", "readyfordevelopment", "pending"},
               .lands_as = "readyfordevelopment",
               .claim = "inanalysis"},
              {.name = "inanalysis",
               .kind = active,
               .to = {"readyfordevelopment", "pending"},
               .lands_as = "readyfordevelopment",
               .claim = "inanalysis"},
              {.name = "readyfordevelopment",
               .kind = open,
               .to = {"indevelopment", "readyfortesting", "pending"},
               .lands_as = "readyfortesting",
               .claim = "indevelopment"},
              {.name = "indevelopment",
               .kind = active,
               .to = {"readyfortesting", "pending"},
               .lands_as = "readyfortesting",
               .claim = "indevelopment"},
              {.name = "readyfortesting",
               .kind = open,
               .to = {"intesting", "signedoff", "pending"},
               .lands_as = "signedoff",
               .claim = "intesting"},
              {.name = "intesting",
               .kind = active,
               .to = {"signedoff", "pending"},
               .lands_as = "signedoff",
               .claim = "intesting"},
              {.name = "signedoff",
               .kind = open,
               .to = {"archive/production", "pending"},
               .lands_as = "archive/production",
               .claim = "production"},
              {.name = "archive/production", .kind = done, .to = {}}});
  return kFolders;
}

}  // namespace dibs
