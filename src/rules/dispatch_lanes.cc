// What is to be done now: commands into free slots, the next item into each lane, and when to look
// again. dispatch.cc has what events mean.
#include <fmt/core.h>

#include <algorithm>

#include "rules/dispatch.h"

namespace dibs {

using dispatching::Prepare;
using dispatching::StartCommand;
using dispatching::StopCommand;

namespace {

void keep_earliest(std::optional<std::int64_t>& earliest, std::optional<std::int64_t> candidate) {
  if (candidate && (!earliest || *candidate < *earliest)) earliest = candidate;
}

}  // namespace

void Dispatch::check_deadlines(std::int64_t now_ms) {
  for (auto& [number, job] : jobs_) {
    if (!job.act_ms || now_ms < *job.act_ms) continue;
    if (job.stage == Stage::stopping) {
      actions_.emplace_back(StopCommand{.job = number, .force = StopCommand::Force::kill});
      job.act_ms.reset();
    } else if (job.stage == Stage::running) {
      const std::int64_t secs = limits_.timeout_ms.value_or(0) / 1000;
      stop(number, job, failure(number, job, fmt::format("it took longer than {} s", secs)),
           now_ms);
    }
  }
}

void Dispatch::fill_slots(std::int64_t now_ms) {
  for (std::size_t slot = 0; slot < slots_.size() && !waiting_.empty(); ++slot) {
    if (slots_[slot]) continue;
    const JobNumber number = waiting_.front();
    waiting_.erase(waiting_.begin());
    Job& job = jobs_.at(number);
    slots_[slot] = number;
    job.stage = Stage::running;
    job.slot = slot;
    job.started_ms = now_ms;
    if (limits_.timeout_ms) job.act_ms = now_ms + *limits_.timeout_ms;
    ++totals_.commands;
    if (job.tries > 0) ++totals_.retries;
    actions_.emplace_back(StartCommand{.job = number, .slot = slot});
  }
}

void Dispatch::use_finishing_lanes() {
  for (; finishing_ < limits_.finishing_lanes && !finishing_queue_.empty(); ++finishing_) {
    actions_.push_back(std::move(finishing_queue_.front()));
    finishing_queue_.erase(finishing_queue_.begin());
  }
}

void Dispatch::use_preparing_lane(std::int64_t now_ms) {
  if (preparing_since_ms_ || !may_take_more(now_ms)) return;
  const auto free =
      static_cast<std::size_t>(std::ranges::count(slots_, std::optional<JobNumber>(std::nullopt)));
  if (waiting_.size() >= free + wanted_ahead()) return;
  preparing_since_ms_ = now_ms;
  asked_ms_ = now_ms;
  nothing_ready_ = false;
  changed_meanwhile_ = false;
  actions_.emplace_back(Prepare{.job = {++last_job_}, .except = resting(now_ms)});
}

bool Dispatch::may_take_more(std::int64_t now_ms) const {
  if (interrupts_ > 0 || gave_up() || now_ms < not_before_ms_) return false;
  if (limits_.commands_max && totals_.commands + waiting_.size() >= *limits_.commands_max)
    return false;
  if (!nothing_ready_) return true;
  const std::optional<std::int64_t> rested_ms = next_rested_ms();
  return now_ms >= look_again_ms_ ? !jobs_.empty() || rested_ms.has_value()
                                  : rested_ms && now_ms >= *rested_ms;
}

// As many as slots become free while one is prepared, and one to spare. None where that would save
// little: an item that waits is an item that nobody else can take, from a base that grows old.
std::size_t Dispatch::wanted_ahead() const {
  constexpr std::int64_t kLittle = 20;  // a twentieth of the workers' time
  if (!command_takes_ms_ || preparing_takes_ms_ * kLittle < *command_takes_ms_) return 0;
  const auto workers = static_cast<std::int64_t>(limits_.workers);
  const std::int64_t freed =
      preparing_takes_ms_ * workers / std::max<std::int64_t>(*command_takes_ms_, 1);
  return static_cast<std::size_t>(std::min(freed + 1, workers));
}

std::vector<std::string> Dispatch::resting(std::int64_t now_ms) const {
  std::vector<std::string> items;
  for (const auto& [item, rest] : resting_) {
    if (!rest.until_ms || now_ms < *rest.until_ms) items.push_back(item);
  }
  return items;
}

std::optional<std::int64_t> Dispatch::next_rested_ms() const {
  std::optional<std::int64_t> earliest;
  for (const auto& [item, rest] : resting_) {
    // One that was ready to be taken when nothing was is not there any more.
    if (rest.until_ms && *rest.until_ms > asked_ms_) keep_earliest(earliest, rest.until_ms);
  }
  return earliest;
}

std::optional<std::int64_t> Dispatch::wake_ms() const {
  std::optional<std::int64_t> wake;
  for (const auto& [number, job] : jobs_) keep_earliest(wake, job.act_ms);
  if (preparing_since_ms_ || interrupts_ > 0 || gave_up()) return wake;
  if (preparing_failures_ > 0) keep_earliest(wake, not_before_ms_);
  if (nothing_ready_ && !jobs_.empty()) keep_earliest(wake, look_again_ms_);
  if (nothing_ready_) keep_earliest(wake, next_rested_ms());
  return wake;
}

bool Dispatch::is_over() const {
  if (!jobs_.empty() || preparing_since_ms_) return false;
  if (interrupts_ > 0 || gave_up()) return true;
  if (limits_.commands_max && totals_.commands >= *limits_.commands_max) return true;
  return nothing_ready_ && !next_rested_ms();
}

std::size_t Dispatch::running() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(slots_, [](const auto& slot) { return slot.has_value(); }));
}

}  // namespace dibs
