// What becomes of files that conflict when work lands, by path:
//
//   [[conflicts]]
//   paths = ["package-lock.json"]
//   strategy = "theirs"    # manual, ours (the work's), theirs (the target's) or auto
//
//   [[conflicts]]
//   paths = "CHANGELOG.md"
//   strategy = "auto"
//   resolver = "union"     # a command, [resolvers.union]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/glob.h"

namespace dibs {

inline constexpr std::size_t kConflictRulesMax = 100;
inline constexpr std::string_view kConflictsSection = "conflicts";

enum class ConflictStrategy { manual, ours, theirs, automatic };
[[nodiscard]] std::string_view name_of(ConflictStrategy strategy);

struct ConflictRule {
  GlobSet paths;
  ConflictStrategy strategy = ConflictStrategy::manual;
  std::string resolver;  // of strategy auto
  std::string origin;    // "file:line"
};

// In their order. Errors name file and line, and what would be right.
[[nodiscard]] Result<std::vector<ConflictRule>> parse_conflict_rules(std::string_view toml,
                                                                     const std::string& file);

}  // namespace dibs
