// The verbs around a repository's set-up: init, config, doctor, recover, promises.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/upkeep.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

struct Initialised {
  std::string directory;
  std::string store;
  bool already = false;
  std::string note = {};  // why it is not the store that was asked for
};
struct Init {
  // Of a store on a git remote; none: as the settings say.
  std::optional<std::string> remote;
  std::optional<std::string> layout;
};
// Also changes from one store or layout to another, while nobody holds anything in the one that is
// left.
[[nodiscard]] Result<Initialised> init(Workspace& workspace, const Init& request = {});

struct SettingLine {
  std::string key;
  std::string value;
  std::string origin;
  std::string meaning;
};
[[nodiscard]] Result<std::vector<SettingLine>> config_list(Workspace& workspace);
[[nodiscard]] Result<SettingLine> config_get(Workspace& workspace, const std::string& key);
/// Whose file a setting is written to: this clone's, or the committed one.
enum class Audience { this_clone, everyone };
// Refuses what would take the store away from under its leases: that is for `init`.
[[nodiscard]] Result<SettingLine> config_set(Workspace& workspace, const std::string& key,
                                             const std::string& value, Audience audience);
// The same unasked, for `init` itself.
[[nodiscard]] Result<SettingLine> write_setting(Workspace& workspace, const std::string& key,
                                                const std::string& value, Audience audience);

// Checks everything a user could have wrong. Findings, not errors: a doctor always answers.
[[nodiscard]] std::vector<Finding> doctor(Workspace& workspace);

// Puts right what the doctor can: missing directories, modes, leftovers of a crash. What was done.
[[nodiscard]] Result<std::vector<std::string>> mend(Workspace& workspace);

struct Recovered {
  RepairReport report;
  std::size_t expired_evicted = 0;
  std::size_t run_worktrees_cleared = 0;  // of runs that were killed
};
[[nodiscard]] Result<Recovered> recover(Workspace& workspace, bool salvage);

}  // namespace dibs::verbs
