// A run drawn live on a terminal: a line a worker and the totals below, over and over in the same
// place. It fits the terminal whatever its size, and leaves the last frame standing.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"
#include "verbs/run.h"

namespace dibs::cli {

// The lines of one frame, none wider than `columns`, no more than `rows`.
[[nodiscard]] std::vector<std::string> run_frame(const verbs::RunNow& now, std::size_t columns,
                                                 std::size_t rows);

class RunView {
 public:
  explicit RunView(Terminal& terminal) : terminal_(terminal) {}

  void draw(const verbs::RunNow& now);
  // Takes the frame away, so that something can be said above it.
  void clear();

 private:
  Terminal& terminal_;
  std::size_t drawn_ = 0;    // lines
  std::size_t columns_ = 0;  // that they were made for
};

}  // namespace dibs::cli
