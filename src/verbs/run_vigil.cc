// What a run watches over while its steps are under way: that leases stay alive, what others do,
// and that whoever looks on sees it. The other half of RunLoop.
#include <algorithm>

#include "base/text.h"
#include "verbs/run_loop.h"

namespace dibs::verbs {

using dispatching::Changed;
using dispatching::LeaseLost;
using What = RunEvent::What;

namespace {

constexpr std::int64_t kBeatAgainMs = 1000;  // after one that failed

std::string last_line_of(std::string_view text) {
  text = text.substr(0, text.find_last_not_of("\r\n \t") + 1);
  const std::size_t line = text.find_last_of("\r\n");
  return std::string(line == std::string_view::npos ? text : text.substr(line + 1));
}

}  // namespace

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
  std::int64_t ms = parts_.beat_every_ms;
  for (const auto& [number, job] : jobs_) ms = std::min(ms, job.item.ttl_secs * 1000 / 3);
  return ms;
}

void RunLoop::beat_if_due() {
  if (beating_ || jobs_.empty() || now_ms() < next_beat_ms_) return;
  Beating step{.since_ms = now_ms(), .jobs = {}};
  for (const auto& [number, job] : jobs_) step.jobs.insert(number);
  const ChildCall call = beat_step(parts_.who, step.jobs);
  beating_ = start(call, std::move(step));
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
    event.kind = parts_.request.kinds[job->item.kind.value].name;
    if (job->slot) event.worker = *job->slot + 1;
  }
  parts_.watch.on_event(event);
}

void RunLoop::draw() {
  if (!parts_.watch.on_frame || now_ms() < drawn_ms_ + kRunFrameMs) return;
  drawn_ms_ = now_ms();
  parts_.watch.on_frame(frame());
}

// In the order of the slots, which is that of the kinds.
std::vector<WorkerNow> RunLoop::idle_workers() const {
  std::vector<WorkerNow> workers;
  for (const RunKind& kind : parts_.request.kinds)
    workers.insert(workers.end(), kind.workers,
                   {.kind = kind.name, .item = {}, .lease_left_ms = {}, .last_line = {}});
  return workers;
}

RunNow RunLoop::frame() const {
  RunNow now{.workers = idle_workers(),
             .prepared = dispatch_.waiting(),
             .finishing = 0,
             .left = parts_.left,
             .totals = dispatch_.totals(),
             .elapsed_ms = elapsed_ms(),
             .draining = dispatch_.is_draining()};
  for (const auto& [number, job] : jobs_) {
    if (job.finishing || (job.slot && !job.command)) ++now.finishing;
    if (!job.slot || !job.command) continue;
    WorkerNow& worker = now.workers[*job.slot];
    worker.item = job.item.item;
    worker.for_ms = now_ms() - job.started_ms;
    worker.lease_left_ms = job.lease_until_ms - now_ms();
    worker.last_line = last_line_of(parts_.children.out(*job.command));
  }
  const std::uint64_t ended = now.totals.landed + now.totals.parked;
  now.left -= std::min<std::size_t>(now.left, ended);
  return now;
}

}  // namespace dibs::verbs
