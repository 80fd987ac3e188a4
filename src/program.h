// All of dibs as one call. Apart from main so that a test can build a dibs whose stores misbehave,
// and see that the tests which rely on them notice.
#pragma once

#include <functional>
#include <memory>

#include "store/store.h"

namespace dibs {

/// Puts something around a store that was opened. It must keep what it is given: other parts of the
/// program refer to it.
using WrapStore = std::function<std::unique_ptr<Store>(std::unique_ptr<Store>)>;

// As main takes them; returns the exit code.
[[nodiscard]] int run_program(int argc, char** argv, const WrapStore& wrap = {});

}  // namespace dibs
