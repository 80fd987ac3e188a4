#include "store/memory.h"

#include <algorithm>
#include <chrono>

namespace dibs {

namespace {
bool selected(const Selection& selection, const Record& record) {
  if (selection.mentioning && record.value.find(*selection.mentioning) != std::string::npos)
    return true;
  return std::ranges::find(selection.keys, record.key) != selection.keys.end();
}

bool selected(const HistoryQuery& query, const PastEvent& past, const std::string& text) {
  if (!is_about(past, query)) return false;
  return !query.mentioning || text.find(*query.mentioning) != std::string::npos;
}
}  // namespace

Result<View> MemoryStore::read(const Selection& selection) {
  const std::lock_guard lock(mutex_);
  View view{.now = clock_.now(),
            .margin_ms = 0,
            .one_machine = true,
            .records = {},
            .cursor = {seq_},
            .hold = {}};
  for (const auto& [key, record] : records_) {
    if (selected(selection, record)) view.records.push_back(record);
  }
  return view;
}

Result<Outcome> MemoryStore::commit(const Transaction& transaction) {
  const std::lock_guard lock(mutex_);
  for (const Expectation& expected : transaction.expectations) {
    const auto found = records_.find(expected.key);
    const std::optional<Version> actual =
        found == records_.end() ? std::nullopt : std::optional(found->second.version);
    if (actual != expected.version) return LostRace{};
  }
  if (transaction.writes.empty()) return Committed{Fence{seq_}};
  ++seq_;
  for (const Write& write : transaction.writes) {
    if (write.value) {
      records_[write.key] = Record{.key = write.key,
                                   .value = *write.value,
                                   .version = {seq_},
                                   .fence = {seq_},
                                   .nonce = transaction.nonce};
    } else {
      records_.erase(write.key);
    }
  }
  const std::int64_t now_ms = clock_.now().unix_ms;
  for (const Event& event : transaction.events) {
    const PastEvent past{.seq = seq_, .unix_ms = now_ms, .event = event};
    lines_.push_back({.past = past, .text = transaction.nonce.hex() + to_json(past)});
  }
  changed_.notify_all();
  return Committed{Fence{seq_}};
}

Result<Cursor> MemoryStore::wait(Cursor since, std::int64_t most_ms) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::milliseconds(most_ms), [&] { return seq_ > since.seq; });
  return Cursor{seq_};
}

Result<History> MemoryStore::history(const HistoryQuery& asked) {
  const std::lock_guard lock(mutex_);
  const HistoryQuery query = begun_at(asked, {seq_});
  History history{.events = {}, .cursor = {seq_}};
  for (const Line& line : lines_) {
    if (selected(query, line.past, line.text)) history.events.push_back(line.past);
  }
  keep_newest(history.events, query.newest);
  return history;
}

Promises MemoryStore::promises() const {
  return {.store = "memory",
          .pause = "fenced",
          .partition = "-",
          .clock_jump = "safe (boot-time clock)",
          .power_loss = "lost with the process",
          .waiters = "first come",
          .offline = "full"};
}

}  // namespace dibs
