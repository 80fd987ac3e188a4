// What one commit changed, as one line of the file beside the index: readers put the lines over the
// image instead of writing 100,000 items anew for one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "items/catalog.h"

namespace dibs {

/// From one commit to the next.
struct CatalogStep {
  std::string from;
  std::string to;
  CatalogChange change;
};

[[nodiscard]] std::string to_line(const CatalogStep& step);  // with its newline
// Nothing when it is none: cut short, or from another version.
[[nodiscard]] std::optional<CatalogStep> step_from(std::string_view line);

}  // namespace dibs
