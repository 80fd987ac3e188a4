// Who will be in whose way: conflicts.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/invocation.h"
#include "verbs/conflicts.h"

namespace dibs::cli {

namespace {

constexpr std::size_t kFilesShownMax = 10;

// What people call it: the item that is done there, or the target's name.
std::string name_of(const verbs::LiveBranch& live) {
  if (live.items.empty()) return printable(live.branch);
  std::string names;
  for (const Key& item : live.items) names += (names.empty() ? "" : " ") + printable(item.text);
  return names;
}

std::string described(const verbs::LiveBranch& live) {
  if (live.items.empty()) return printable(live.branch) + " (the target)";
  return fmt::format("{}  [{}]  {}", name_of(live),
                     live.branch.empty() ? "detached" : printable(live.branch),
                     printable(live.agent.text));
}

std::string shown(const std::vector<std::string>& files) {
  if (files.empty()) return "git cannot merge them";
  std::string text;
  for (std::size_t i = 0; i < std::min(files.size(), kFilesShownMax); ++i)
    text += (text.empty() ? "" : ", ") + printable(files[i]);
  if (files.size() > kFilesShownMax)
    text += fmt::format(" and {} more", files.size() - kFilesShownMax);
  return text;
}

std::string branch_json(const verbs::LiveBranch& live) {
  JsonArray items;
  for (const Key& item : live.items) items.add(item.text);
  return JsonObject()
      .add("branch", live.branch)
      .add("commit", live.commit)
      .add("is_target", live.items.empty())
      .add_raw("items", items.text())
      .add("path", live.path)
      .add("agent_id", live.agent.text)
      .text();
}

// Numbers are places in `branches`.
std::string collision_json(const Collision& collision) {
  JsonArray files;
  for (const std::string& file : collision.files) files.add(file);
  return JsonObject()
      .add("first", std::uint64_t{collision.pair.first})
      .add("second", std::uint64_t{collision.pair.second})
      .add_raw("files", files.text())
      .text();
}

JsonObject json_of(const verbs::Conflicts& found) {
  JsonArray branches;
  for (const verbs::LiveBranch& live : found.branches) branches.add_raw(branch_json(live));
  JsonArray collisions;
  for (const Collision& collision : found.collisions) collisions.add_raw(collision_json(collision));
  JsonArray elsewhere;
  for (const Key& item : found.elsewhere) elsewhere.add(item.text);
  return JsonObject()
      .add_raw("branches", branches.text())
      .add_raw("collisions", collisions.text())
      .add("count", std::uint64_t{found.collisions.size()})
      .add_raw("elsewhere", elsewhere.text())
      .add("pairs", std::uint64_t{found.pairs})
      .add("pairs_known", std::uint64_t{found.known})
      .add("pairs_merged", std::uint64_t{found.merged});
}

// How many files two branches conflict in; a conflict that git names no file for counts as one.
std::vector<std::vector<std::size_t>> counts_of(const verbs::Conflicts& found) {
  const std::size_t size = found.branches.size();
  std::vector<std::vector<std::size_t>> counts(size, std::vector<std::size_t>(size));
  for (const Collision& collision : found.collisions) {
    const std::size_t files = std::max<std::size_t>(collision.files.size(), 1);
    counts[collision.pair.first][collision.pair.second] = files;
    counts[collision.pair.second][collision.pair.first] = files;
  }
  return counts;
}

std::string matrix_json(const verbs::Conflicts& found) {
  JsonArray rows;
  for (const std::vector<std::size_t>& counts : counts_of(found)) {
    JsonArray row;
    for (const std::size_t count : counts) row.add_raw(std::to_string(count));
    rows.add_raw(row.text());
  }
  return rows.text();
}

void say_matrix(Terminal& terminal, const verbs::Conflicts& found) {
  std::string head = "    ";
  for (std::size_t i = 1; i <= found.branches.size(); ++i) head += fmt::format("{:>4}", i);
  terminal.say(head);
  const std::vector<std::vector<std::size_t>> counts = counts_of(found);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    std::string line = fmt::format("{:>4}", i + 1);
    for (std::size_t j = 0; j < counts.size(); ++j) {
      const std::string cell = counts[i][j] > 0 ? std::to_string(counts[i][j]) : i == j ? "" : ".";
      line +=
          terminal.styled(counts[i][j] > 0 ? Style::bad : Style::dim, fmt::format("{:>4}", cell));
    }
    terminal.say(line + "  " + described(found.branches[i]));
  }
}

void say_list(Terminal& terminal, const verbs::Conflicts& found) {
  for (const Collision& collision : found.collisions) {
    const verbs::LiveBranch& first = found.branches[collision.pair.first];
    const verbs::LiveBranch& second = found.branches[collision.pair.second];
    terminal.say(fmt::format("{} and {}: {}", terminal.styled(Style::strong, name_of(first)),
                             terminal.styled(Style::strong, name_of(second)),
                             shown(collision.files)));
    for (const verbs::LiveBranch* live : {&first, &second}) {
      if (!live->items.empty())
        terminal.say(terminal.styled(
            Style::dim,
            fmt::format("  {}  {}", printable(live->agent.text), printable(live->path))));
    }
  }
}

void say_sum(Terminal& terminal, const verbs::Conflicts& found) {
  const std::size_t live = found.branches.size() - 1;
  const std::string target = printable(found.branches.back().branch);
  if (live == 0) {
    terminal.say("no item is being worked on in this clone");
  } else if (found.collisions.empty()) {
    terminal.say(
        fmt::format("{} branch{} and {}: no conflicts", live, live == 1 ? "" : "es", target));
  } else {
    terminal.say(fmt::format("{} conflict{} among {} branch{} and {}", found.collisions.size(),
                             found.collisions.size() == 1 ? "" : "s", live, live == 1 ? "" : "es",
                             target));
  }
  if (!found.elsewhere.empty()) {
    terminal.say(terminal.styled(
        Style::dim, fmt::format("{} more item{} held from other clones were not compared",
                                found.elsewhere.size(), found.elsewhere.size() == 1 ? "" : "s")));
  }
}

Done run_conflicts(Invocation& call) {
  const Result<verbs::Conflicts> found = verbs::conflicts(call.workspace);
  if (!found) return fail(found.error());
  const bool matrix = call.args.has("--matrix");
  JsonObject json = json_of(*found);
  if (matrix) json.add_raw("matrix", matrix_json(*found));
  call.terminal.reply(json);
  if (matrix) {
    say_matrix(call.terminal, *found);
  } else {
    say_list(call.terminal, *found);
  }
  say_sum(call.terminal, *found);
  return {};
}

constexpr std::array<Option, 1> kOptions{
    {{.name = "--matrix", .meaning = "as a table: in how many files each two conflict"}}};

constexpr std::array<Command, 1> kCommands{{
    {.name = "conflicts",
     .summary = "show which branches will collide, before anyone lands",
     .details = "Compares the branches of all worktrees that items are held from, each with each "
                "and with the target.\n"
                "Nothing is merged and nothing changes. What is not committed is not seen. The "
                "exit code is 0 either way.",
     .positionals = {},
     .options = kOptions,
     .example = "dibs conflicts --matrix",
     .run = run_conflicts},
}};

}  // namespace

std::span<const Command> conflict_commands() { return kCommands; }

}  // namespace dibs::cli
