#include "base/json.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace dibs {

namespace {
void append_unit(std::string& out, std::uint32_t unit) {
  out += "\\u";
  append_hex(out, static_cast<std::uint8_t>(unit >> 8U));
  append_hex(out, static_cast<std::uint8_t>(unit));
}

// As \uXXXX, or two of them: what would hide or reorder text must not reach a terminal raw.
void append_escaped(std::string& out, char32_t point) {
  if (point < 0x10000) return append_unit(out, point);
  append_unit(out, 0xd800 + (point - 0x10000) / 0x400);
  append_unit(out, 0xdc00 + (point - 0x10000) % 0x400);
}
}  // namespace

namespace {

// Whether all of eight bytes are plain. For each byte, the top bit of one of these is set if it is
// not: tricks that are exact about "any", if not about "which".
bool are_plain(std::uint64_t bytes) {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  constexpr std::uint64_t kTop = 0x80 * kEach;
  const auto any_is = [&](std::uint64_t byte) {
    const std::uint64_t other = bytes ^ (byte * kEach);
    return (other - kEach) & ~other;
  };
  const std::uint64_t below_space = (bytes - 0x20 * kEach) & ~bytes;
  return ((bytes | below_space | any_is('"') | any_is('\\') | any_is(0x7f)) & kTop) == 0;
}

}  // namespace

std::size_t plain_json_prefix(std::string_view text) {
  std::size_t length = 0;
  std::uint64_t bytes = 0;
  for (; length + sizeof bytes <= text.size(); length += sizeof bytes) {
    std::memcpy(&bytes, text.data() + length, sizeof bytes);
    if (!are_plain(bytes)) break;
  }
  while (length < text.size()) {
    const auto c = static_cast<unsigned char>(text[length]);
    if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\') break;
    ++length;
  }
  return length;
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (true) {
    const std::size_t plain = plain_json_prefix(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto c = static_cast<unsigned char>(text.front());
    std::size_t length = 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text.front();
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || c == 0x7f) {
      out += "\\u00";
      append_hex(out, c);
    } else if (const std::optional<CodePoint> point = decode_utf8(text)) {
      length = point->length;
      if (is_unsafe_to_show(point->value)) {
        append_escaped(out, point->value);
      } else {
        out += text.substr(0, length);
      }
    } else {
      out += "\xef\xbf\xbd";
    }
    text.remove_prefix(length);
  }
  out += '"';
}

std::string json_string(std::string_view text) {
  std::string quoted;
  append_json_string(quoted, text);
  return quoted;
}

void JsonObject::name(std::string_view name) {
  if (out_.size() > 1) out_ += ',';
  append_json_string(out_, name);
  out_ += ':';
}

JsonObject& JsonObject::add(std::string_view name, std::string_view value) {
  this->name(name);
  append_json_string(out_, value);
  return *this;
}

JsonObject& JsonObject::add(std::string_view name, std::int64_t value) {
  this->name(name);
  out_ += fmt::format_int(value).c_str();
  return *this;
}

JsonObject& JsonObject::add(std::string_view name, std::uint64_t value) {
  this->name(name);
  out_ += fmt::format_int(value).c_str();
  return *this;
}

JsonObject& JsonObject::add(std::string_view name, bool value) {
  return add_raw(name, value ? "true" : "false");
}

JsonObject& JsonObject::add_raw(std::string_view name, std::string_view json) {
  this->name(name);
  out_ += json;
  return *this;
}

JsonObject& JsonObject::add_members(std::string_view members) {
  if (members.empty()) return *this;
  if (out_.size() > 1) out_ += ',';
  out_ += members;
  return *this;
}

JsonArray& JsonArray::add(std::string_view value) {
  if (out_.size() > 1) out_ += ',';
  append_json_string(out_, value);
  return *this;
}

JsonArray& JsonArray::add_raw(std::string_view json) {
  if (out_.size() > 1) out_ += ',';
  out_ += json;
  return *this;
}

std::size_t skip_json_value(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  for (bool in_string = false; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at;
      --depth;
    } else if (c == ',' && depth == 0) {
      return at;
    }
  }
  return std::string_view::npos;
}

std::string one_member_a_line(std::string_view object) {
  std::string out = "{";
  std::size_t at = 1;
  while (at < object.size() && object[at] != '}') {
    const std::size_t end = skip_json_value(object, at);
    out += at == 1 ? "\n  " : ",\n  ";
    out += object.substr(at, end - at);
    at = object[end] == ',' ? end + 1 : end;
  }
  return out + (at == 1 ? "}\n" : "\n}\n");
}

namespace {
const Json* member(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  // Not object.find(), which makes a std::string of every name it is asked for.
  for (const auto& [key, value] : object.get_ref<const Json::object_t&>()) {
    if (key == name) return &value;
  }
  return nullptr;
}
}  // namespace

std::optional<std::string> text_member(const Json& object, const char* name) {
  const Json* found = member(object, name);
  if (found == nullptr || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<std::int64_t> integer_member(const Json& object, const char* name) {
  const Json* found = member(object, name);
  if (found == nullptr || !found->is_number_integer()) return std::nullopt;
  // An unsigned value past the signed range would wrap: not an integer we know how to hold.
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  return found->get<std::int64_t>();
}

std::optional<std::uint64_t> unsigned_member(const Json& object, const char* name) {
  const Json* found = member(object, name);
  if (found == nullptr || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

}  // namespace dibs
