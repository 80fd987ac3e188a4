// One JSON object as it stands in a file: a member can be set, added or taken away, and every other
// byte stays as it was, order, blanks and escapes included.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace dibs {

class JsonLine {
 public:
  // Refuses what parse_json refuses, and what is no object.
  [[nodiscard]] static Result<JsonLine> parse(std::string_view text);

  // The value as it stands; nothing when there is no such member.
  [[nodiscard]] std::optional<std::string_view> raw(std::string_view name) const;
  void set(std::string_view name, std::string_view json);
  void remove(std::string_view name);

  [[nodiscard]] const std::string& text() const { return text_; }
  // What parse() read; set() and remove() do not change it.
  [[nodiscard]] const Json& json() const { return *json_; }

 private:
  struct Member {
    std::string name;
    std::size_t begin = 0;  // of its name's quote
    std::size_t value = 0;
    std::size_t end = 0;  // behind its value
  };
  JsonLine() = default;
  void find_members();
  [[nodiscard]] const Member* find(std::string_view name) const;

  std::string text_;
  std::shared_ptr<const Json> json_;
  std::vector<Member> members_;
};

/// Members as an Item keeps those that dibs does not know: names, and values as JSON.
using JsonMembers = std::vector<std::pair<std::string, std::string>>;

// From between the braces of an object, values in one normal form; nothing when that is not JSON.
[[nodiscard]] JsonMembers members_in(std::string_view between_braces);
[[nodiscard]] std::string joined(const JsonMembers& members);
// Null when there is none.
[[nodiscard]] const std::string* find_member(const JsonMembers& members, std::string_view name);

}  // namespace dibs
