// The git program, called the one way dibs calls it: without a shell, without prompts, without
// what the caller's environment would do to it, and with its words made safe to show.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/file_system.h"
#include "sys/programs.h"

namespace dibs {

// For a call that goes through refs while others may delete some: a name with nothing behind it is
// passed over, where git would take it for damage and end.
inline constexpr const char* kRefsMayGo = "GIT_REF_PARANOIA=0";

class GitProgram {
 public:
  using Environment = std::function<std::vector<std::string>()>;
  // `environment` is the caller's, NAME=value; what could lead git elsewhere is left out. It is
  // asked only when git is run, because most commands never do.
  GitProgram(Programs& programs, Environment environment)
      : programs_(programs), environment_(std::move(environment)) {}

  struct Call {
    std::string git_dir;
    std::vector<std::string> arguments;  // from the subcommand on
    std::string_view input;
    std::int64_t most_ms = 120'000;
    std::string work_tree = {};                 // empty: git works in the git directory alone
    std::string directory = {};                 // to run in; empty: what git_dir belongs to
    std::vector<std::string> environment = {};  // NAME=value, on top of what is safe to inherit
    std::vector<std::string> settings = {};     // name=value, stronger than the user's own
    std::function<void(std::string& out)> heard = {};  // as in ProgramCall
    const FileLock* under = nullptr;  // ours, and git's until it ends, even if we are killed
    // As in ProgramCall, where what comes from a remote can be no more than so much.
    std::uint64_t most_file_bytes = 0;
    std::uint64_t most_memory_bytes = 0;
    std::function<std::string()> later_input = {};  // as in ProgramCall
  };
  // An error only when git could not be started; how it ended is the caller's to judge.
  [[nodiscard]] Result<ProgramEnd> run(const Call& call) const;
  // As above, and anything but exit 0 is an error of that kind, with what git said.
  [[nodiscard]] Result<std::string> output_of(const Call& call, ErrorKind kind) const;
  // Waits for every git that runs on this machine now, whoever started it; false when one lives on.
  [[nodiscard]] bool outlast_others() const { return programs_.outlast("git"); }

 private:
  Programs& programs_;
  Environment environment_;
};

// Where a git directory's user stands: its work tree if that is around it. The address of a remote
// may be a path, and then it is one seen from there.
[[nodiscard]] std::string place_of(const std::string& git_dir);

// What git said on its error stream, in one line that is safe to show: its first complaint.
[[nodiscard]] std::string complaint_of(const ProgramEnd& end);

}  // namespace dibs
