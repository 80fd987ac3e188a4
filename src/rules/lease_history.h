// Whether a history is one of exclusive leases: at any moment of it, one holder a resource at most.
// Events decide nothing; read afterwards, they are the witness that the records were right. The
// demo proves its result with this.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/event.h"

namespace dibs {

// What contradicts it, a sentence each; empty: nothing does. `history` is in the store's order and
// begins with the first event. Shared leases would be taken for contradictions.
[[nodiscard]] std::vector<std::string> contradictions_in(std::span<const PastEvent> history);

}  // namespace dibs
