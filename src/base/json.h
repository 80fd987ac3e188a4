// JSON in and out. Writing needs no document tree, because every log line passes through it and a
// tree would cost more than the flush; reading fills nlohmann's value type, within bounds.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace dibs {

// Keeps the order of members, so that what dibs does not know comes back as it was.
using Json = nlohmann::ordered_json;

inline constexpr std::size_t kJsonDepthMax = 16;
inline constexpr std::size_t kJsonMembersMax = 1000;

// Appends `text` as a JSON string. Bytes that are not UTF-8 become U+FFFD; callers check ids
// before.
void append_json_string(std::string& out, std::string_view text);
[[nodiscard]] std::string json_string(std::string_view text);

// Builds one object, member by member, in the order given.
//   JsonObject().add("op", "acquire").add("fence", 12).text()  →  {"op":"acquire","fence":12}
class JsonObject {
 public:
  JsonObject() { out_.reserve(256); }  // room for most, at the price of one small string

  JsonObject& add(std::string_view name, std::string_view value);
  JsonObject& add(std::string_view name, const char* value) {
    return add(name, std::string_view(value));
  }
  JsonObject& add(std::string_view name, std::int64_t value);
  JsonObject& add(std::string_view name, std::uint64_t value);
  JsonObject& add(std::string_view name, int value) { return add(name, std::int64_t{value}); }
  JsonObject& add(std::string_view name, bool value);
  JsonObject& add_raw(std::string_view name, std::string_view json);
  // Members as they would stand between braces: "\"a\":1,\"b\":2". Empty text adds nothing.
  JsonObject& add_members(std::string_view members);

  [[nodiscard]] std::string text() const { return out_ + '}'; }
  [[nodiscard]] std::string_view members() const { return std::string_view(out_).substr(1); }

 private:
  void name(std::string_view name);

  std::string out_ = "{";
};

class JsonArray {
 public:
  JsonArray& add(std::string_view value);
  JsonArray& add_raw(std::string_view json);
  [[nodiscard]] std::string text() const { return out_ + ']'; }

 private:
  std::string out_ = "[";
};

// How many bytes at the front stand for themselves within a JSON string: ASCII without quotes,
// backslashes and control characters. Nearly always all.
[[nodiscard]] std::size_t plain_json_prefix(std::string_view text);

// One JSON value and nothing after it; refuses duplicate keys and nesting past kJsonDepthMax.
[[nodiscard]] Result<Json> parse_json(std::string_view text);

// A well-formed object laid out for people and for git: one member a line, a newline at the end.
[[nodiscard]] std::string one_member_a_line(std::string_view object);

// Where the value that begins at `at` ends: at the comma or bracket that follows it. For text that
// is known to be well-formed, because its checksum is right; npos when it does not end.
[[nodiscard]] std::size_t skip_json_value(std::string_view text, std::size_t at);

// Members of an object, typed: nothing when absent or of another type.
[[nodiscard]] std::optional<std::string> text_member(const Json& object, const char* name);
[[nodiscard]] std::optional<std::int64_t> integer_member(const Json& object, const char* name);
[[nodiscard]] std::optional<std::uint64_t> unsigned_member(const Json& object, const char* name);

}  // namespace dibs
