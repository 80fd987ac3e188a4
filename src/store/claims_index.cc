#include "store/claims_index.h"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <nlohmann/json.hpp>

#include "base/crc32c.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time.h"

namespace dibs {

namespace {

constexpr std::string_view kHeaderEnd = ",\"active\":[\n";
constexpr std::string_view kFileEnd = "]}\n";
constexpr std::size_t kHeaderMax = 1024;
constexpr std::size_t kProbe = 4096;  // one page holds several records
// A record line is its value and a few fixed fields.
constexpr std::size_t kRecordLineMax = kRecordBytesMax + 1024;

bool is_intact(std::string_view line) {
  const std::optional<std::uint32_t> stated = stated_crc(line);
  return stated && crc32c(0, line.substr(0, line.size() - kCrcSuffixLength)) == *stated;
}

std::string encode_record(const Record& record) {
  std::string line = JsonObject()
                         .add("key", record.key.text)
                         .add("version", record.version.value)
                         .add("nonce", record.nonce.hex())
                         .add_raw("value", record.value)
                         .text();
  line.pop_back();  // the checksum stands before the closing brace
  close_with_crc(line, 0);
  return line;
}

// Cuts `prefix` off the front of `text`; false when it is not there.
bool skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// The key of a checked line. Keys with an escape in them are rare and parsed in full.
std::optional<Key> key_of(std::string_view line) {
  constexpr std::string_view kOpen = R"({"key":")";
  std::string_view rest = line;
  if (!skip(rest, kOpen)) return std::nullopt;
  const std::size_t end = rest.find_first_of("\"\\");
  assert(end != std::string_view::npos);  // the checksum has quotes too
  if (rest[end] == '"') return Key{std::string(rest.substr(0, end))};
  const Result<Json> json = parse_json(line);
  if (!json) return std::nullopt;
  return Key{text_member(*json, "key").value_or("")};
}

// A checked line is one that encode_record made, so its fields stand where that put them.
std::optional<Record> decode_record(std::string_view line) {
  std::optional<Key> key = key_of(line);
  if (!key) return std::nullopt;
  std::string_view rest = line.substr(std::min(line.size(), 1 + write_mark(*key).size()));
  if (!skip(rest, R"(,"version":)")) return std::nullopt;
  const std::size_t version_end = rest.find(',');
  assert(version_end != std::string_view::npos);  // the checksum has a comma before it
  const auto version = parse_unsigned(rest.substr(0, version_end));
  rest.remove_prefix(version_end);
  if (!skip(rest, R"(,"nonce":")") || rest.size() < 32) return std::nullopt;
  const auto nonce = Nonce::from_hex(rest.substr(0, 32));
  rest.remove_prefix(32);
  if (!skip(rest, R"(","value":)") || !version || !nonce) return std::nullopt;
  return Record{.key = *std::move(key),
                .value = std::string(rest.substr(0, rest.size() - kCrcSuffixLength)),
                .version = {*version},
                .fence = {*version},
                .nonce = *nonce};
}

tl::unexpected<Error> damaged() { return fail(ErrorKind::internal, "the claims index is damaged"); }

// A line whose checksum is right and whose fields are not where they belong was not written by us.
Result<std::optional<Record>> checked(std::optional<Record> record) {
  if (!record) return damaged();
  return record;
}

}  // namespace

std::string encode_index(const IndexHeader& header, const Records& records, std::int64_t unix_ms) {
  std::string lines;
  for (const auto& [key, record] : records) {
    if (!lines.empty()) lines += ",\n";
    lines += encode_record(record);
  }
  if (!lines.empty()) lines += '\n';
  std::string text = JsonObject()
                         .add("schema_version", kLogSchemaVersion)
                         .add("generated_at", rfc3339(unix_ms))
                         .add("sequence", header.position.seq)
                         .add("log_crc", hex32(header.position.crc))
                         .add("log_offset", header.position.offset)
                         .add("log_first_seq", header.segment_first_seq)
                         .add("records", std::uint64_t{records.size()})
                         .add("bytes", std::uint64_t{lines.size()})
                         .text();
  text.pop_back();
  close_with_crc(text, 0);
  text.pop_back();  // the document goes on after its checksum
  text += kHeaderEnd;
  text += lines;
  text += kFileEnd;
  return text;
}

std::unique_ptr<ClaimsIndex> ClaimsIndex::open(FileSystem& files, const std::string& path) {
  Result<std::unique_ptr<File>> file = files.open(path, Open::read);
  if (!file || !*file) return nullptr;
  std::string start(kProbe, '\0');
  const Result<std::size_t> got = (*file)->read_at(0, start);
  const Result<std::uint64_t> size = (*file)->size();
  if (!got || !size) return nullptr;
  start.resize(*got);

  const std::size_t end = start.substr(0, kHeaderMax).find(kHeaderEnd);
  if (end == std::string::npos) return nullptr;
  const std::string header_object = start.substr(0, end) + "}";
  if (!is_intact(header_object)) return nullptr;
  const Result<Json> json = parse_json(header_object);
  if (!json || unsigned_member(*json, "schema_version") != kLogSchemaVersion) return nullptr;
  const auto sequence = unsigned_member(*json, "sequence");
  const auto crc = parse_hex32(text_member(*json, "log_crc").value_or(""));
  const auto offset = unsigned_member(*json, "log_offset");
  const auto first_seq = unsigned_member(*json, "log_first_seq");
  const auto bytes = unsigned_member(*json, "bytes");
  if (!sequence || !crc || !offset || !first_seq || !bytes) return nullptr;

  const std::uint64_t begin = end + kHeaderEnd.size();
  if (begin + *bytes + kFileEnd.size() != *size) return nullptr;
  const IndexHeader header{.position = {.seq = *sequence, .crc = *crc, .offset = *offset},
                           .segment_first_seq = *first_seq};
  std::unique_ptr<ClaimsIndex> index(
      new ClaimsIndex(*std::move(file), header, begin, begin + *bytes));
  index->window_ = std::move(start);
  return index;
}

bool ClaimsIndex::load(std::uint64_t begin, std::uint64_t end) {
  if (begin >= window_begin_ && end <= window_begin_ + window_.size()) return true;
  const std::uint64_t wanted =
      std::min(std::max<std::uint64_t>(end - begin, kProbe), records_end_ - begin);
  window_.resize(wanted);
  window_begin_ = begin;
  const Result<std::size_t> got = file_->read_at(begin, window_);
  window_.resize(got ? *got : 0);
  return window_begin_ + window_.size() >= end;
}

// The line that begins at `begin`, if it is intact.
std::optional<ClaimsIndex::Line> ClaimsIndex::line_at(std::uint64_t begin) {
  for (std::uint64_t length = 512;; length *= 4) {
    const std::uint64_t end = std::min(begin + length, records_end_);
    if (!load(begin, end)) return std::nullopt;
    const std::string_view text =
        std::string_view(window_).substr(begin - window_begin_, end - begin);
    const std::size_t newline = text.find('\n');
    if (newline != std::string_view::npos) {
      std::string_view line = text.substr(0, newline);
      if (line.ends_with(',')) line.remove_suffix(1);
      if (!is_intact(line)) return std::nullopt;
      return Line{.begin = begin, .end = begin + newline + 1, .text = line};
    }
    if (end == records_end_ || length > kRecordLineMax) return std::nullopt;
  }
}

// The first line that begins after `offset` and before `limit`; none when the line around `offset`
// reaches to `limit`.
std::optional<ClaimsIndex::Line> ClaimsIndex::first_line_from(std::uint64_t offset,
                                                              std::uint64_t limit) {
  for (std::uint64_t at = offset; at < limit; at += kProbe) {
    const std::uint64_t end = std::min(at + kProbe, limit);
    if (!load(at, end)) return std::nullopt;
    const std::size_t newline =
        std::string_view(window_).substr(at - window_begin_, end - at).find('\n');
    if (newline == std::string_view::npos) continue;
    const std::uint64_t begin = at + newline + 1;
    return begin < limit ? line_at(begin) : Line{.begin = limit, .end = limit, .text = {}};
  }
  return Line{.begin = limit, .end = limit, .text = {}};
}

Result<std::optional<Record>> ClaimsIndex::find(const Key& key) {
  std::uint64_t low = records_begin_;  // the record, if there is one, begins in [low, high)
  std::uint64_t high = records_end_;
  while (high - low > kProbe) {
    const std::optional<Line> line = first_line_from(low + (high - low) / 2, high);
    if (!line) return damaged();
    if (line->text.empty()) break;  // one long line fills the upper half: step through the rest
    const std::optional<Key> here = key_of(line->text);
    if (!here) return damaged();
    if (*here == key) return checked(decode_record(line->text));
    if (*here < key) {
      low = line->end;
    } else {
      high = line->begin;
    }
  }
  while (low < high) {
    const std::optional<Line> line = line_at(low);
    const std::optional<Key> here = line ? key_of(line->text) : std::nullopt;
    if (!here) return damaged();
    if (*here == key) return checked(decode_record(line->text));
    if (*here > key) break;
    low = line->end;
  }
  return std::optional<Record>();
}

Result<std::vector<Record>> ClaimsIndex::mentioning(std::string_view text) {
  std::vector<Record> records;
  if (!load(records_begin_, records_end_)) return damaged();
  for (std::uint64_t at = records_begin_; at < records_end_;) {
    const std::optional<Line> line = line_at(at);
    if (!line) return damaged();
    at = line->end;
    if (!contains(line->text, text)) continue;
    std::optional<Record> record = decode_record(line->text);
    if (!record) return damaged();
    records.push_back(*std::move(record));
  }
  return records;
}

}  // namespace dibs
