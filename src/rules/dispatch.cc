#include "rules/dispatch.h"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

namespace dibs {

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
using dispatching::Prepared;
using dispatching::PreparingFailed;
using dispatching::StopCommand;
using dispatching::Woken;

namespace {

// Of what was measured before, so much counts as of the newest.
std::int64_t lately(std::int64_t before, std::int64_t newest) { return (3 * before + newest) / 4; }

GiveBack interruption(JobNumber job) {
  return {.job = job, .as = GiveBack::As::put_back, .why = "the run was interrupted"};
}

}  // namespace

std::size_t DispatchLimits::all_workers() const {
  return std::accumulate(workers.begin(), workers.end(), std::size_t{0});
}

DispatchTotals& DispatchTotals::operator+=(const DispatchTotals& more) {
  commands += more.commands;
  landed += more.landed;
  failed += more.failed;
  parked += more.parked;
  put_back += more.put_back;
  lost += more.lost;
  conflicts += more.conflicts;
  retries += more.retries;
  busy_ms += more.busy_ms;
  return *this;
}

Dispatch::Dispatch(const DispatchLimits& limits) : limits_(limits), kinds_(limits.workers.size()) {
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind)
    slots_.insert(slots_.end(), limits_.workers[kind], {.kind = {kind}, .job = {}});
}

DispatchTotals Dispatch::totals() const {
  DispatchTotals all;
  for (const Kind& kind : kinds_) all += kind.totals;
  return all;
}

Dispatch::Actions Dispatch::on(const Event& event, std::int64_t now_ms) {
  std::visit([&](const auto& what) { apply(what, now_ms); }, event);
  check_deadlines(now_ms);
  fill_slots(now_ms);
  use_finishing_lanes();
  use_preparing_lane(now_ms);
  return std::exchange(actions_, {});
}

void Dispatch::apply(const Begun& /*event*/, std::int64_t /*now_ms*/) {}
void Dispatch::apply(const Woken& /*event*/, std::int64_t /*now_ms*/) {}
void Dispatch::apply(const Changed& /*event*/, std::int64_t /*now_ms*/) { look_again(); }

void Dispatch::look_again() {
  for (Kind& kind : kinds_) kind.nothing_ready = false;
  changed_meanwhile_ = true;
}

void Dispatch::apply(const Prepared& event, std::int64_t now_ms) {
  const std::int64_t took_ms = now_ms - preparing_since_ms_.value_or(now_ms);
  preparing_takes_ms_ = preparing_takes_ms_ == 0 ? took_ms : lately(preparing_takes_ms_, took_ms);
  preparing_since_ms_.reset();
  preparing_failures_ = 0;
  Job job{.item = event.item, .tries = event.tries, .kind = event.kind, .act_ms = {}, .ending = {}};
  if (const auto known = failures_.find(event.item); known != failures_.end())
    job.tries = std::max(job.tries, known->second);
  Job& kept = jobs_.emplace(event.job, std::move(job)).first->second;
  waiting_.push_back(event.job);
  if (interrupts_ > 0) return stop(event.job, kept, interruption(event.job), now_ms);
  // It was put back after this had been asked for, and before it was taken.
  const std::vector<std::string> rests = resting(now_ms);
  if (std::ranges::find(rests, event.item) == rests.end()) return;
  stop(event.job, kept, {.job = event.job, .as = GiveBack::As::put_back, .why = "it rests"},
       now_ms);
}

// What happened while it looked may have come too late to be seen.
void Dispatch::apply(const NothingReady& /*event*/, std::int64_t now_ms) {
  preparing_since_ms_.reset();
  preparing_failures_ = 0;
  for (const KindNumber kind : preparing_for_) {
    kinds_[kind.value].nothing_ready = !changed_meanwhile_;
    kinds_[kind.value].look_again_ms = now_ms + kLookAgainMs;
  }
}

void Dispatch::apply(const PreparingFailed& event, std::int64_t now_ms) {
  preparing_since_ms_.reset();
  not_before_ms_ = now_ms + pause_ms(preparing_failures_);
  ++preparing_failures_;
  if (event.why == PreparingFailed::Why::lasting) preparing_failures_ = kPreparingFailuresMax;
}

void Dispatch::apply(const CommandEnded& event, std::int64_t now_ms) {
  Job& job = jobs_.at(event.job);
  const std::int64_t took_ms = now_ms - job.started_ms;
  totals_of(job).busy_ms += took_ms;
  std::optional<std::int64_t>& takes_ms = kinds_[job.kind.value].command_takes_ms;
  takes_ms = takes_ms ? lately(*takes_ms, took_ms) : took_ms;
  slots_[job.slot].job.reset();
  job.act_ms.reset();
  if (job.ending) return end_with(event.job, job, *job.ending);
  job.stage = Stage::finishing;
  if (event.exit_code == 0) {
    finishing_queue_.emplace_back(Land{.job = event.job});
  } else if (event.exit_code == kPutBackExit) {
    let_rest(job.item, now_ms);
    end_with(event.job, job, {.job = event.job, .as = GiveBack::As::put_back, .why = "exit 75"});
  } else {
    end_with(event.job, job,
             failure(event.job, job,
                     fmt::format("the command ended with exit code {}", event.exit_code)));
  }
}

void Dispatch::apply(const LandingEnded& event, std::int64_t /*now_ms*/) {
  --finishing_;
  look_again();
  const auto found = jobs_.find(event.job);
  assert(found != jobs_.end());  // it was ours to land, and ends once
  using How = LandingEnded::How;
  if (event.how == How::landed) {
    ++totals_of(found->second).landed;
    jobs_.erase(found);
  } else if (event.how == How::lost) {
    end_with(event.job, found->second,
             {.job = event.job, .as = GiveBack::As::lost, .why = event.why});
  } else {
    if (event.how == How::conflicts) ++totals_of(found->second).conflicts;
    end_with(event.job, found->second, failure(event.job, found->second, event.why));
  }
}

void Dispatch::apply(const GaveBack& event, std::int64_t /*now_ms*/) {
  --finishing_;
  look_again();
  jobs_.erase(event.job);
}

void Dispatch::apply(const LeaseLost& event, std::int64_t now_ms) {
  const auto found = jobs_.find(event.job);
  // Landing finds out by itself, and better: it may have landed before.
  if (found == jobs_.end() || found->second.stage == Stage::finishing) return;
  GiveBack ending{.job = event.job, .as = GiveBack::As::lost, .why = "the lease was lost"};
  if (found->second.stage == Stage::stopping) {
    found->second.ending = std::move(ending);
  } else {
    stop(event.job, found->second, std::move(ending), now_ms);
  }
}

// Once: what runs may finish. Twice: it is asked to end. Three times: it is killed.
void Dispatch::apply(const Interrupted& /*event*/, std::int64_t now_ms) {
  ++interrupts_;
  for (auto& [number, job] : jobs_) {
    const bool stops =
        job.stage == Stage::waiting || (job.stage == Stage::running && interrupts_ > 1);
    if (stops) stop(number, job, interruption(number), now_ms);
    if (job.stage == Stage::stopping && interrupts_ > 2 && job.act_ms) job.act_ms = now_ms;
  }
}

void Dispatch::stop(JobNumber number, Job& job, GiveBack ending, std::int64_t now_ms) {
  if (job.stage == Stage::waiting) return end_with(number, job, std::move(ending));
  job.ending = std::move(ending);
  job.stage = Stage::stopping;
  job.act_ms = now_ms + limits_.grace_ms;
  actions_.emplace_back(StopCommand{.job = number, .force = StopCommand::Force::ask});
}

void Dispatch::end_with(JobNumber number, Job& job, GiveBack ending) {
  using As = GiveBack::As;
  std::erase(waiting_, number);
  job.stage = Stage::finishing;
  DispatchTotals& totals = totals_of(job);
  if (ending.as == As::put_back) ++totals.put_back;
  if (ending.as == As::lost) ++totals.lost;
  if (ending.as == As::failed || ending.as == As::parked) ++totals.failed;
  if (ending.as == As::parked) {
    ++totals.parked;
    // Where it cannot be written down that it waits, it would be taken again and again.
    resting_[job.item] = {.times = limits_.tries_max, .until_ms = std::nullopt};
  }
  finishing_queue_.emplace_back(std::move(ending));
}

GiveBack Dispatch::failure(JobNumber number, const Job& job, std::string why) {
  const std::int64_t tries = job.tries + 1;
  failures_[job.item] = tries;
  const bool parks = limits_.on_failure == OnFailure::park || tries >= limits_.tries_max;
  return {.job = number,
          .as = parks ? GiveBack::As::parked : GiveBack::As::failed,
          .why = std::move(why)};
}

std::int64_t Dispatch::pause_ms(std::int64_t times) {
  constexpr std::int64_t kDoublingsMax = 10;
  return std::min(kFirstPauseMs << std::min(times, kDoublingsMax), kPauseMaxMs);
}

// Or else a command that cannot work would be started again and again without a pause.
void Dispatch::let_rest(const std::string& item, std::int64_t now_ms) {
  Rest& rest = resting_[item];
  rest.until_ms = now_ms + pause_ms(rest.times);
  if (++rest.times >= limits_.tries_max) rest.until_ms.reset();
}

}  // namespace dibs
