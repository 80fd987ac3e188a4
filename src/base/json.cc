#include "base/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

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

namespace {

// Builds the document while it is parsed, and stops where it breaks a bound. nlohmann's own builder
// checks nothing, and its callback costs twice the parsing.
class BoundedBuilder {
 public:
  [[nodiscard]] Json take() { return std::move(root_); }
  [[nodiscard]] const char* problem() const { return problem_; }

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(Json::number_integer_t value) { return put(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return put(value); }
  bool number_float(Json::number_float_t value, const std::string& /*text*/) { return put(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(Json::binary_t& /*value*/) { return stop("it is not well-formed"); }
  bool start_object(std::size_t /*size*/) { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    auto& members = open_.back()->get_ref<Json::object_t&>();
    if (members.size() >= kJsonMembersMax) return stop("an object has too many members");
    const auto [member, is_new] = members.emplace(std::move(name), Json());
    if (!is_new) return stop("a key stands in it twice");
    value_ = &member->second;
    return true;
  }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const Json::exception& /*why*/) {
    return stop("it is not well-formed");
  }

 private:
  bool stop(const char* problem) {
    problem_ = problem;
    return false;
  }

  // Where the next value goes: the root, a new element, or the member whose key came just before.
  template <class Value>
  bool put(Value&& value) {
    if (open_.empty()) {
      root_ = std::forward<Value>(value);
      value_ = &root_;
    } else if (open_.back()->is_array()) {
      open_.back()->push_back(std::forward<Value>(value));
      value_ = &open_.back()->back();
    } else {
      *value_ = std::forward<Value>(value);
    }
    return true;
  }

  bool open(Json container) {
    if (open_.size() >= kJsonDepthMax) return stop("it is nested too deeply");
    put(std::move(container));
    // A container does not grow while one inside it is open, so the pointers stay good.
    open_.push_back(value_);
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  Json root_;
  std::vector<Json*> open_;
  Json* value_ = nullptr;
  const char* problem_ = nullptr;
};

}  // namespace

Result<Json> parse_json(std::string_view text) {
  BoundedBuilder builder;
  // The parser takes a zero byte for the end of its input, and would not look at what follows.
  const bool parsed = !contains(text, std::string_view("\0", 1)) && Json::sax_parse(text, &builder);
  if (parsed) return builder.take();
  const char* problem = builder.problem() != nullptr ? builder.problem() : "it is not well-formed";
  return fail(ErrorKind::internal, fmt::format("bad JSON: {}", problem));
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
