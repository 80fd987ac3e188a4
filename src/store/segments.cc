#include "store/segments.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "base/crc32c.h"
#include "base/json.h"
#include "base/text.h"

namespace dibs {

namespace {

constexpr std::string_view kSegmentPrefix = "claims-";
constexpr std::string_view kSegmentSuffix = ".jsonl";
constexpr std::size_t kLogFileMax = 1ULL << 30U;
constexpr int kLooksMax = 8;
constexpr std::array<std::uint32_t, 1> kNoChecksum{};

std::optional<std::uint64_t> segment_number(std::string_view name) {
  if (!name.starts_with(kSegmentPrefix) || !name.ends_with(kSegmentSuffix)) return std::nullopt;
  name.remove_prefix(kSegmentPrefix.size());
  name.remove_suffix(kSegmentSuffix.size());
  return parse_unsigned(name);
}

Result<std::string> contents_of(FileSystem& files, const std::string& path) {
  Result<std::optional<std::string>> contents = files.read_file(path, kLogFileMax);
  if (!contents) return fail(contents.error());
  return contents->value_or("");
}

template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    visit(text.substr(0, newline));
    if (newline == std::string_view::npos) return;
    text.remove_prefix(newline + 1);
  }
}

// The position before the first line of a file, judged by that line's own number.
std::uint64_t first_seq_of(std::string_view contents, std::uint64_t otherwise) {
  return stated_seq(contents.substr(0, contents.find('\n'))).value_or(otherwise);
}

// Whether a line could have what the query asks for, by its text alone.
bool may_tell(std::string_view text, const HistoryQuery& query, std::string_view resource_mark) {
  if (query.mentioning && !contains(text, *query.mentioning)) return false;
  if (!contains(text, resource_mark)) return false;
  const auto names = [&](Op op) { return contains(text, json_string(name_of(op))); };
  if (!query.ops.empty() && std::ranges::none_of(query.ops, names)) return false;
  const auto seq = stated_seq(text);
  return !seq || *seq > query.since.seq;
}

// The events of one file that the query asks for, newest first. Parsing a line costs far more than
// looking through it, so only those are parsed that are still wanted.
std::vector<PastEvent> newest_in(std::string_view contents, const HistoryQuery& query,
                                 std::size_t most) {
  const std::string resource_mark = query.resource ? json_string(query.resource->text) : "";
  std::vector<std::string_view> lines;
  for_each_line(contents, [&](std::string_view text) {
    if (may_tell(text, query, resource_mark)) lines.push_back(text);
  });
  std::vector<PastEvent> events;
  for (const std::string_view text : lines | std::views::reverse) {
    if (events.size() >= most) break;
    Result<LogLine> line = parse_line(text);
    if (!line) continue;
    for (Event& event : line->events | std::views::reverse) {
      PastEvent past{.seq = line->seq, .unix_ms = line->unix_ms, .event = std::move(event)};
      if (is_about(past, query)) events.push_back(std::move(past));
    }
  }
  return events;
}

LineFault judge(std::string_view text, std::uint64_t seq, std::span<const std::uint32_t> seeds) {
  LineFault verdict = LineFault::damaged;
  for (const std::uint32_t seed : seeds) {
    const LineFault fault = check_line({.seq = seq - 1, .crc = seed}, text).fault;
    if (fault != LineFault::damaged) verdict = fault;
  }
  return verdict;
}

// What files of these names have, oldest event first.
Result<std::vector<PastEvent>> history_in(FileSystem& files, const std::string& directory,
                                          const std::vector<std::string>& names,
                                          const HistoryQuery& query) {
  std::vector<PastEvent> newest_first;
  for (const std::string& name : names | std::views::reverse) {
    const Result<std::string> contents = contents_of(files, directory + "/" + name);
    if (!contents) return fail(contents.error());
    std::vector<PastEvent> events = newest_in(*contents, query, query.newest - newest_first.size());
    newest_first.insert(newest_first.end(), std::make_move_iterator(events.begin()),
                        std::make_move_iterator(events.end()));
    if (newest_first.size() >= query.newest) break;
    if (first_seq_of(*contents, UINT64_MAX) <= query.since.seq + 1) break;
  }
  std::ranges::reverse(newest_first);
  keep_newest(newest_first, query.newest);
  return newest_first;
}

}  // namespace

std::string segment_name(std::uint64_t first_seq) {
  return fmt::format("{}{:012}{}", kSegmentPrefix, first_seq, kSegmentSuffix);
}

Result<std::vector<std::string>> log_files(FileSystem& files, const std::string& directory) {
  Result<std::vector<std::string>> names = files.list(directory);
  if (!names) return fail(names.error());
  const bool has_current = std::ranges::find(*names, kLogName) != names->end();
  std::erase_if(*names, [](const std::string& name) { return !segment_number(name); });
  std::ranges::sort(*names, {}, segment_number);
  if (has_current) names->emplace_back(kLogName);
  return names;
}

Error damaged_at(const std::string& file, std::size_t line_number, std::uint64_t seq) {
  return {.kind = ErrorKind::unreachable,
          .message = fmt::format("{} is damaged at line {} (entry {}); nothing was changed",
                                 printable(file), line_number, seq),
          .hint =
              "put the file back from a backup, or keep all that can be read with: dibs recover "
              "--salvage",
          .fields = {}};
}

Error newer_than_us(const std::string& file, std::size_t line_number) {
  return {.kind = ErrorKind::unreachable,
          .message = fmt::format("{} line {} was written by a newer dibs; nothing was changed",
                                 printable(file), line_number),
          .hint = "use the newer dibs here too: compare `dibs --version` on each side",
          .fields = {}};
}

Result<Replay> replay_log(FileSystem& files, const std::string& directory) {
  const Result<std::vector<std::string>> names = log_files(files, directory);
  if (!names) return fail(names.error());
  Replay replay;
  for (const std::string& name : *names) {
    const std::string path = directory + "/" + name;
    Result<std::unique_ptr<File>> file = files.open(path, Open::read);
    if (!file) return fail(file.error());
    if (!*file) continue;
    std::string start(64, '\0');
    const Result<std::size_t> got = (*file)->read_at(0, start);
    if (!got) return fail(got.error());
    start.resize(*got);
    replay.segment_first_seq = first_seq_of(start, replay.end.seq + 1);
    // The oldest file may begin anywhere (after a salvage); the others go on from the one before.
    if (name == names->front()) replay.end.seq = replay.segment_first_seq - 1;
    replay.end.offset = 0;

    LogTail tail(replay.end);
    const Result<Halt> halt = tail.read(**file);
    if (!halt) return fail(halt.error());
    const std::size_t bad_line = tail.end().seq - replay.end.seq + 1;
    const bool torn_inside = *halt == Halt::torn && name != names->back();
    if (*halt == Halt::damaged || torn_inside)
      return fail(damaged_at(path, bad_line, tail.end().seq + 1));
    if (*halt == Halt::newer_schema) return fail(newer_than_us(path, bad_line));
    if (Done applied = tail.replay_onto(replay.records); !applied) return fail(applied.error());
    replay.end = tail.end();
    replay.halt = *halt;
  }
  return replay;
}

Result<std::vector<PastEvent>> read_history(FileSystem& files, const std::string& directory,
                                            const HistoryQuery& query) {
  Result<std::vector<std::string>> names = log_files(files, directory);
  for (int look = 0; names && look < kLooksMax; ++look) {
    Result<std::vector<PastEvent>> events = history_in(files, directory, *names, query);
    if (!events) return events;
    // A log that was closed meanwhile has another name, and the new one was read in its place.
    Result<std::vector<std::string>> names_after = log_files(files, directory);
    if (names_after && *names_after == *names) return events;
    names = std::move(names_after);
  }
  if (!names) return fail(names.error());
  return fail(ErrorKind::contended, "the log grows faster than it can be read",
              "run the command again");
}

Result<Salvage> salvage_log(FileSystem& files, const std::string& directory) {
  const Result<std::vector<std::string>> names = log_files(files, directory);
  if (!names) return fail(names.error());
  Salvage salvage;
  // What the checksum of a line may run on from: the one that the line before states, and the one
  // that it should state, in case just that is damaged.
  std::array<std::uint32_t, 2> seeds{};
  std::optional<Error> newer;
  for (const std::string& name : *names) {
    const Result<std::string> contents = contents_of(files, directory + "/" + name);
    if (!contents) return fail(contents.error());
    std::size_t line_number = 0;
    for_each_line(*contents, [&](std::string_view text) {
      ++line_number;
      // Each line is judged by itself: its own number, and the checksum of the line before.
      const std::uint64_t seq = stated_seq(text).value_or(0);
      salvage.last_seq = std::max(salvage.last_seq, seq);
      LineFault fault = judge(text, seq, seeds);
      // What a salvage wrote says everything anew, from no checksum on. One that was cut short left
      // older files beside it.
      const bool anew = fault == LineFault::damaged && line_number == 1 &&
                        judge(text, seq, kNoChecksum) == LineFault::none;
      if (anew) {
        fault = LineFault::none;
        salvage.records.clear();
      }
      if (fault == LineFault::newer_schema && !newer)
        newer = newer_than_us(directory + "/" + name, line_number);
      const bool intact = seq > 0 && fault == LineFault::none;
      LogTail one(LogPosition{.seq = seq - 1, .crc = 0, .offset = 0});
      if (intact) one.add(std::string(text) + "\n");
      const bool applied = intact && one.replay_onto(salvage.records).has_value();
      ++(applied ? salvage.intact_lines : salvage.damaged_lines);
      const std::size_t body = text.size() - std::min(text.size(), kCrcSuffixLength);
      seeds = {stated_crc(text).value_or(0), crc32c(seeds[0], text.substr(0, body))};
    });
  }
  // What a newer dibs wrote is not damage, and leaving it out would lose it.
  if (newer) return fail(*std::move(newer));
  return salvage;
}

}  // namespace dibs
