// How long a resource is usually held, from what happened to it: so that those who wait can be told
// how long it will take.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "model/event.h"

namespace dibs {

// The middle one of the last holds; nothing when none has ended yet. The events are of one
// resource, oldest first.
[[nodiscard]] std::optional<std::int64_t> usual_hold_ms(std::span<const PastEvent> past);

}  // namespace dibs
