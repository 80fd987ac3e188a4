// Running another program to its end: what it is given, what it says, and never longer than told.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dibs {

struct ProgramCall {
  std::vector<std::string> command;  // looked up in PATH unless it holds a slash; no shell sees it
  std::string directory;
  std::string_view input;
  std::vector<std::string> environment;  // NAME=value, all of it
  std::int64_t most_ms = 120'000;
  std::size_t most_output = 64UL * 1024 * 1024;  // of each of its two streams
  // Shown what it has said so far while it is still talking, and takes from the front what it has
  // understood: for more than one wants to keep, and to understand while it works on.
  std::function<void(std::string& out)> heard = {};
  int kept_open = -1;  // a descriptor of ours that it has too, such as a lock's; -1: none
  // Of any file that it, or what it starts, writes: whoever writes more is killed. 0: no bound.
  std::uint64_t most_file_bytes = 0;
  std::uint64_t most_memory_bytes = 0;  // of each of them, what it asks for; 0: no bound
  // Instead of `input`, and asked for when the program has been started: what takes a while to find
  // is found while it gets ready.
  std::function<std::string()> later_input = {};
};

struct ProgramEnd {
  enum class Cut { no, timed_out, said_too_much };
  int exit_code = 0;  // 128 + N when signal N ended it
  std::string out;
  std::string err;
  Cut cut = Cut::no;  // it was killed before its end

  [[nodiscard]] bool succeeded() const { return cut == Cut::no && exit_code == 0; }
};

class Programs {
 public:
  virtual ~Programs() = default;
  // An error only when it could not be started.
  [[nodiscard]] virtual Result<ProgramEnd> run(const ProgramCall& call) = 0;
  // Waits until all processes of this machine that run a program of that name now have ended, and a
  // moment longer for what bears another name. False when one lives on, or nobody can tell.
  [[nodiscard]] virtual bool outlast(std::string_view) { return false; }
};

class PosixPrograms final : public Programs {
 public:
  // In a session of its own, so that nothing it starts can ask the terminal for a password.
  [[nodiscard]] Result<ProgramEnd> run(const ProgramCall& call) override;
  [[nodiscard]] bool outlast(std::string_view name) override;
};

}  // namespace dibs
