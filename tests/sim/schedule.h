// Who goes on next, and what time it is. All that happens in a simulated world happens in fibers of
// one thread: a fiber runs until it passes the turn, and the dice say who has it next. Time is a
// number that moves when nobody can go on without it.
//
//   Schedule schedule(seed);
//   schedule.start([&] { … schedule.pass(); … schedule.sleep_ms(500); … });
//   schedule.run();                     // until every fiber has ended
//   schedule.trace_hash();              // the same for the same seed
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dice.h"

namespace dibs::sim {

class Schedule {
 public:
  explicit Schedule(std::uint64_t seed);
  ~Schedule();
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  [[nodiscard]] Dice& dice() { return dice_; }
  [[nodiscard]] std::int64_t now_ms() const { return now_ms_; }

  void start(std::function<void()> body);
  // False when nobody can ever go on again, or it takes longer than any world should.
  [[nodiscard]] bool run();

  // From a fiber only. A little time goes by, and others may go on first.
  void pass();
  void sleep_ms(std::int64_t ms);
  // Until it is so, or until the deadline. Says whether it is so.
  bool wait(const std::function<bool()>& until, std::int64_t deadline_ms);

  // What happened, for the trace.
  void note(std::string_view text);
  [[nodiscard]] std::uint64_t trace_hash() const { return hash_; }
  void keep_trace() { keeps_trace_ = true; }
  [[nodiscard]] const std::string& trace() const { return trace_; }

 private:
  struct Fiber;
  static void enter();
  void resume(Fiber& fiber);
  void yield();
  void find_ready();
  [[nodiscard]] bool skip_to_the_next_wake_up();

  Dice dice_;
  std::int64_t now_ms_ = 0;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> ready_;  // who could go on in this turn
  Fiber* current_ = nullptr;
  std::unique_ptr<Fiber> scheduler_;
  std::uint64_t hash_ = 0xcbf29ce484222325U;
  bool keeps_trace_ = false;
  std::string trace_;
};

}  // namespace dibs::sim
