#include "store/log_line.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/crc32c.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time.h"

namespace dibs {

namespace {
constexpr std::string_view kCrcOpen = R"(,"crc":")";
constexpr std::string_view kCrcClose = R"("})";
static_assert(kCrcSuffixLength == kCrcOpen.size() + 8 + kCrcClose.size());

constexpr std::string_view kStart = R"({"schema_version":1,"seq":)";

// A line that is intact but does not start like ours: a newer dibs, or fields in another order.
LineFault judge_unusual_start(std::string_view line, std::uint64_t expected_seq) {
  const Result<Json> json = parse_json(line);
  if (!json) return LineFault::damaged;
  const std::optional<std::uint64_t> schema = unsigned_member(*json, "schema_version");
  if (!schema) return LineFault::damaged;
  if (*schema > kLogSchemaVersion) return LineFault::newer_schema;
  return unsigned_member(*json, "seq") == expected_seq ? LineFault::none : LineFault::damaged;
}
}  // namespace

void close_with_crc(std::string& line, std::uint32_t seed) {
  const std::uint32_t crc = crc32c(seed, line);
  line += kCrcOpen;
  line += hex32(crc);
  line += kCrcClose;
}

LogLine line_for(const Transaction& transaction, std::int64_t unix_ms) {
  LogLine line{.seq = 0,
               .unix_ms = unix_ms,
               .nonce = transaction.nonce,
               .writes = {},
               .events = transaction.events};
  for (const Write& write : transaction.writes) {
    line.writes.push_back({.key = write.key, .value = write.value, .version = std::nullopt});
  }
  return line;
}

std::string encode_line(const LogPosition& before, const LogLine& line) {
  std::string text(kStart);
  text += fmt::format_int(before.seq + 1).c_str();
  text += R"(,"time":")" + rfc3339(line.unix_ms) + R"(","nonce":")" + line.nonce.hex() +
          R"(","writes":[)";
  for (const LoggedWrite& write : line.writes) {
    if (text.back() != '[') text += ',';
    text += "{" + write_mark(write.key);
    if (write.version) text += fmt::format(R"(,"version":{})", write.version->value);
    text += R"(,"value":)" + write.value.value_or("null") + "}";
  }
  text += R"(],"events":[)";
  for (const Event& event : line.events) {
    if (text.back() != '[') text += ',';
    text += to_json(event);
  }
  text += ']';
  close_with_crc(text, before.crc);
  text += '\n';
  return text;
}

std::optional<std::uint32_t> stated_crc(std::string_view line) {
  if (line.size() < kCrcSuffixLength) return std::nullopt;
  const std::string_view suffix = line.substr(line.size() - kCrcSuffixLength);
  if (!suffix.starts_with(kCrcOpen) || !suffix.ends_with(kCrcClose)) return std::nullopt;
  return parse_hex32(suffix.substr(kCrcOpen.size(), 8));
}

std::optional<std::uint64_t> stated_seq(std::string_view line) {
  if (!line.starts_with(kStart)) return std::nullopt;
  line.remove_prefix(kStart.size());
  const std::size_t end = line.find(',');
  return end == std::string_view::npos ? std::nullopt : parse_unsigned(line.substr(0, end));
}

CheckedLine check_line(const LogPosition& before, std::string_view line) {
  const std::optional<std::uint32_t> stated = stated_crc(line);
  if (!stated) return {.fault = LineFault::damaged};
  const std::uint32_t actual = crc32c(before.crc, line.substr(0, line.size() - kCrcSuffixLength));
  if (actual != *stated) return {.fault = LineFault::damaged};
  if (stated_seq(line) == before.seq + 1) return {.fault = LineFault::none, .crc = actual};
  return {.fault = judge_unusual_start(line, before.seq + 1), .crc = actual};
}

Result<LogLine> parse_line(std::string_view text) {
  const auto bad = [](const std::string& why) {
    return fail(ErrorKind::internal, "a log line cannot be read: " + why);
  };
  const Result<Json> json = parse_json(text);
  if (!json) return bad(json.error().message);
  const auto seq = unsigned_member(*json, "seq");
  const auto time = parse_rfc3339(text_member(*json, "time").value_or(""));
  const auto nonce = Nonce::from_hex(text_member(*json, "nonce").value_or(""));
  const bool has_lists = json->contains("writes") && (*json)["writes"].is_array() &&
                         json->contains("events") && (*json)["events"].is_array();
  if (!seq || !time || !nonce || !has_lists) return bad("a field is missing");
  LogLine line{.seq = *seq, .unix_ms = *time, .nonce = *nonce, .writes = {}, .events = {}};
  for (const Json& entry : (*json)["writes"]) {
    auto key = text_member(entry, "key");
    if (!key || !entry.contains("value")) return bad("a write has no key or value");
    LoggedWrite write{.key = {*std::move(key)}, .value = std::nullopt, .version = std::nullopt};
    if (const auto version = unsigned_member(entry, "version")) write.version = Version{*version};
    if (!entry["value"].is_null()) write.value = entry["value"].dump();
    line.writes.push_back(std::move(write));
  }
  for (const Json& entry : (*json)["events"]) {
    // An op that this dibs does not know is part of the story, not of the state: left out here.
    if (Result<Event> event = event_from_json(entry)) line.events.push_back(*std::move(event));
  }
  return line;
}

namespace {

// Reads a line of the exact form that encode_line gives it, piece by piece.
class LineReader {
 public:
  explicit LineReader(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool skip(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  // Up to a separator, which is left.
  [[nodiscard]] std::optional<std::string_view> value() {
    const std::size_t end = skip_json_value(rest_, 0);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return text;
  }
  // The text of a string without escapes, as we would write it: anything else is not what it says.
  [[nodiscard]] std::optional<std::string_view> plain_string() {
    const std::optional<std::string_view> text = value();
    if (!text || text->size() < 2 || text->front() != '"') return std::nullopt;
    const std::string_view inner = text->substr(1, text->size() - 2);
    const bool plain = plain_json_prefix(inner) == inner.size() || json_string(inner) == *text;
    return plain ? std::optional(inner) : std::nullopt;
  }

 private:
  std::string_view rest_;
};

std::optional<LoggedWrite> read_write(LineReader& reader) {
  if (!reader.skip(R"({"key":)")) return std::nullopt;
  const auto key = reader.plain_string();
  LoggedWrite write{.key = {std::string(key.value_or(""))}};
  if (reader.skip(R"(,"version":)")) {
    const auto version = parse_unsigned(reader.value().value_or(""));
    if (!version) return std::nullopt;
    write.version = Version{*version};
  }
  if (!key || !reader.skip(R"(,"value":)")) return std::nullopt;
  const auto value = reader.value();
  if (!value || value->empty() || !reader.skip("}")) return std::nullopt;
  if (*value != "null") write.value = std::string(*value);
  return write;
}

// Nothing when the line has another form: fields of a newer dibs, or a key with an escape in it.
std::optional<LogLine> read_writes(std::string_view text) {
  LineReader reader(text);
  if (!reader.skip(kStart)) return std::nullopt;
  const auto seq = parse_unsigned(reader.value().value_or(""));
  if (!reader.skip(R"(,"time":)")) return std::nullopt;
  const auto time = parse_rfc3339(reader.plain_string().value_or(""));
  if (!reader.skip(R"(,"nonce":)")) return std::nullopt;
  const auto nonce = Nonce::from_hex(reader.plain_string().value_or(""));
  if (!reader.skip(R"(,"writes":[)") || !seq || !time || !nonce) return std::nullopt;
  LogLine line{.seq = *seq, .unix_ms = *time, .nonce = *nonce};
  while (!reader.skip("]")) {
    if (!line.writes.empty() && !reader.skip(",")) return std::nullopt;
    std::optional<LoggedWrite> write = read_write(reader);
    if (!write) return std::nullopt;
    line.writes.push_back(*std::move(write));
  }
  return line;
}

}  // namespace

Result<LogLine> parse_writes(std::string_view text) {
  if (std::optional<LogLine> line = read_writes(text)) return *std::move(line);
  return parse_line(text);
}

std::string write_mark(const Key& key) { return R"("key":)" + json_string(key.text); }

}  // namespace dibs
