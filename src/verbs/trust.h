// Commands that came with the repository run only after somebody here has looked at them: `dibs
// trust` writes down their fingerprints for this clone, and one that changed since is not trusted
// any more. Whoever is about to run a configured command asks check_trusted first.
//
//   Result<Configured> all = configured(workspace);
//   if (Done fine = check_trusted(workspace, commands); !fine) return fail(fine.error());
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/configured.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

// Gates, workers and resolvers of all configuration files; the stronger file counts.
[[nodiscard]] Result<Configured> configured(Workspace& workspace);

enum class TrustStanding { needs_none, trusted, changed, unknown };
[[nodiscard]] std::string_view name_of(TrustStanding standing);

struct JudgedCommand {
  ConfiguredCommand command;
  TrustStanding standing = TrustStanding::unknown;

  [[nodiscard]] bool may_run() const {
    return standing == TrustStanding::needs_none || standing == TrustStanding::trusted;
  }
};
// Every command that is configured here.
[[nodiscard]] Result<std::vector<JudgedCommand>> judged_commands(Workspace& workspace);

// Refused, with the first command that may not run.
[[nodiscard]] Done check_trusted(Workspace& workspace, std::span<const ConfiguredCommand> commands);

// From now on these may run, as they are. The caller has shown them to somebody.
[[nodiscard]] Done trust(Workspace& workspace, std::span<const ConfiguredCommand> commands);

// Nothing that came with the repository runs any more; how many were trusted.
[[nodiscard]] Result<std::size_t> revoke_trust(Workspace& workspace);

}  // namespace dibs::verbs
