#include "verbs/landing_turn.h"

namespace dibs::verbs {

std::unique_ptr<FileLock> landing_turn(Workspace& workspace) {
  constexpr int kLooksMax = 500;
  constexpr std::int64_t kPauseMs = 4;
  const Result<std::string> directory = workspace.directory();
  if (!directory) return nullptr;
  for (int look = 0; look < kLooksMax; ++look) {
    Result<std::unique_ptr<FileLock>> turn = workspace.system().files.lock(
        *directory + "/locks/landing.lock", Patience::at_once, workspace.file_mode());
    if (!turn) return nullptr;
    if (*turn) return *std::move(turn);
    workspace.system().clock.sleep_ms(kPauseMs);
  }
  return nullptr;
}

}  // namespace dibs::verbs
