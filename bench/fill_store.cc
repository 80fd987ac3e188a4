// Writes a store with a long past, in seconds: the lines and the index that dibs itself would have
// written, from dibs' own encoders, but flushed never instead of once a claim.
//
//   fill_store DIR ENTRIES LIVE
//
// DIR is an empty store (.git/dibs after `dibs init`). It gets ENTRIES lines, of which LIVE grant
// leases that are still held; the rest are claims that were released.
#include <charconv>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/lease.h"
#include "store/claims_index.h"
#include "store/local.h"
#include "store/local_files.h"
#include "store/log_line.h"
#include "store/segments.h"
#include "sys/clock.h"
#include "sys/randomness.h"

namespace dibs {

namespace {

constexpr std::int64_t kTtlSecs = 86'400;  // longer than any bench runs
constexpr std::uint64_t kEntriesMax = 10'000'000;

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

class PastStore {
 public:
  explicit PastStore(std::string directory) : directory_(std::move(directory)) {}

  void claim(const std::string& item) { put(item, Op::acquire, to_json(Holding{{lease()}})); }
  void give_back(const std::string& item) { put(item, Op::release, std::nullopt); }

  void finish() {
    write_file(directory_ + "/" + std::string(kLogName), log_);
    const IndexHeader header{.position = end_, .segment_first_seq = segment_first_seq_};
    write_file(directory_ + "/" + std::string(kIndexName),
               encode_index(header, records_, now_.unix_ms));
  }

 private:
  Lease lease() {
    return {.id = random_.lease_id(now_.unix_ms),
            .agent = AgentId{"agent:past"},
            .session = {"agent:past@wt:00000000"},
            .worktree = {"wt:00000000"},
            .branch = "main",
            .ttl_secs = kTtlSecs,
            .acquired_unix_ms = now_.unix_ms,
            .beat = now_,
            .expires = later_by(now_, kTtlSecs * 1000)};
  }

  void put(const std::string& item, Op op, std::optional<std::string> value) {
    if (log_.size() >= LocalLimits{}.segment_bytes) close_segment();
    const Key key{"item:" + item};
    LogLine line{.seq = end_.seq + 1,
                 .unix_ms = now_.unix_ms,
                 .nonce = random_.nonce(),
                 .writes = {{.key = key, .value = value, .version = std::nullopt}},
                 .events = {{.op = op,
                             .resource = key,
                             .lease = random_.lease_id(now_.unix_ms),
                             .agent = AgentId{"agent:past"},
                             .session = {"agent:past@wt:00000000"},
                             .worktree = {"wt:00000000"}}}};
    const std::string text = encode_line(end_, line);
    log_ += text;
    end_ = {.seq = line.seq,
            .crc = stated_crc(std::string_view(text).substr(0, text.size() - 1)).value(),
            .offset = log_.size()};
    if (!value) {
      records_.erase(key);
      return;
    }
    records_[key] = {.key = key,
                     .value = *value,
                     .version = {line.seq},
                     .fence = {line.seq},
                     .nonce = line.nonce};
  }

  void close_segment() {
    write_file(directory_ + "/" + segment_name(segment_first_seq_), log_);
    log_.clear();
    segment_first_seq_ = end_.seq + 1;
    end_.offset = 0;
  }

  std::string directory_;
  SystemRandom random_;
  Instant now_ = SystemClock().now();
  std::string log_;  // the segment that is still open
  LogPosition end_;
  std::uint64_t segment_first_seq_ = 1;
  Records records_;
};

std::uint64_t count_from(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > kEntriesMax)
    throw std::invalid_argument("not a count: " + std::string(text));
  return value;
}

void fill(const std::string& directory, std::uint64_t entries, std::uint64_t live) {
  PastStore store(directory);
  const std::uint64_t finished = (entries - live) / 2;  // each is one claim and one release
  // Live leases are spread over all of history, as long-lived work is.
  std::uint64_t granted = 0;
  for (std::uint64_t i = 0; i < finished; ++i) {
    store.claim(std::to_string(i));
    store.give_back(std::to_string(i));
    for (; granted * finished < live * (i + 1); ++granted)
      store.claim("live-" + std::to_string(granted));
  }
  store.finish();
}

}  // namespace

}  // namespace dibs

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.size() != 3) throw std::invalid_argument("usage: fill_store DIR ENTRIES LIVE");
    dibs::fill(arguments[0], dibs::count_from(arguments[1]), dibs::count_from(arguments[2]));
  } catch (const std::exception& error) {
    std::cerr << "fill_store: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
