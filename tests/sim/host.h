// One machine of a simulated world: its clocks, which drift and are set, its disk, its boots, and
// which of its processes run. What may happen to it is the weather.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "base/time.h"
#include "schedule.h"
#include "testing/fake_clock.h"
#include "testing/fake_disk.h"

namespace dibs::sim {

/// How likely faults are: once in so many calls of a process to the world; 0: never.
struct Weather {
  std::int64_t kill_one_in = 0;
  std::int64_t power_one_in = 0;
  std::int64_t stall_one_in = 0;
  std::int64_t disk_fault_one_in = 0;
  std::int64_t remote_fault_one_in = 0;
  // Where each hurts most: what was written is not on disk, and what was answered must be.
  std::int64_t kill_before_flush_one_in = 0;
  std::int64_t power_after_answer_one_in = 0;
  bool clocks_are_set = false;
  bool machines_sleep = false;
  std::int64_t skew_ms = 0;  // how far wall clocks are set wrong

  void clear_up() { *this = {}; }
};

// Which of these a world has is up to the dice: with all of them at once nothing would ever get
// far.
[[nodiscard]] Weather any_weather(Dice& dice);

class Host {
 public:
  Host(Schedule& schedule, Weather& weather, int number);

  [[nodiscard]] std::string name() const { return "host-" + std::to_string(number_); }
  [[nodiscard]] Instant now() const;
  [[nodiscard]] BootId boot() const;
  [[nodiscard]] FakeDisk& disk() { return disk_; }
  [[nodiscard]] Weather& weather() { return weather_; }

  [[nodiscard]] std::int64_t start_process();
  void end_process(std::int64_t pid) { running_.erase(pid); }
  [[nodiscard]] bool runs(std::int64_t pid) const { return running_.contains(pid); }

  void set_wall_clock_wrong_by(std::int64_t ms) { wall_wrong_ms_ = ms; }
  void suspend_for(std::int64_t ms) { asleep_until_ms_ = schedule_.now_ms() + ms; }
  [[nodiscard]] bool asleep() const { return schedule_.now_ms() < asleep_until_ms_; }
  [[nodiscard]] std::int64_t asleep_until_ms() const { return asleep_until_ms_; }

  // Shut down instead of cut off: the disk loses nothing.
  void reboots_in_order() { loses_what_was_not_synced_ = false; }
  void reboot();

 private:
  Schedule& schedule_;
  Weather& weather_;
  int number_;
  std::int64_t drift_ppm_;
  std::int64_t wall_wrong_ms_ = 0;
  std::int64_t booted_ms_ = 0;
  bool loses_what_was_not_synced_ = true;
  int boots_ = 1;
  std::int64_t pids_ = 100;
  std::set<std::int64_t> running_;
  std::int64_t asleep_until_ms_ = 0;
  FakeClock unused_clock_;  // the disk's, which only its own watches would move
  FakeDisk disk_;
};

}  // namespace dibs::sim
