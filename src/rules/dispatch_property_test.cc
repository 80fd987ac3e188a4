// Whole runs of a dispatcher with any events there are.
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <set>

#include "rules/dispatch.h"
#include "testing/property.h"

namespace dibs {
namespace {

using dispatching::Action;
using dispatching::Begun;
using dispatching::Changed;
using dispatching::CommandEnded;
using dispatching::GaveBack;
using dispatching::GiveBack;
using dispatching::Interrupted;
using dispatching::Land;
using dispatching::LandingEnded;
using dispatching::LeaseLost;
using dispatching::NothingReady;
using dispatching::Prepare;
using dispatching::Prepared;
using dispatching::PreparingFailed;
using dispatching::StartCommand;
using dispatching::StopCommand;
using dispatching::Woken;
using As = dispatching::GiveBack::As;
using How = dispatching::LandingEnded::How;
using Kinds = std::vector<KindNumber>;

/// A run in a world where anything can go wrong, played through in simulated time.
class Play {
 public:
  Play(const DispatchLimits& limits, std::size_t items) : limits_(limits), dispatch_(limits) {
    for (std::size_t i = 0; i < items; ++i) {
      ready_.push_back("item-" + std::to_string(i));
      Kinds& suiting = suits_[ready_.back()];
      for (std::size_t kind = 0; kind < limits_.workers.size(); ++kind)
        if (*any_in(0, 3) > 0) suiting.push_back({kind});
    }
  }

  void run() {
    tell(Begun{});
    constexpr int kStepsMax = 20'000;
    for (int step = 0; step < kStepsMax && !dispatch_.is_over(); ++step) {
      RC_ASSERT(next());
      RC_ASSERT(dispatch_.running() <= limits_.all_workers());
    }
    RC_ASSERT(dispatch_.is_over());
    const bool ended_early =
        dispatch_.is_draining() || dispatch_.gave_up() || limits_.commands_max.has_value();
    if (!ended_early) check_nothing_is_left();
    RC_ASSERT(held_.empty());
    const DispatchTotals& totals = dispatch_.totals();
    RC_ASSERT(prepared_ == totals.landed + totals.failed + totals.put_back + totals.lost);
    RC_ASSERT(landed_.size() == totals.landed);
    RC_ASSERT(totals.commands <= limits_.commands_max.value_or(totals.commands));
  }

 private:
  // The earliest thing that comes; false when nothing ever would.
  bool next() {
    const std::optional<std::int64_t> wake_ms = dispatch_.wake_ms();
    if (pending_.empty() && !wake_ms) return false;
    if (pending_.empty() || (wake_ms && *wake_ms < pending_.begin()->first)) {
      now_ms_ = std::max(now_ms_, *wake_ms);
      tell(Woken{});
      // Or else whoever carries this out would never sleep.
      RC_ASSERT(dispatch_.wake_ms().value_or(now_ms_ + 1) > now_ms_);
      return true;
    }
    now_ms_ = pending_.begin()->first;
    const std::function<void()> happens = pending_.begin()->second;
    pending_.erase(pending_.begin());
    happens();
    if (*any_in(0, 400) == 0) tell(Interrupted{});
    if (*any_in(0, 20) == 0) tell(Changed{});
    return true;
  }

  // What suits some kind was taken, or is left alone for good.
  void check_nothing_is_left() const {
    for (const std::string& item : ready_)
      RC_ASSERT(suits_.at(item).empty() || std::ranges::count(left_alone_, item) > 0);
  }

  void later(std::function<void()> happens) {
    pending_.emplace(now_ms_ + *any_in<std::int64_t>(1, 3000), std::move(happens));
  }

  void tell(const dispatching::Event& event) {
    for (const Action& action : dispatch_.on(event, now_ms_))
      std::visit([&](const auto& what) { carry_out(what); }, action);
  }

  void carry_out(const Prepare& what) {
    RC_ASSERT(!preparing_);
    RC_ASSERT(!what.kinds.empty());
    preparing_ = true;
    left_alone_ = what.except;
    later([this, what] { prepare(what); });
  }

  void prepare(const Prepare& what) {
    preparing_ = false;
    if (*any_in(0, 15) == 0) return tell(PreparingFailed{});
    for (auto item = ready_.begin(); item != ready_.end(); ++item) {
      if (std::ranges::count(what.except, *item) > 0) continue;
      if (const auto kind = suiting(*item, what.kinds)) return take(what.job, item, *kind);
    }
    tell(NothingReady{});
  }

  std::optional<KindNumber> suiting(const std::string& item, const Kinds& asked) {
    for (const KindNumber kind : suits_.at(item))
      if (std::ranges::count(asked, kind) > 0) return kind;
    return std::nullopt;
  }

  void take(JobNumber job, std::deque<std::string>::iterator place, KindNumber kind) {
    const std::string item = *place;
    ready_.erase(place);
    held_[job] = item;
    kinds_[job] = kind;
    ++prepared_;
    tell(Prepared{.job = job, .item = item, .tries = tries_[item], .kind = kind});
  }

  void carry_out(const StartCommand& what) {
    RC_ASSERT(held_.contains(what.job));
    RC_ASSERT(running_.insert(what.job).second);
    const KindNumber kind = kinds_.at(what.job);
    RC_ASSERT(dispatch_.kind_of_slot(what.slot) == kind);
    const auto of_kind = std::ranges::count_if(
        running_, [&](JobNumber running) { return kinds_.at(running) == kind; });
    RC_ASSERT(static_cast<std::size_t>(of_kind) <= limits_.workers[kind.value]);
    if (*any_in(0, 8) > 0) later([this, what] { end_command(what.job, exit_code()); });
    if (*any_in(0, 10) == 0) later([this, what] { tell(LeaseLost{.job = what.job}); });
  }

  static int exit_code() { return *rc::gen::element(0, 0, 0, 1, kPutBackExit, 139); }

  void end_command(JobNumber job, int code) {
    if (running_.erase(job) > 0) tell(CommandEnded{.job = job, .exit_code = code});
  }

  void carry_out(const StopCommand& what) {
    const bool heeds = what.force == StopCommand::Force::kill || *any_in(0, 2) == 0;
    if (heeds) later([this, what] { end_command(what.job, 143); });
  }

  void carry_out(const Land& what) {
    RC_ASSERT(++finishing_ <= limits_.finishing_lanes);
    RC_ASSERT(!running_.contains(what.job));
    later([this, what] {
      --finishing_;
      const How how =
          *rc::gen::element(How::landed, How::landed, How::conflicts, How::refused, How::lost);
      if (how == How::landed) {
        RC_ASSERT(landed_.insert(held_.at(what.job)).second);
        held_.erase(what.job);
      }
      tell(LandingEnded{.job = what.job, .how = how});
    });
  }

  void carry_out(const GiveBack& what) {
    RC_ASSERT(++finishing_ <= limits_.finishing_lanes);
    RC_ASSERT(!running_.contains(what.job));
    later([this, what] {
      --finishing_;
      const std::string item = held_.at(what.job);
      held_.erase(what.job);
      if (what.as == As::failed) ++tries_[item];
      if (what.as != As::parked) ready_.push_back(item);
      tell(GaveBack{.job = what.job});
    });
  }

  DispatchLimits limits_;
  Dispatch dispatch_;
  std::int64_t now_ms_ = 0;
  std::multimap<std::int64_t, std::function<void()>> pending_;
  std::deque<std::string> ready_;
  std::map<std::string, Kinds> suits_;
  std::vector<std::string> left_alone_;
  std::map<JobNumber, std::string> held_;
  std::map<JobNumber, KindNumber> kinds_;
  std::map<std::string, std::int64_t> tries_;
  std::set<std::string> landed_;
  std::set<JobNumber> running_;
  std::uint64_t prepared_ = 0;
  bool preparing_ = false;
  std::size_t finishing_ = 0;
};

std::optional<std::uint64_t> any_command_limit() {
  if (*any_in(0, 3) > 0) return std::nullopt;
  return *any_in<std::uint64_t>(1, 20);
}

TEST(DispatchProperty, EndsEveryPreparedItemExactlyOnceWhateverHappens) {
  EXPECT_PROPERTY(200, 30, [] {
    std::vector<std::size_t> workers;
    for (int kind = *any_in(0, 3); kind >= 0; --kind) workers.push_back(*any_in<std::size_t>(1, 6));
    DispatchLimits limits{.workers = workers,
                          .commands_max = any_command_limit(),
                          .tries_max = *any_in<std::int64_t>(1, 4),
                          .on_failure = OnFailure::requeue,
                          .timeout_ms = 2000,
                          .grace_ms = 500,
                          .finishing_lanes = *any_in<std::size_t>(1, 4)};
    Play(limits, *any_in<std::size_t>(0, 30)).run();
  });
}

}  // namespace
}  // namespace dibs
