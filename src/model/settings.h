// What a repository, a clone or a person has configured. One table says which keys there are, what
// they may be and what they mean; reading, checking, listing and documenting all go by it.
//
// Later sources win: the defaults, then the person's file, the committed file, this clone's file,
// and the environment.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dibs {

enum class SettingType { integer, boolean, choice, name, path };

[[nodiscard]] constexpr bool is_text(SettingType type) {
  return type == SettingType::choice || type == SettingType::name || type == SettingType::path;
}

struct SettingSpec {
  std::string_view key;  // section.name
  SettingType type;
  std::string_view fallback;  // empty: nothing is chosen, and empty may be set
  std::int64_t least = 0;     // integers
  std::int64_t most = 0;
  std::string_view choices = {};  // choices, separated by '|'
  std::string_view meaning;
};

[[nodiscard]] std::span<const SettingSpec> setting_specs();
[[nodiscard]] const SettingSpec* find_setting(std::string_view key);
// DIBS_COORDINATION_DEFAULT_TTL_SECS for coordination.default_ttl_secs.
[[nodiscard]] std::string environment_name(const SettingSpec& spec);

struct Assignment {
  std::string key;
  std::string value;   // as text; TOML quotes taken off
  std::string origin;  // "file:line", or the name of the variable
};

// The assignments in a TOML text. Unknown keys and wrong types are errors that name file, line and
// the nearest valid key.
[[nodiscard]] Result<std::vector<Assignment>> parse_settings(std::string_view toml,
                                                             const std::string& file);
// One value from elsewhere, checked the same way.
[[nodiscard]] Result<Assignment> check_setting(std::string_view key, std::string_view value,
                                               const std::string& origin);
[[nodiscard]] Error unknown_setting(std::string_view key, const std::string& origin);

// `toml` with `key` set to `value`, everything else (comments, order) as it was.
[[nodiscard]] Result<std::string> with_setting(std::string_view toml, const Assignment& assignment,
                                               const std::string& file);

class Settings {
 public:
  void apply(std::span<const Assignment> assignments);

  [[nodiscard]] std::int64_t integer(std::string_view key) const;
  [[nodiscard]] bool boolean(std::string_view key) const;
  [[nodiscard]] std::string_view text(std::string_view key) const;
  [[nodiscard]] std::string_view origin(
      std::string_view key) const;  // "default" when nobody set it

 private:
  std::map<std::string, Assignment, std::less<>> assigned_;
};

// agent.toml: `[agent] id = "…"`. Other keys there are the person's own and left alone.
[[nodiscard]] Result<std::optional<std::string>> parse_agent_file(std::string_view toml,
                                                                  const std::string& file);

}  // namespace dibs
