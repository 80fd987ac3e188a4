#include "host.h"

namespace dibs::sim {

namespace {
constexpr std::int64_t kDriftMostPpm = 200;
constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kUpBeforeMs = 3'600'000;
}  // namespace

Weather any_weather(Dice& dice) {
  Weather weather;
  if (dice.chance(60)) weather.kill_one_in = dice.between(100, 800);
  if (dice.chance(50)) weather.power_one_in = dice.between(300, 2000);
  if (dice.chance(50)) weather.stall_one_in = dice.between(100, 1000);
  if (dice.chance(50)) weather.disk_fault_one_in = dice.between(60, 600);
  if (dice.chance(60)) weather.remote_fault_one_in = dice.between(5, 40);
  if (dice.chance(20)) {
    weather.kill_before_flush_one_in = dice.between(3, 20);
    weather.power_after_answer_one_in = dice.between(4, 40);
  }
  weather.clocks_are_set = dice.chance(50);
  weather.machines_sleep = dice.chance(40);
  if (dice.chance(60)) weather.skew_ms = dice.between(0, 12'000);
  return weather;
}

Host::Host(Schedule& schedule, Weather& weather, int number)
    : schedule_(schedule),
      weather_(weather),
      number_(number),
      drift_ppm_(schedule.dice().between(-kDriftMostPpm, kDriftMostPpm)),
      disk_(unused_clock_, schedule.dice().next()) {}

Instant Host::now() const {
  const auto drifted = [&](std::int64_t ms) { return ms + ms * drift_ppm_ / kMillion; };
  return {.unix_ms = FakeClock::kStartUnixMs + drifted(schedule_.now_ms()) + wall_wrong_ms_,
          .boot_ms = kUpBeforeMs + drifted(schedule_.now_ms() - booted_ms_),
          .boot = boot()};
}

BootId Host::boot() const { return {name() + "-boot-" + std::to_string(boots_)}; }

std::int64_t Host::start_process() {
  running_.insert(++pids_);
  return pids_;
}

void Host::reboot() {
  running_.clear();
  if (loses_what_was_not_synced_) disk_.crash();
  ++boots_;
  booted_ms_ = schedule_.now_ms();
  asleep_until_ms_ = 0;
}

}  // namespace dibs::sim
