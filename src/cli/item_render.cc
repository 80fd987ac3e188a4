#include "cli/item_render.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/render.h"

namespace dibs::cli {

namespace {

constexpr std::size_t kIdWidthMax = 42;
constexpr std::size_t kBrokenShownMax = 10;

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + printable(text);
  return all;
}

std::string joined(const std::vector<ItemId>& ids) {
  std::string all;
  for (const ItemId& id : ids) all += (all.empty() ? "" : ", ") + printable(id.text);
  return all;
}

Style style_of(std::string_view state) {
  if (state == "ready" || state == "done") return Style::good;
  return state == "backlog" || state == "rejected" ? Style::dim : Style::plain;
}

void say_field(Terminal& terminal, std::string_view name, const std::string& value) {
  if (!value.empty()) terminal.say(fmt::format("  {:<11} {}", name, value));
}

// Line by line, because a person wrote it and a terminal shows it.
void say_text(Terminal& terminal, std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) return;
  terminal.say("");
  for (const std::string_view line : split(text, '\n')) terminal.say("  " + printable(line));
}

}  // namespace

std::string item_json(const verbs::ShownItem& shown) {
  Item named = shown.item;
  named.state = shown.state;
  JsonObject object;
  object.add_members(public_members(named));
  if (shown.lease) object.add_raw("lease", listed_json(*shown.lease));
  return object.text();
}

std::string items_json(const std::vector<verbs::ShownItem>& items) {
  JsonArray array;
  for (const verbs::ShownItem& shown : items) array.add_raw(item_json(shown));
  return array.text();
}

std::string broken_json(const std::vector<BrokenItem>& broken) {
  JsonArray array;
  for (const BrokenItem& entry : broken) array.add_raw(to_json(entry));
  return array.text();
}

void print_item(Terminal& terminal, const verbs::ShownItem& shown) {
  const Item& item = shown.item;
  terminal.say(fmt::format("{}  {}", terminal.styled(Style::strong, printable(item.id.text)),
                           printable(item.title)));
  say_field(terminal, "state",
            terminal.styled(style_of(shown.state), printable(shown.state)) +
                (shown.lease ? fmt::format(", held by {}", printable(shown.lease->lease.agent.text))
                             : ""));
  say_field(terminal, "priority", std::to_string(item.priority));
  say_field(terminal, "type", printable(item.type));
  say_field(terminal, "labels", joined(item.labels));
  say_field(terminal, "depends on", joined(item.depends_on));
  say_field(terminal, "files", joined(item.files));
  if (item.estimate_min) say_field(terminal, "estimate", fmt::format("{} min", *item.estimate_min));
  if (item.created_unix_ms != 0 || !item.created_by.empty())  // other tools may not say
    say_field(terminal, "created",
              fmt::format("{} by {}", rfc3339(item.created_unix_ms), printable(item.created_by)));
  if (item.updated_unix_ms != item.created_unix_ms)
    say_field(terminal, "updated", rfc3339(item.updated_unix_ms));
  say_text(terminal, item.body);
  for (const Comment& comment : item.comments) {
    terminal.say("");
    terminal.say(terminal.styled(
        Style::dim, fmt::format("  {} {}", printable(comment.by), rfc3339(comment.unix_ms))));
    for (const std::string_view line : split(trim(comment.text), '\n'))
      terminal.say("  " + printable(line));
  }
}

void print_items(Terminal& terminal, const std::vector<verbs::ShownItem>& items) {
  std::size_t id_width = 0;
  std::size_t state_width = 0;
  for (const verbs::ShownItem& shown : items) {
    id_width = std::max(id_width, printable(shown.item.id.text).size());
    state_width = std::max(state_width, shown.state.size());
  }
  id_width = std::min(id_width, kIdWidthMax);
  for (const verbs::ShownItem& shown : items) {
    const std::string state = fmt::format("{:<{}}", printable(shown.state), state_width);
    terminal.say(fmt::format(
        "{:<{}}  P{}  {}  {}{}", printable(shown.item.id.text), id_width, shown.item.priority,
        terminal.styled(style_of(shown.state), state), printable(shown.item.title),
        shown.lease ? fmt::format("  ({})", printable(shown.lease->lease.agent.text)) : ""));
  }
}

void print_broken(Terminal& terminal, const std::vector<BrokenItem>& broken) {
  for (std::size_t i = 0; i < broken.size() && i < kBrokenShownMax; ++i) {
    const std::string line = broken[i].line == 0 ? "" : fmt::format(":{}", broken[i].line);
    terminal.warn(fmt::format("{}{} is no item: {}", printable(broken[i].file), line,
                              printable(broken[i].why)));
  }
  if (broken.size() > kBrokenShownMax)
    terminal.warn(fmt::format("and {} more that are broken", broken.size() - kBrokenShownMax));
}

void tell_listing(Terminal& terminal, const verbs::ItemListing& listing, std::string_view none) {
  if (terminal.json())
    terminal.reply(JsonObject()
                       .add_raw("items", items_json(listing.items))
                       .add("count", std::uint64_t{listing.items.size()})
                       .add("more", listing.more)
                       .add_raw("broken", broken_json(listing.broken)));
  if (listing.items.empty()) terminal.say(none);
  print_items(terminal, listing.items);
  if (listing.more) terminal.say(terminal.styled(Style::dim, "… and more: --limit N shows them"));
  print_broken(terminal, listing.broken);
}

}  // namespace dibs::cli
