#include "items/json_line.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace dibs {

namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::size_t skip_space(std::string_view text, std::size_t at) {
  const std::size_t next = text.find_first_not_of(kSpace, at);
  return next == std::string_view::npos ? text.size() : next;
}

std::size_t behind_string(std::string_view text, std::size_t quote) {
  for (std::size_t at = quote + 1; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

std::string unquoted(std::string_view quoted) {
  if (quoted.find('\\') == std::string_view::npos)
    return std::string(quoted.substr(1, quoted.size() - 2));
  const Result<Json> name = parse_json(quoted);
  return name && name->is_string() ? name->get<std::string>() : std::string();
}

}  // namespace

Result<JsonLine> JsonLine::parse(std::string_view text) {
  Result<Json> json = parse_json(text);
  if (!json) return fail(ErrorKind::refused, json.error().message);
  if (!json->is_object()) return fail(ErrorKind::refused, "it is not a JSON object");
  JsonLine line;
  line.text_ = std::string(text);
  line.json_ = std::make_shared<const Json>(*std::move(json));
  line.find_members();
  return line;
}

void JsonLine::find_members() {
  members_.clear();
  std::size_t at = skip_space(text_, text_.find('{') + 1);
  while (at < text_.size() && text_[at] == '"') {
    const std::size_t name_end = behind_string(text_, at);
    const std::size_t colon = skip_space(text_, name_end);
    const std::size_t value = skip_space(text_, colon + 1);
    const std::size_t next = skip_json_value(text_, value);
    const std::size_t end = text_.find_last_not_of(kSpace, next - 1) + 1;
    members_.push_back({.name = unquoted(std::string_view(text_).substr(at, name_end - at)),
                        .begin = at,
                        .value = value,
                        .end = end});
    at = text_[next] == ',' ? skip_space(text_, next + 1) : text_.size();
  }
}

const JsonLine::Member* JsonLine::find(std::string_view name) const {
  const auto member = std::ranges::find(members_, name, &Member::name);
  return member == members_.end() ? nullptr : &*member;
}

std::optional<std::string_view> JsonLine::raw(std::string_view name) const {
  const Member* member = find(name);
  if (member == nullptr) return std::nullopt;
  return std::string_view(text_).substr(member->value, member->end - member->value);
}

void JsonLine::set(std::string_view name, std::string_view json) {
  if (const Member* member = find(name)) {
    text_.replace(member->value, member->end - member->value, json);
  } else if (members_.empty()) {
    text_.insert(text_.find('{') + 1, json_string(name) + ":" + std::string(json));
  } else {
    // As far from the comma as the last one is.
    const std::size_t last = members_.back().begin;
    const std::size_t blank = text_.find_last_not_of(kSpace, last - 1) + 1;
    const std::string space = text_.substr(blank, last - blank);
    text_.insert(members_.back().end, "," + space + json_string(name) + ":" + std::string(json));
  }
  find_members();
}

void JsonLine::remove(std::string_view name) {
  const Member* member = find(name);
  if (member == nullptr) return;
  const bool last = member == &members_.back();
  // With the comma that follows it, or else the one before.
  const std::size_t begin = last && members_.size() > 1 ? (member - 1)->end : member->begin;
  const std::size_t end = last ? member->end : (member + 1)->begin;
  text_.erase(begin, end - begin);
  find_members();
}

JsonMembers members_in(std::string_view between_braces) {
  JsonMembers members;
  if (between_braces.empty()) return members;
  const Result<Json> json = parse_json("{" + std::string(between_braces) + "}");
  if (!json || !json->is_object()) return members;
  for (const auto& [name, value] : json->items()) members.emplace_back(name, value.dump());
  return members;
}

std::string joined(const JsonMembers& members) {
  JsonObject object;
  for (const auto& [name, json] : members) object.add_raw(name, json);
  return std::string(object.members());
}

const std::string* find_member(const JsonMembers& members, std::string_view name) {
  const auto member = std::ranges::find(members, name, &JsonMembers::value_type::first);
  return member == members.end() ? nullptr : &member->second;
}

}  // namespace dibs
