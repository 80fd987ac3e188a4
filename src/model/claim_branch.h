// The name of the visible branch that a claimed item has on a remote with layout `branches`.
#pragma once

#include <string>
#include <string_view>

#include "base/name_encoding.h"

namespace dibs {

// "indevelopment-42"
[[nodiscard]] inline std::string claim_branch_name(std::string_view state, std::string_view item) {
  return std::string(state) + "-" + encode_name(item);
}

}  // namespace dibs
