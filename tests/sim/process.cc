#include "process.h"

#include <fmt/core.h>

namespace dibs::sim {

namespace {
constexpr std::int64_t kStallMostMs = 90'000;
constexpr std::uint64_t kStartTicks = 7;  // pids are not used twice here
}  // namespace

Process::Process(Schedule& schedule, Host& host, Bug bug, Manner manner)
    : schedule_(schedule),
      host_(host),
      bug_(bug),
      manner_(manner),
      pid_(host.start_process()),
      clock_(*this),
      files_(*this),
      random_(manner == Manner::only_looks ? 1 : schedule.dice().next()),
      machine_(*this) {}

Process::~Process() { kill(); }

bool Process::step() {
  if (only_looks()) return true;
  if (!alive()) return false;
  const Weather& weather = host_.weather();
  Dice& dice = schedule_.dice();
  if (dice.one_in(weather.stall_one_in)) {
    const std::int64_t ms = dice.between(1000, kStallMostMs);
    schedule_.note(fmt::format("process {} is stopped for {} ms", pid_, ms));
    schedule_.sleep_ms(ms);
  } else {
    schedule_.pass();
  }
  if (host_.asleep())
    schedule_.wait([&] { return !alive() || !host_.asleep(); }, host_.asleep_until_ms());
  const bool spared = spared_steps_ > 0;
  if (spared) --spared_steps_;
  if (alive() && !spared && dice.one_in(weather.kill_one_in)) be_killed();
  if (alive() && dice.one_in(weather.power_one_in)) lose_power();
  return alive();
}

void Process::be_killed() {
  schedule_.note(fmt::format("process {} is killed", pid_));
  kill();
}

void Process::lose_power() {
  schedule_.note(fmt::format("{} loses power", host_.name()));
  host_.reboot();
}

void Process::about_to_flush() {
  if (only_looks() || !alive() || spared_steps_ > 0) return;
  if (schedule_.dice().one_in(host_.weather().kill_before_flush_one_in)) be_killed();
}

void Process::has_answered() {
  if (alive() && schedule_.dice().one_in(host_.weather().power_after_answer_one_in)) lose_power();
}

void Process::sleep_ms(std::int64_t ms) {
  if (!alive()) return;
  schedule_.wait([&] { return !alive(); }, schedule_.now_ms() + ms);
  (void)step();
}

ProcessTie Process::tie() const {
  return {.host = host_.name(),
          .boot = host_.boot(),
          .pid_namespace = 1,
          .pid = pid_,
          .start_ticks = kStartTicks};
}

Instant Process::View::now() {
  Instant now = process_.host_.now();
  if (process_.bug_ == Bug::the_wall_clock_decides) now.boot = {};
  return now;
}

std::int64_t Process::View::stopwatch_us() { return process_.schedule_.now_ms() * 1000; }

std::optional<ProcessView> Process::Neighbours::find_process(std::int64_t pid) {
  if (!process_.host_.runs(pid)) return std::nullopt;
  return ProcessView{.start_ticks = kStartTicks, .zombie = false};
}

Presence Process::Neighbours::presence(std::int64_t pid, std::uint64_t start_ticks) {
  if (process_.bug_ == Bug::the_living_are_taken_for_dead) return Presence::gone;
  return process_.host_.runs(pid) && start_ticks == kStartTicks ? Presence::running
                                                                : Presence::gone;
}

Result<std::int64_t> Process::Neighbours::start_detached(const std::vector<std::string>&) {
  return fail(ErrorKind::internal, "nothing is started in a simulation");
}

}  // namespace dibs::sim
