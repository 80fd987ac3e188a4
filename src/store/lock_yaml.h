// The YAML that lock files on a shared branch are written in: one flat list of `key: scalar`. Every
// tool that takes locks there reads and writes it, so nothing about a file is taken for granted,
// and what dibs does not know is kept as it stood.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dibs {

inline constexpr std::size_t kLockYamlMax = 256UL * 1024;
inline constexpr std::size_t kLockFieldsMax = 100;

struct LockField {
  std::string key;
  std::optional<std::string> value;  // none: it is there, but no plain or quoted scalar
  std::string text;                  // its lines as they stand in the file

  friend bool operator==(const LockField&, const LockField&) = default;
};
using LockFields = std::vector<LockField>;

// Scalars may be plain, 'quoted' or "quoted"; comments, blank lines, CRLF and document markers are
// allowed. Anything else at the top (a list, a key without a value's blank, a key twice) is an
// error.
[[nodiscard]] Result<LockFields> parse_lock_yaml(std::string_view text);

// One field with its text, quoted where it has to be.
[[nodiscard]] LockField lock_field(std::string_view key, std::string_view value);
[[nodiscard]] std::string to_yaml(const LockFields& fields);

// The scalar under a key; nothing when there is none.
[[nodiscard]] std::optional<std::string> value_in(const LockFields& fields, std::string_view key);

}  // namespace dibs
