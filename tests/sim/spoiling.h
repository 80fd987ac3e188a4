// Planted bugs between the layers: a board that shows the rules something else than there is, and
// changes that are not what the rules decided.
#pragma once

#include <string_view>

#include "planted.h"
#include "rules/claim.h"

namespace dibs::sim {

/// Whose command it is.
struct Spoiled {
  Bug bug = Bug::none;
  std::string_view verb;
  const SessionId& session;
};

[[nodiscard]] Board spoiled_board(const Board& board, const Spoiled& by);
void spoil(Changes& changes, const Board& board, const Spoiled& by);

}  // namespace dibs::sim
