// The memory store as a site: the plainest store there is, but its replies can get lost.
#include "site.h"
#include "store/memory.h"

namespace dibs::sim {

namespace {

/// The clock of a machine, looked at from outside.
class HostClock final : public Clock {
 public:
  explicit HostClock(const Host& host) : host_(host) {}
  [[nodiscard]] Instant now() override { return host_.now(); }
  [[nodiscard]] std::int64_t stopwatch_us() override { return 0; }
  void sleep_ms(std::int64_t) override {}

 private:
  const Host& host_;
};

class MemorySite final : public Site {
 public:
  explicit MemorySite(const SiteParts& parts) : clock_(*parts.hosts.front()), store_(clock_) {}

  Result<std::unique_ptr<Store>> open(Process& process) override;
  void catch_up(Witness& witness) override {
    for (const LogLine& line : news_) witness.enter(line);
    news_.clear();
  }
  std::optional<std::vector<Record>> shown() override {
    return store_.read(Selection::everything()).value().records;
  }

 private:
  friend class Opened;
  HostClock clock_;
  MemoryStore store_;
  std::vector<LogLine> news_;
};

tl::unexpected<Error> dead() { return fail(ErrorKind::internal, "the process is dead"); }

class Opened final : public Store {
 public:
  Opened(MemorySite& site, Process& process) : site_(site), process_(process) {}

  Result<View> read(const Selection& selection) override {
    if (!process_.step()) return dead();
    Result<View> view = site_.store_.read(selection);
    if (view) view->now = process_.clock().now();
    return view;
  }
  Result<Outcome> commit(const Transaction& transaction) override;
  Result<Cursor> wait(Cursor since, std::int64_t most_ms) override;
  Result<History> history(const HistoryQuery& query) override {
    if (!process_.step()) return dead();
    return site_.store_.history(query);
  }
  Promises promises() const override { return site_.store_.promises(); }

 private:
  [[nodiscard]] bool reply_is_lost() {
    const Weather& weather = process_.host().weather();
    return process_.schedule().dice().one_in(weather.remote_fault_one_in);
  }
  MemorySite& site_;
  Process& process_;
};

Result<Outcome> Opened::commit(const Transaction& transaction) {
  if (!process_.step()) return dead();
  const bool lost = reply_is_lost();
  if (lost && process_.schedule().dice().chance(50)) return OutcomeUnknown{"not sent"};
  Result<Outcome> outcome = site_.store_.commit(transaction);
  const auto* committed = outcome ? std::get_if<Committed>(&*outcome) : nullptr;
  if (committed != nullptr && !transaction.writes.empty()) {
    LogLine line = line_for(transaction, site_.clock_.now().unix_ms);
    line.seq = committed->fence.value;
    site_.news_.push_back(std::move(line));
  }
  if (!process_.step()) return dead();
  if (lost) return OutcomeUnknown{"the reply is lost"};
  return outcome;
}

Result<Cursor> Opened::wait(Cursor since, std::int64_t most_ms) {
  const auto seq = [&] { return site_.store_.read(Selection{}).value().cursor; };
  Schedule& schedule = process_.schedule();
  schedule.wait([&] { return !process_.alive() || seq() > since; }, schedule.now_ms() + most_ms);
  if (!process_.step()) return dead();
  return seq();
}

Result<std::unique_ptr<Store>> MemorySite::open(Process& process) {
  return std::make_unique<Opened>(*this, process);
}

}  // namespace

std::unique_ptr<Site> memory_site(const SiteParts& parts) {
  return std::make_unique<MemorySite>(parts);
}

}  // namespace dibs::sim
