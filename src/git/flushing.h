// Whether git flushes the objects that dibs has it make.
#pragma once

namespace dibs {

enum class Flushing {
  at_once,  // on disk when git has ended
  none,     // not before it counts: then the caller flushes it, or pushes it, or makes it again
};

[[nodiscard]] constexpr const char* as_git_setting(Flushing flushing) {
  return flushing == Flushing::at_once ? "core.fsync=all" : "core.fsync=none";
}

}  // namespace dibs
