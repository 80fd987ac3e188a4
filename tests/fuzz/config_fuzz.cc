// Configuration files: settings, commands, rules for conflicts, profiles of agents, who one is.
#include "fuzzing.h"
#include "model/agent_profile.h"
#include "model/configured.h"
#include "model/settings.h"

namespace dibs::fuzz {

namespace {

void check_settings(std::string_view toml) {
  const Result<std::vector<Assignment>> before = parse_settings(toml, "config.toml");
  if (!before) return;
  const Assignment set{.key = "coordination.default_ttl_secs", .value = "77", .origin = ""};
  const Result<std::string> changed = with_setting(toml, set, "config.toml");
  if (!changed) return;  // it says what to mend by hand
  const Result<std::vector<Assignment>> after = parse_settings(*changed, "config.toml");
  must(after.has_value(), "a file with a setting changed can be read");
  Settings settings;
  settings.apply(*after);
  must(settings.integer(set.key) == 77, "and has the setting");
}

}  // namespace

void try_input(std::string_view input) {
  check_settings(input);
  (void)parse_agent_file(input, "agent.toml");
  (void)parse_agent_profiles(input, "agents.toml");
  const Result<Configured> configured =
      parse_configured(input, "config.toml", ConfigSource::committed);
  if (!configured) return;
  for (const Gate& gate : configured->gates) {
    must(gate.manual || !gate.command.words.empty(), "a gate runs something or is passed by hand");
    must(!fingerprint(gate.command).empty(), "every command has a fingerprint");
    (void)shown(gate.command);
  }
}

}  // namespace dibs::fuzz
