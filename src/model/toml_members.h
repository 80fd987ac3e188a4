// Tables of a TOML file with a few known keys each: what a key may be is data, and an error says
// so. Only .cc files of model/ include this, as they do toml_text.h.
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "model/item.h"
#include "model/toml_text.h"

namespace dibs::toml_members {

inline constexpr std::size_t kListMax = 100;

[[nodiscard]] inline tl::unexpected<Error> wrong(const std::string& file,
                                                 const toml::source_region& source,
                                                 std::string_view what, std::string hint) {
  return fail(ErrorKind::usage, fmt::format("{}: {}", printable(toml_place(file, source)), what),
              std::move(hint));
}

[[nodiscard]] inline bool read_number(const toml::node& node, std::int64_t most, std::int64_t& to) {
  const auto number = node.value_exact<std::int64_t>();
  if (!number || *number < 1 || *number > most) return false;
  to = *number;
  return true;
}

[[nodiscard]] inline bool read_flag(const toml::node& node, bool& to) {
  const auto value = node.value_exact<bool>();
  to = value.value_or(false);
  return value.has_value();
}

[[nodiscard]] inline bool read_word(const toml::node& node, std::string& to) {
  const auto word = node.value_exact<std::string>();
  if (!word || word->empty() || word->size() > kWordMax || !is_printable(*word)) return false;
  to = *word;
  return true;
}

[[nodiscard]] inline bool read_words(const toml::node& node, std::vector<std::string>& to) {
  const toml::array* array = node.as_array();
  if (array == nullptr || array->size() > kListMax) return false;
  return std::ranges::all_of(
      *array, [&](const toml::node& element) { return read_word(element, to.emplace_back()); });
}

/// A key that a table may have, and what it must be.
template <class T>
struct Member {
  std::string_view name;
  bool (*read)(const toml::node&, T&);
  std::string_view wanted;
};

template <class T, std::size_t N>
[[nodiscard]] Done read_member(const std::string& file, std::string_view kind,
                               const std::array<Member<T>, N>& members, const toml::key& key,
                               const toml::node& node, T& to) {
  const auto* member = std::ranges::find(members, key.str(), &Member<T>::name);
  if (member == members.end()) {
    std::vector<std::string_view> known;
    for (const Member<T>& one : members) known.push_back(one.name);
    const auto near = nearest(key.str(), known);
    return wrong(file, key.source(), fmt::format("a {} has no '{}'", kind, printable(key.str())),
                 near ? fmt::format("did you mean {}?", *near)
                      : fmt::format("it may have {}", fmt::join(known, ", ")));
  }
  if (member->read(node, to)) return {};
  return wrong(file, key.source(), fmt::format("{} cannot be that", member->name),
               fmt::format("it must be {}", member->wanted));
}

}  // namespace dibs::toml_members
