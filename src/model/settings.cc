#include "model/settings.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "model/configured.h"
#include "model/conflict_rule.h"
#include "model/toml_text.h"

namespace dibs {

namespace {

// What a value must be, for an error message.
std::string wanted(const SettingSpec& spec) {
  switch (spec.type) {
    case SettingType::integer:
      return fmt::format("a whole number from {} to {}", spec.least, spec.most);
    case SettingType::boolean:
      return "true or false";
    case SettingType::choice: {
      std::string list(spec.choices);
      for (std::size_t at = 0; (at = list.find('|', at)) != std::string::npos;)
        list.replace(at, 1, " or ");
      return list;
    }
    case SettingType::name:
      return "letters, digits and ._/-, not beginning with a dash or a dot";
    case SettingType::path:
      return "a path, without quotes and backslashes";
  }
  return {};
}

// What may stand in a ref and in a remote's name, and can be taken for neither an option nor a path
// that leads elsewhere.
bool is_plain_name(std::string_view value) {
  constexpr std::size_t kNameMax = 100;
  const bool plain = std::ranges::all_of(value, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '/' || c == '-';
  });
  return plain && !value.empty() && value.size() <= kNameMax && value.front() != '-' &&
         value.front() != '.' && value.front() != '/' && !contains(value, "..") &&
         !contains(value, "//") && !contains(value, "/.");
}

// Written between quotes in a file, and as one line everywhere.
bool is_plain_path(std::string_view value) {
  constexpr std::size_t kPathMax = 1000;
  return !value.empty() && value.size() <= kPathMax && is_printable(value) &&
         value.find_first_of("\"\\") == std::string_view::npos;
}

bool fits(const SettingSpec& spec, std::string_view value) {
  if (value.empty()) return spec.fallback.empty();
  switch (spec.type) {
    case SettingType::integer: {
      const std::optional<std::uint64_t> number = parse_unsigned(value);
      return number && *number >= static_cast<std::uint64_t>(spec.least) &&
             *number <= static_cast<std::uint64_t>(spec.most);
    }
    case SettingType::boolean:
      return value == "true" || value == "false";
    case SettingType::choice:
      return std::ranges::count(split(spec.choices, '|'), value) > 0;
    case SettingType::name:
      return is_plain_name(value);
    case SettingType::path:
      return is_plain_path(value);
  }
  return false;
}

Error wrong_value(const SettingSpec& spec, std::string_view value, const std::string& origin) {
  return {.kind = ErrorKind::usage,
          .message =
              fmt::format("{}: {} cannot be '{}'", printable(origin), spec.key, printable(value)),
          .hint = fmt::format("it must be {}", wanted(spec)),
          .fields = {}};
}

std::string value_text(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  return "(another type)";
}

// A quoted number is a string, and a string where a number belongs is a mistake worth naming.
bool has_type(const SettingSpec& spec, const toml::node& node) {
  switch (spec.type) {
    case SettingType::integer:
      return node.is_integer();
    case SettingType::boolean:
      return node.is_boolean();
    case SettingType::choice:
    case SettingType::name:
    case SettingType::path:
      return node.is_string();
  }
  return false;
}

}  // namespace

std::string environment_name(const SettingSpec& spec) {
  std::string name = "DIBS_";
  for (const char c : spec.key) {
    name += static_cast<char>(c == '.' ? '_' : (c >= 'a' && c <= 'z' ? c - 32 : c));
  }
  return name;
}

Error unknown_setting(std::string_view key, const std::string& origin) {
  std::vector<std::string_view> known;
  for (const SettingSpec& spec : setting_specs()) known.push_back(spec.key);
  const std::optional<std::string_view> near = nearest(key, known);
  return {
      .kind = ErrorKind::usage,
      .message = fmt::format("{}: there is no setting '{}'", printable(origin), printable(key)),
      .hint = near ? fmt::format("did you mean {}?", *near) : "see all of them: dibs config list",
      .fields = {}};
}

Result<Assignment> check_setting(std::string_view key, std::string_view value,
                                 const std::string& origin) {
  const SettingSpec* spec = find_setting(key);
  if (spec == nullptr) return fail(unknown_setting(key, origin));
  if (!fits(*spec, value)) return fail(wrong_value(*spec, value, origin));
  return Assignment{.key = std::string(key), .value = std::string(value), .origin = origin};
}

Result<std::vector<Assignment>> parse_settings(std::string_view text, const std::string& file) {
  const Result<toml::table> table = parse_toml(text, file);
  if (!table) return fail(table.error());
  std::vector<Assignment> assignments;
  for (const auto& [section, content] : *table) {
    if (section.str() == kConflictsSection && content.is_array_of_tables()) continue;
    const toml::table* members = content.as_table();
    if (members == nullptr)
      return fail(unknown_setting(section.str(), toml_place(file, section.source())));
    for (const auto& [name, node] : *members) {
      // Tables by name are commands, and read elsewhere (model/configured).
      if (is_configured_section(section.str()) && node.is_table()) continue;
      const std::string key = std::string(section.str()) + "." + std::string(name.str());
      const std::string origin = toml_place(file, name.source());
      const SettingSpec* spec = find_setting(key);
      if (spec == nullptr) return fail(unknown_setting(key, origin));
      const std::string value = value_text(node);
      if (!has_type(*spec, node) || !fits(*spec, value))
        return fail(wrong_value(*spec, value, origin));
      assignments.push_back({.key = key, .value = value, .origin = origin});
    }
  }
  return assignments;
}

Result<std::string> with_setting(std::string_view text, const Assignment& assignment,
                                 const std::string& file) {
  const Result<toml::table> table = parse_toml(text, file);
  if (!table) return fail(table.error());
  const std::size_t dot = assignment.key.find('.');
  const std::string section = assignment.key.substr(0, dot);
  const std::string name = assignment.key.substr(dot + 1);
  const bool quoted = is_text(find_setting(assignment.key)->type);
  const std::string value = quoted ? '"' + assignment.value + '"' : assignment.value;
  const std::string line = fmt::format("{} = {}", name, value);

  std::vector<std::string> lines;
  for (const std::string_view part : split(text, '\n')) lines.emplace_back(part);
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  const toml::node_view<const toml::node> found = (*table)[section][name];
  if (found) {
    // The value alone is replaced, so that a comment after it stays.
    const toml::source_region& at = found.node()->source();
    std::string& old = lines.at(at.begin.line - 1);
    const std::size_t begin = std::min<std::size_t>(at.begin.column - 1, old.size());
    const std::size_t end = std::clamp<std::size_t>(at.end.column - 1, begin, old.size());
    old.replace(begin, end - begin, value);
  } else {
    const auto header = std::ranges::find(lines, fmt::format("[{}]", section),
                                          [](const std::string& l) { return trim(l); });
    if (header == lines.end()) {
      lines.push_back(fmt::format("[{}]", section));
      lines.push_back(line);
    } else {
      lines.insert(header + 1, line);
    }
  }
  std::string result;
  for (const std::string& part : lines) result += part + "\n";
  // Whatever unusual form the file had, the result must say what was asked for.
  const Result<std::vector<Assignment>> check = parse_settings(result, file);
  const bool said = check && std::ranges::any_of(*check, [&](const Assignment& a) {
                      return a.key == assignment.key && a.value == assignment.value;
                    });
  if (said) return result;
  return fail(ErrorKind::refused,
              fmt::format("{} cannot be changed without losing something", printable(file)),
              fmt::format("write it by hand, under [{}]: {}", section, line));
}

void Settings::apply(std::span<const Assignment> assignments) {
  for (const Assignment& assignment : assignments) assigned_[assignment.key] = assignment;
}

std::string_view Settings::text(std::string_view key) const {
  if (const auto found = assigned_.find(key); found != assigned_.end()) return found->second.value;
  const SettingSpec* spec = find_setting(key);
  return spec == nullptr ? std::string_view() : spec->fallback;
}

std::int64_t Settings::integer(std::string_view key) const {
  return static_cast<std::int64_t>(parse_unsigned(text(key)).value_or(0));
}

bool Settings::boolean(std::string_view key) const { return text(key) == "true"; }

std::string_view Settings::origin(std::string_view key) const {
  const auto found = assigned_.find(key);
  return found == assigned_.end() ? std::string_view("default")
                                  : std::string_view(found->second.origin);
}

Result<std::optional<std::string>> parse_agent_file(std::string_view text,
                                                    const std::string& file) {
  const Result<toml::table> table = parse_toml(text, file);
  if (!table) return fail(table.error());
  const toml::node_view<const toml::node> id = (*table)["agent"]["id"];
  if (!id) return std::nullopt;
  if (const auto value = id.value_exact<std::string>()) return *value;
  return fail(ErrorKind::usage,
              fmt::format("{}: agent.id must be a string",
                          printable(toml_place(file, id.node()->source()))),
              "write it like this: id = \"agent:copilot-1\"");
}

}  // namespace dibs
