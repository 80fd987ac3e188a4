#include "verbs/run_loop.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "verbs/dead_locks.h"

namespace dibs::verbs {

using dispatching::Action;
using dispatching::Begun;
using dispatching::CommandEnded;
using dispatching::GaveBack;
using dispatching::GiveBack;
using dispatching::Interrupted;
using dispatching::LandingEnded;
using dispatching::NothingReady;
using dispatching::Prepare;
using dispatching::Prepared;
using dispatching::PreparingFailed;
using dispatching::StartCommand;
using dispatching::StopCommand;
using dispatching::Woken;
using What = RunEvent::What;

namespace {

constexpr std::int64_t kIdleMs = 1000;        // how long nothing may happen before it looks around
constexpr std::int64_t kFirstPauseMs = 500;   // before a step is tried again; doubles,
constexpr std::int64_t kPauseMaxMs = 60'000;  // up to this,
constexpr std::int64_t kLastWaitMs = 100;
constexpr int kLastWaitsMax = 50;
constexpr int kPostponedMax = 12;  // so often: some five minutes

// Nothing was decided: the store could not be reached, or others were faster.
bool is_worth_another_try(int code) {
  return code == exit_code(ErrorKind::contended) || code == exit_code(ErrorKind::unreachable);
}

What what_of(GiveBack::As as) {
  switch (as) {
    case GiveBack::As::put_back:
      return What::put_back;
    case GiveBack::As::failed:
      return What::failed;
    case GiveBack::As::parked:
      return What::parked;
    case GiveBack::As::lost:
      return What::lost;
  }
  return What::lost;
}

}  // namespace

void RunLoop::run(std::uint64_t watch_since) {
  start(watch_step(parts_.who, watch_since), Watching{});
  next_beat_ms_ = now_ms() + pace_ms();
  tell(Begun{});
  while (!dispatch_.is_over()) {
    for (const ChildNews& news : parts_.children.wait(patience_ms())) take(news);
    start_postponed();
    beat_if_due();
    drop_lapsed();
    tell(Woken{});
    draw();
  }
  // A beat that is under way has begun to write.
  for (int waits = 0; beating_ && waits < kLastWaitsMax; ++waits) {
    for (const ChildNews& news : parts_.children.wait(kLastWaitMs)) take(news);
  }
}

std::int64_t RunLoop::patience_ms() const {
  std::int64_t until_ms = now_ms() + (parts_.watch.on_frame ? kRunFrameMs : kIdleMs);
  if (const auto wake_ms = dispatch_.wake_ms()) until_ms = std::min(until_ms, *wake_ms);
  for (const Postponed& one : postponed_) until_ms = std::min(until_ms, one.at_ms);
  return std::max<std::int64_t>(until_ms - now_ms(), 0);
}

void RunLoop::tell(const dispatching::Event& event) {
  for (const Action& action : dispatch_.on(event, now_ms()))
    std::visit([&](const auto& what) { carry_out(what); }, action);
}

bool RunLoop::start(const ChildCall& call, Step step) {
  const Result<ChildId> child = parts_.children.start(call);
  if (!child) {
    give_up(child.error());
    return false;
  }
  if (std::holds_alternative<Watching>(step)) watcher_ = *child;
  if (const auto* command = std::get_if<Commanding>(&step)) jobs_.at(command->job).command = *child;
  steps_.emplace(*child, std::move(step));
  return true;
}

// Work that took an hour is not given up because a remote is away for a minute.
bool RunLoop::postpone(const ChildCall& call, Step step, JobNumber job, const ChildEnded& end) {
  int& times = jobs_.at(job).postponed;
  if (!is_worth_another_try(end.exit_code) || times >= kPostponedMax) return false;
  const std::int64_t pause_ms = std::min(kFirstPauseMs << times, kPauseMaxMs);
  ++times;
  say(What::warning, &jobs_.at(job),
      fmt::format("{}; next try in {}", complaint_in(end), duration_text(pause_ms)));
  postponed_.push_back({.at_ms = now_ms() + pause_ms, .call = call, .step = std::move(step)});
  return true;
}

void RunLoop::start_postponed() {
  std::vector<Postponed> due;
  std::erase_if(postponed_, [&](Postponed& one) {
    if (now_ms() < one.at_ms) return false;
    due.push_back(std::move(one));
    return true;
  });
  for (Postponed& one : due) {
    // What cannot be started is told as if it had failed for good.
    const ChildEnded failed{.child = {}, .exit_code = 1, .out = {}, .err = {}};
    if (!start(one.call, one.step))
      std::visit([&](const auto& step) { ended(step, failed); }, one.step);
  }
}

// Whatever it is, it would be the same for the next item.
void RunLoop::give_up(Error error) {
  if (error_) return;
  error_ = std::move(error);
  tell(Interrupted{});
}

void RunLoop::carry_out(const Prepare& what) {
  const Preparing step{.job = what.job, .since_ms = now_ms()};
  if (!start(prepare_step(parts_.who, parts_.request, what), step))
    tell(PreparingFailed{.why = PreparingFailed::Why::lasting});
}

void RunLoop::carry_out(const StartCommand& what) {
  Job& job = jobs_.at(what.job);
  job.slot = what.slot;
  job.started_ms = now_ms();
  const ChildCall call = command_call(parts_.who, parts_.request, what.job, job.item);
  if (start(call, Commanding{.job = what.job})) {
    say(What::started, &job, job.item.path);
  } else {
    tell(CommandEnded{.job = what.job, .exit_code = kPutBackExit});
  }
}

void RunLoop::carry_out(const StopCommand& what) {
  const Job& job = jobs_.at(what.job);
  if (!job.command) return;
  const bool kills = what.force == StopCommand::Force::kill;
  parts_.children.stop(*job.command, kills ? Children::Force::kill : Children::Force::ask);
}

void RunLoop::carry_out(const dispatching::Land& what) {
  Job& job = jobs_.at(what.job);
  job.finishing = true;
  const ChildCall call = landing_step(parts_.who, parts_.request, what.job, job.item);
  if (!start(call, Landing{.job = what.job}))
    tell(LandingEnded{.job = what.job, .how = LandingEnded::How::refused});
}

void RunLoop::carry_out(const GiveBack& what) {
  Job& job = jobs_.at(what.job);
  job.finishing = true;
  say(what_of(what.as), &job, what.why);
  const bool counts = what.as == GiveBack::As::failed || what.as == GiveBack::As::parked;
  if (!counts) return give_back(what);
  const ChildCall call = failure_step(parts_.who, what, job.item, job.output);
  if (!start(call, Failing{.given = what})) give_back(what);
}

void RunLoop::give_back(const GiveBack& what) {
  const Job& job = jobs_.at(what.job);
  // Its command has ended, and whatever that started was killed, perhaps in the middle of a commit.
  if (job.slot) remove_dead_locks(parts_.files, job.item.path);
  const ChildCall call = give_back_step(parts_.who, parts_.request, what, job.item);
  if (start(call, Giving{.given = what})) return;
  jobs_.erase(what.job);
  tell(GaveBack{.job = what.job});
}

void RunLoop::take(const ChildNews& news) {
  if (const auto* asked = std::get_if<AskedBySignal>(&news)) {
    if (*asked == AskedBySignal::to_redraw) drawn_ms_ = 0;
    if (*asked == AskedBySignal::to_redraw) return;
    if (!dispatch_.is_draining()) say(What::draining, nullptr, "");
    tell(Interrupted{});
    if (*asked == AskedBySignal::to_end_now) tell(Interrupted{});
    return;
  }
  if (const auto* spoke = std::get_if<ChildSpoke>(&news)) {
    if (spoke->child == watcher_) read_events(spoke->child);
    return;
  }
  const auto& end = std::get<ChildEnded>(news);
  auto node = steps_.extract(end.child);
  if (node.empty()) return;
  std::visit([&](const auto& step) { ended(step, end); }, node.mapped());
}

void RunLoop::ended(const Preparing& step, const ChildEnded& end) {
  if (end.exit_code == exit_code(ErrorKind::nothing_ready)) return tell(NothingReady{});
  Result<PreparedItem> item = end.exit_code == 0 ? prepared_from(parts_.request, end.out)
                                                 : fail(ErrorKind::internal, complaint_in(end));
  if (!item) {
    last_complaint_ = item.error().message;
    say(What::warning, nullptr, last_complaint_);
    using Why = PreparingFailed::Why;
    tell(PreparingFailed{.why = is_worth_another_try(end.exit_code) ? Why::passing : Why::lasting});
    if (dispatch_.gave_up())
      error_ = Error{.kind = ErrorKind::internal,
                     .message = "no item could be taken: " + printable(last_complaint_),
                     .hint = "see what is wrong: dibs doctor",
                     .fields = {}};
    return;
  }
  Job job{.item = *std::move(item)};
  job.took_ms = now_ms() - step.since_ms;
  job.lease_until_ms = step.since_ms + job.item.ttl_secs * 1000;
  next_beat_ms_ = std::min(next_beat_ms_, step.since_ms + job.item.ttl_secs * 1000 / 3);
  const Prepared prepared{
      .job = step.job, .item = job.item.item, .tries = job.item.tries, .kind = job.item.kind};
  jobs_.emplace(step.job, std::move(job));
  tell(prepared);
}

void RunLoop::ended(const Commanding& step, const ChildEnded& end) {
  Job& job = jobs_.at(step.job);
  job.command.reset();
  job.took_ms = now_ms() - job.started_ms;
  job.output = end.out;
  parts_.children.kill_adopted("DIBS_SESSION=" + parts_.who.session(step.job));
  tell(CommandEnded{.job = step.job, .exit_code = end.exit_code});
}

void RunLoop::ended(const Landing& step, const ChildEnded& end) {
  Job& job = jobs_.at(step.job);
  const ChildCall again = landing_step(parts_.who, parts_.request, step.job, job.item);
  if (postpone(again, step, step.job, end)) return;
  job.postponed = 0;
  const LandingEnded landing = landing_from(step.job, end);
  if (landing.how == LandingEnded::How::landed) {
    say(What::landed, &job, landing.why);
    jobs_.erase(step.job);
  }
  tell(landing);
}

void RunLoop::ended(const Failing& step, const ChildEnded& end) {
  if (end.exit_code != 0)
    say(What::warning, &jobs_.at(step.given.job),
        "the failure could not be written down: " + complaint_in(end));
  give_back(step.given);
}

void RunLoop::ended(const Giving& step, const ChildEnded& end) {
  const ChildCall again =
      give_back_step(parts_.who, parts_.request, step.given, jobs_.at(step.given.job).item);
  if (postpone(again, step, step.given.job, end)) return;
  if (end.exit_code != 0)
    say(What::warning, &jobs_.at(step.given.job),
        "it could not be given back: " + complaint_in(end));
  jobs_.erase(step.given.job);
  tell(GaveBack{.job = step.given.job});
}

}  // namespace dibs::verbs
