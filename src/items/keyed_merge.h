// A three-way merge of a list of texts that each have a name: the lines of a file of issues, the
// fields above a task. It decides what stays and in which order; what both sides changed is the
// caller's to decide.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dibs {

/// The views are the caller's.
struct KeyedText {
  std::string key;  // once in a list
  std::string_view text;
};

/// One that stays, as each version has it.
struct KeyedVersions {
  std::string key;
  std::optional<std::string_view> base;
  std::optional<std::string_view> ours;
  std::optional<std::string_view> theirs;
};

enum class Settled { ours, theirs, clash };
// Where one side changed it, that side's. What one side took away and the other changed stays.
[[nodiscard]] Settled settle(const std::optional<std::string_view>& base,
                             const std::optional<std::string_view>& ours,
                             const std::optional<std::string_view>& theirs);

// Everything that stays, in the order of the side that changed the order (ours, if both did); what
// the other side added stands behind what it stood behind there.
[[nodiscard]] std::vector<KeyedVersions> merged_list(const std::vector<KeyedText>& base,
                                                     const std::vector<KeyedText>& ours,
                                                     const std::vector<KeyedText>& theirs);

}  // namespace dibs
