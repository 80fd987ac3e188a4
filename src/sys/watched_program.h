// A command of somebody else's, run to its end under watch: its last output is kept, it is asked
// now and then whether it may go on, and nothing that it started outlives it. Gates are run like
// this.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace dibs {

struct WatchedCall {
  std::vector<std::string> command;  // looked up in PATH unless it holds a slash; no shell sees it
  std::string directory;
  std::vector<std::string> environment;  // NAME=value, all of it
  std::int64_t most_ms = 0;
  std::int64_t grace_ms = 5000;          // between the polite end and the other one
  std::size_t tail_bytes = 16UL * 1024;  // of what it says, on both streams together
  std::int64_t ask_every_ms = 1000;
  std::function<bool()> may_go_on = {};  // false: it is stopped
};

struct WatchedEnd {
  enum class Cut { no, timed_out, stopped };
  int exit_code = 0;  // 128 + N when signal N ended it
  std::string tail;
  bool said_more = false;  // there was more before the tail
  Cut cut = Cut::no;

  [[nodiscard]] bool succeeded() const { return cut == Cut::no && exit_code == 0; }
};

// In a session of its own with nothing to read, so that it cannot ask anybody. An error only when
// it could not be started. A signal that would end us (INT, TERM, HUP) ends it first.
[[nodiscard]] Result<WatchedEnd> run_watched(const WatchedCall& call);

}  // namespace dibs
