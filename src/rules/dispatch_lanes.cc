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
    } else {
      const std::int64_t secs = limits_.timeout_ms.value_or(0) / 1000;
      stop(number, job, failure(number, job, fmt::format("it took longer than {} s", secs)),
           now_ms);
    }
  }
}

// An item that was prepared for one kind waits for a slot of that kind.
void Dispatch::fill_slots(std::int64_t now_ms) {
  for (std::size_t slot = 0; slot < slots_.size() && !waiting_.empty(); ++slot) {
    if (slots_[slot].job) continue;
    const auto first = std::ranges::find_if(
        waiting_, [&](JobNumber number) { return is_waiting_for(slots_[slot].kind, number); });
    if (first == waiting_.end()) continue;
    const JobNumber number = *first;
    waiting_.erase(first);
    start(number, slot, now_ms);
  }
}

void Dispatch::start(JobNumber number, std::size_t slot, std::int64_t now_ms) {
  Job& job = jobs_.at(number);
  slots_[slot].job = number;
  job.stage = Stage::running;
  job.slot = slot;
  job.started_ms = now_ms;
  if (limits_.timeout_ms) job.act_ms = now_ms + *limits_.timeout_ms;
  ++totals_of(job).commands;
  if (job.tries > 0) ++totals_of(job).retries;
  actions_.emplace_back(StartCommand{.job = number, .slot = slot});
}

void Dispatch::use_finishing_lanes() {
  for (; finishing_ < limits_.finishing_lanes && !finishing_queue_.empty(); ++finishing_) {
    actions_.push_back(std::move(finishing_queue_.front()));
    finishing_queue_.erase(finishing_queue_.begin());
  }
}

void Dispatch::use_preparing_lane(std::int64_t now_ms) {
  if (preparing_since_ms_ || !may_take_more()) return;
  preparing_for_ = kinds_to_ask(now_ms);
  if (preparing_for_.empty()) return;
  preparing_since_ms_ = now_ms;
  changed_meanwhile_ = false;
  for (const KindNumber kind : preparing_for_) {
    kinds_[kind.value].asked_ms = now_ms;
    kinds_[kind.value].nothing_ready = false;
  }
  actions_.emplace_back(
      Prepare{.job = {++last_job_}, .except = resting(now_ms), .kinds = preparing_for_});
}

bool Dispatch::may_take_more() const {
  if (interrupts_ > 0 || gave_up()) return false;
  return !limits_.commands_max || totals().commands + waiting_.size() < *limits_.commands_max;
}

std::vector<KindNumber> Dispatch::kinds_to_ask(std::int64_t now_ms) const {
  std::vector<KindNumber> kinds;
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    const std::optional<std::int64_t> at_ms = next_ask_ms(kinds_[kind]);
    if (at_ms && *at_ms <= now_ms && has_room({kind})) kinds.push_back({kind});
  }
  return kinds;
}

bool Dispatch::is_waiting_for(KindNumber kind, JobNumber number) const {
  return jobs_.at(number).kind == kind;
}

bool Dispatch::has_room(KindNumber kind) const {
  const auto free = std::ranges::count_if(
      slots_, [&](const Slot& slot) { return slot.kind == kind && !slot.job; });
  const auto waiting = std::ranges::count_if(
      waiting_, [&](JobNumber number) { return is_waiting_for(kind, number); });
  return static_cast<std::size_t>(waiting) < static_cast<std::size_t>(free) + wanted_ahead(kind);
}

// When to look for an item for it at the earliest; nothing when only an event can bring one.
std::optional<std::int64_t> Dispatch::next_ask_ms(const Kind& kind) const {
  if (!kind.nothing_ready) return not_before_ms_;
  std::optional<std::int64_t> ask_ms = next_rested_ms(kind);
  if (ask_ms || !jobs_.empty()) keep_earliest(ask_ms, kind.look_again_ms);
  return ask_ms ? std::optional(std::max(*ask_ms, not_before_ms_)) : std::nullopt;
}

// As many as slots become free while one is prepared, and two to spare: commands that end at the
// same time find one each, and what takes longer to prepare for once delays nobody. None where that
// would save little: an item that waits is an item that nobody else can take, from a base that
// grows old.
std::size_t Dispatch::wanted_ahead(KindNumber kind) const {
  constexpr std::int64_t kLittle = 20;  // a twentieth of the workers' time
  constexpr std::int64_t kSpare = 2;
  const std::optional<std::int64_t>& takes_ms = kinds_[kind.value].command_takes_ms;
  if (!takes_ms || preparing_takes_ms_ * kLittle < *takes_ms) return 0;
  const auto workers = static_cast<std::int64_t>(limits_.workers[kind.value]);
  const std::int64_t freed = preparing_takes_ms_ * workers / std::max<std::int64_t>(*takes_ms, 1);
  return static_cast<std::size_t>(std::min(freed + kSpare, workers));
}

std::vector<std::string> Dispatch::resting(std::int64_t now_ms) const {
  std::vector<std::string> items;
  for (const auto& [item, rest] : resting_) {
    if (!rest.until_ms || now_ms < *rest.until_ms) items.push_back(item);
  }
  return items;
}

std::optional<std::int64_t> Dispatch::next_rested_ms(const Kind& kind) const {
  std::optional<std::int64_t> earliest;
  for (const auto& [item, rest] : resting_) {
    // One that was ready to be taken when nothing was is not there any more.
    if (rest.until_ms && *rest.until_ms > kind.asked_ms) keep_earliest(earliest, rest.until_ms);
  }
  return earliest;
}

std::optional<std::int64_t> Dispatch::wake_ms() const {
  std::optional<std::int64_t> wake;
  for (const auto& [number, job] : jobs_) keep_earliest(wake, job.act_ms);
  if (preparing_since_ms_ || !may_take_more()) return wake;
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    if (has_room({kind})) keep_earliest(wake, next_ask_ms(kinds_[kind]));
  }
  return wake;
}

bool Dispatch::is_over() const {
  if (!jobs_.empty() || preparing_since_ms_) return false;
  if (interrupts_ > 0 || gave_up()) return true;
  if (limits_.commands_max && totals().commands >= *limits_.commands_max) return true;
  return std::ranges::all_of(
      kinds_, [&](const Kind& kind) { return kind.nothing_ready && !next_rested_ms(kind); });
}

std::size_t Dispatch::running() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(slots_, [](const Slot& slot) { return slot.job.has_value(); }));
}

}  // namespace dibs
