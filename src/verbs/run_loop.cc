#include "verbs/run_loop.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace dibs::verbs {

using namespace dispatching;
using What = RunEvent::What;

namespace {

constexpr std::int64_t kFrameMs = 150;
constexpr std::int64_t kIdleMs = 1000;  // how long nothing may happen before it looks around
constexpr std::int64_t kBeatMaxMs = 30'000;
constexpr std::int64_t kBeatAgainMs = 1000;  // after one that failed
constexpr int kLandingsMax = 4;              // of one item, where nobody is to blame

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

std::string last_line_of(std::string_view text) {
  text = text.substr(0, text.find_last_not_of("\r\n \t") + 1);
  const std::size_t line = text.find_last_of("\r\n");
  return std::string(line == std::string_view::npos ? text : text.substr(line + 1));
}

}  // namespace

void RunLoop::run(std::uint64_t watch_since) {
  start(watch_step(parts_.who, watch_since), Watching{});
  next_beat_ms_ = now_ms() + pace_ms();
  tell(Begun{});
  while (!dispatch_.is_over()) {
    for (const ChildNews& news : parts_.children.wait(patience_ms())) take(news);
    beat_if_due();
    drop_lapsed();
    tell(Woken{});
    draw();
  }
}

std::int64_t RunLoop::patience_ms() const {
  std::int64_t until_ms = now_ms() + (parts_.watch.on_frame ? kFrameMs : kIdleMs);
  if (const auto wake_ms = dispatch_.wake_ms()) until_ms = std::min(until_ms, *wake_ms);
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

// Whatever it is, it would be the same for the next item.
void RunLoop::give_up(Error error) {
  if (error_) return;
  error_ = std::move(error);
  tell(Interrupted{});
}

void RunLoop::carry_out(const Prepare& what) {
  const Preparing step{.job = what.job, .since_ms = now_ms()};
  if (!start(prepare_step(parts_.who, parts_.request, what), step)) tell(PreparingFailed{});
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

void RunLoop::carry_out(const Land& what) {
  Job& job = jobs_.at(what.job);
  job.finishing = true;
  ++job.landings;
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
  const ChildCall call = give_back_step(parts_.who, parts_.request, what, job.item);
  if (start(call, Giving{.job = what.job})) return;
  jobs_.erase(what.job);
  tell(GaveBack{.job = what.job});
}

void RunLoop::take(const ChildNews& news) {
  if (const auto* asked = std::get_if<Asked>(&news)) {
    if (*asked == Asked::to_redraw) drawn_ms_ = 0;
    if (*asked == Asked::to_redraw) return;
    if (!dispatch_.is_draining()) say(What::draining, nullptr, "");
    tell(Interrupted{});
    if (*asked == Asked::to_end_now) tell(Interrupted{});
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
  Result<PreparedItem> item =
      end.exit_code == 0 ? prepared_from(end.out) : fail(ErrorKind::internal, complaint_in(end));
  if (!item) {
    last_complaint_ = item.error().message;
    say(What::warning, nullptr, last_complaint_);
    tell(PreparingFailed{});
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
  const Prepared prepared{.job = step.job, .item = job.item.item, .tries = job.item.tries};
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
  if (is_worth_another_try(end.exit_code) && job.landings < kLandingsMax)
    return carry_out(Land{.job = step.job});
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
  if (end.exit_code != 0)
    say(What::warning, &jobs_.at(step.job), "it could not be given back: " + complaint_in(end));
  jobs_.erase(step.job);
  tell(GaveBack{.job = step.job});
}

void RunLoop::ended(const Beating& step, const ChildEnded& end) {
  beating_ = false;
  if (end.exit_code != 0) {
    say(What::warning, nullptr, "leases could not be kept alive: " + complaint_in(end));
    next_beat_ms_ = now_ms() + kBeatAgainMs;
    return;
  }
  next_beat_ms_ = step.since_ms + pace_ms();
  const std::vector<std::string> sessions = beat_from(end.out);
  for (const JobNumber number : step.jobs) {
    const auto job = jobs_.find(number);
    if (job == jobs_.end()) continue;
    const bool held = std::ranges::find(sessions, parts_.who.session(number)) != sessions.end();
    if (held) {
      job->second.lease_until_ms = step.since_ms + job->second.item.ttl_secs * 1000;
    } else if (!job->second.finishing) {
      tell(LeaseLost{.job = number});
    }
  }
}

// Without it, changes of others are seen a little later.
void RunLoop::ended(const Watching& /*step*/, const ChildEnded& /*end*/) { watcher_.reset(); }

void RunLoop::read_events(ChildId child) {
  const std::string lines = parts_.children.take_lines(child);
  bool by_others = false;
  for (const std::string_view line : split(lines, '\n')) {
    const Watched watched = watched_from(parts_.who, line);
    by_others = by_others || watched.by_others;
    if (watched.lost) tell(LeaseLost{.job = *watched.lost});
  }
  if (by_others) tell(Changed{});
}

// A third of the shortest lease at most: two beats may fail before anything is lost.
std::int64_t RunLoop::pace_ms() const {
  std::int64_t ms = kBeatMaxMs;
  for (const auto& [number, job] : jobs_) ms = std::min(ms, job.item.ttl_secs * 1000 / 3);
  return ms;
}

void RunLoop::beat_if_due() {
  if (beating_ || jobs_.empty() || now_ms() < next_beat_ms_) return;
  Beating step{.since_ms = now_ms(), .jobs = {}};
  for (const auto& [number, job] : jobs_) step.jobs.insert(number);
  beating_ = start(beat_step(parts_.who), std::move(step));
}

// Nobody could tell the store in time: others may have the item by now.
void RunLoop::drop_lapsed() {
  std::vector<JobNumber> lapsed;
  for (const auto& [number, job] : jobs_) {
    if (!job.finishing && now_ms() >= job.lease_until_ms) lapsed.push_back(number);
  }
  for (const JobNumber number : lapsed) tell(LeaseLost{.job = number});
}

void RunLoop::say(What what, const Job* job, std::string text) {
  RunEvent event{.what = what, .item = {}, .worker = std::nullopt, .text = std::move(text)};
  if (job != nullptr) {
    event.item = job->item.item;
    event.took_ms = job->took_ms;
    if (job->slot) event.worker = *job->slot + 1;
  }
  parts_.watch.on_event(event);
}

void RunLoop::draw() {
  if (!parts_.watch.on_frame || now_ms() < drawn_ms_ + kFrameMs) return;
  drawn_ms_ = now_ms();
  parts_.watch.on_frame(frame());
}

RunNow RunLoop::frame() const {
  RunNow now{.workers = std::vector<WorkerNow>(parts_.request.limits.workers),
             .prepared = dispatch_.waiting(),
             .finishing = 0,
             .left = parts_.left,
             .totals = dispatch_.totals(),
             .elapsed_ms = elapsed_ms(),
             .draining = dispatch_.is_draining()};
  for (const auto& [number, job] : jobs_) {
    if (job.finishing || (job.slot && !job.command)) ++now.finishing;
    if (!job.slot || !job.command) continue;
    now.workers[*job.slot] = {.item = job.item.item,
                              .for_ms = now_ms() - job.started_ms,
                              .lease_left_ms = job.lease_until_ms - now_ms(),
                              .last_line = last_line_of(parts_.children.out(*job.command))};
  }
  const std::uint64_t ended = now.totals.landed + now.totals.parked;
  now.left -= std::min<std::size_t>(now.left, ended);
  return now;
}

}  // namespace dibs::verbs
