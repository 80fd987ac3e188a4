// `item fail`: work on an item did not succeed. The item is as it was, but it says so: one more
// try, and a comment with what was heard last. After too many it waits for somebody to look at it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "verbs/items.h"

namespace dibs::verbs {

inline constexpr std::int64_t kTriesDefault = 3;
inline constexpr std::size_t kOutputBytesMax = 4096;  // of it, the end

struct FailItem {
  std::string item;
  std::string reason;
  std::string output;  // what the work said; its end is kept
  enum class Then { retry, park };
  Then then = Then::retry;
  std::int64_t tries_max = kTriesDefault;
};
struct FailedItem {
  ShownItem shown;
  bool parked = false;
};
[[nodiscard]] Result<FailedItem> fail_item(Workspace& workspace, const FailItem& request);

}  // namespace dibs::verbs
