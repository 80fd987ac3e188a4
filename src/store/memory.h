// The store that lives in one process: a mutex and a map. It is the model that tests compare every
// other store with, so it is as plain as it can be.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <vector>

#include "store/store.h"
#include "sys/clock.h"

namespace dibs {

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(Clock& clock) : clock_(clock) {}

  [[nodiscard]] Result<View> read(const Selection& selection) override;
  [[nodiscard]] Result<Outcome> commit(const Transaction& transaction) override;
  [[nodiscard]] Result<Cursor> wait(Cursor since, std::int64_t most_ms) override;
  [[nodiscard]] Result<History> history(const HistoryQuery& query) override;
  [[nodiscard]] Promises promises() const override;

 private:
  Clock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, Record> records_;
  struct Line {
    PastEvent past;
    std::string text;  // what a query may look for in it
  };
  std::vector<Line> lines_;
  std::uint64_t seq_ = 0;
};

}  // namespace dibs
