#include "base/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/text.h"

namespace dibs {

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
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
    } else if (c < 0x80) {
      out += text.front();
    } else if (const std::optional<CodePoint> point = decode_utf8(text)) {
      length = point->length;
      out += text.substr(0, length);
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

Result<Json> parse_json(std::string_view text) {
  const char* problem = nullptr;
  std::vector<std::set<std::string>> open_objects;  // the keys seen in each object still open
  const Json::parser_callback_t check = [&](int depth, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (static_cast<std::size_t>(depth) > kJsonDepthMax) {
      problem = "it is nested too deeply";
      return false;
    }
    if (event == Event::object_start) open_objects.emplace_back();
    if (event == Event::object_end) open_objects.pop_back();
    if (event == Event::key && !open_objects.back().insert(parsed.get<std::string>()).second) {
      problem = "a key stands in it twice";
    }
    return true;
  };
  Json value = Json::parse(text, check, /*allow_exceptions=*/false);
  if (problem == nullptr && value.is_discarded()) problem = "it is not well-formed";
  if (problem != nullptr) return fail(ErrorKind::internal, fmt::format("bad JSON: {}", problem));
  return value;
}

namespace {
const Json* member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
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
