// What some stores need done besides reading and committing: mending what a crash left, and saying
// what is wrong. Stores that keep nothing on this machine have no upkeep.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace dibs {

struct RepairReport {
  bool log_repaired = false;
  bool index_rebuilt = false;
  std::size_t temporary_files_removed = 0;
  std::size_t damaged_entries = 0;  // entries a salvage had to leave out
  std::vector<std::string> notes;   // what was done, for a person
};

/// One thing that was looked at, and how to put it right if it is wrong.
struct Finding {
  enum class Level { ok, warning, problem };
  Level level = Level::ok;
  std::string what;
  std::string fix;  // a command; empty when all is well
};

class Upkeep {
 public:
  virtual ~Upkeep() = default;
  // Cuts a torn end, rebuilds the index, removes leftovers. Stops at damage.
  [[nodiscard]] virtual Result<RepairReport> repair() = 0;
  // After damage: keeps every entry that can still be read, sets the old files aside and starts a
  // new log whose fences go on where the old ones ended.
  [[nodiscard]] virtual Result<RepairReport> salvage() = 0;
  // Puts away what nobody needs to see any more; says how much that was.
  [[nodiscard]] virtual Result<std::size_t> tidy() = 0;
  // Looks without changing anything.
  [[nodiscard]] virtual std::vector<Finding> inspect() = 0;
};

}  // namespace dibs
