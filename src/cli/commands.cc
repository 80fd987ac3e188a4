#include <array>

#include "cli/command.h"

namespace dibs::cli {

namespace {
constexpr std::array<Option, 9> kGlobalOptions{{
    {.name = "-C", .takes = Takes::text, .value = "DIR", .meaning = "work as if started in DIR"},
    {.name = "--json", .meaning = "answer with one JSON object"},
    {.name = "--quiet", .meaning = "say nothing but errors"},
    {.name = "--agent-id",
     .takes = Takes::text,
     .value = "ID",
     .meaning = "who you are, as type:name"},
    {.name = "--store", .takes = Takes::text, .value = "NAME", .meaning = "which store to use"},
    {.name = "--color",
     .takes = Takes::text,
     .value = "WHEN",
     .meaning = "auto, always or never",
     .choices = "auto|always|never"},
    {.name = "--help", .meaning = "show this help"},
    {.name = "-h", .meaning = "show this help", .hidden = true},
    {.name = "--version", .meaning = "show the version"},
}};
}  // namespace

std::span<const Option> global_options() { return kGlobalOptions; }

const std::vector<Command>& commands() {
  static const std::vector<Command> kAll = [] {
    std::vector<Command> all;
    for (const auto group :
         {item_view_commands(), landing_commands(), gate_commands(), conflict_commands(),
          run_commands(), item_commands(), item_failure_commands(), item_exchange_commands(),
          item_sync_commands(), item_stamp_commands(), claim_commands(), lease_view_commands(),
          queue_commands(), observe_commands(), worktree_commands(), setup_commands(),
          trust_commands(), demo_commands(), help_commands()}) {
      all.insert(all.end(), group.begin(), group.end());
    }
    return all;
  }();
  return kAll;
}

}  // namespace dibs::cli
