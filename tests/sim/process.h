// A process of a simulated machine, with the world as it sees it: clock, files, randomness, other
// processes. Every call it makes to the world is a step: others may go on first, it may be stopped
// for a while, killed, or lose its machine. Once it is dead all its calls fail and change nothing,
// and what it still answers nobody hears.
#pragma once

#include <cstdint>

#include "dice.h"
#include "host.h"
#include "model/process_tie.h"
#include "planted.h"
#include "process_files.h"
#include "sys/clock.h"
#include "sys/machine.h"

namespace dibs::sim {

class Process {
 public:
  enum class Manner {
    usual,
    only_looks,  // from outside the world: no time passes, nothing happens, and nothing is changed
  };
  Process(Schedule& schedule, Host& host, Bug bug, Manner manner = Manner::usual);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] bool alive() const { return host_.runs(pid_); }
  void kill() { host_.end_process(pid_); }
  // Before anything it does to the world. False: it is dead, and does nothing.
  [[nodiscard]] bool step();
  void sleep_ms(std::int64_t ms);
  // What strikes at one moment rather than at any call.
  void about_to_flush();
  void has_answered();
  // Who was told that a flush failed lives to put that right: nothing is promised otherwise
  // (docs/guarantees.md).
  void spare() { spared_steps_ = kStepsToPutRight; }

  [[nodiscard]] Schedule& schedule() { return schedule_; }
  [[nodiscard]] Host& host() { return host_; }
  [[nodiscard]] Bug bug() const { return bug_; }
  [[nodiscard]] bool only_looks() const { return manner_ == Manner::only_looks; }
  [[nodiscard]] std::int64_t pid() const { return pid_; }
  [[nodiscard]] ProcessTie tie() const;
  [[nodiscard]] Clock& clock() { return clock_; }
  [[nodiscard]] FileSystem& files() { return files_; }
  [[nodiscard]] Random& random() { return random_; }
  [[nodiscard]] Machine& machine() { return machine_; }

 private:
  void be_killed();
  void lose_power();

  class View final : public Clock {
   public:
    explicit View(Process& process) : process_(process) {}
    [[nodiscard]] Instant now() override;
    [[nodiscard]] std::int64_t stopwatch_us() override;
    void sleep_ms(std::int64_t ms) override { process_.sleep_ms(ms); }

   private:
    Process& process_;
  };
  class Neighbours final : public Machine {
   public:
    explicit Neighbours(Process& process) : process_(process) {}
    [[nodiscard]] std::string host_name() override { return process_.host_.name(); }
    [[nodiscard]] BootId boot_id() override { return process_.host_.boot(); }
    [[nodiscard]] std::uint64_t pid_namespace() override { return 1; }
    [[nodiscard]] std::int64_t own_pid() override { return process_.pid_; }
    [[nodiscard]] std::optional<ProcessView> find_process(std::int64_t pid) override;
    [[nodiscard]] Presence presence(std::int64_t pid, std::uint64_t start_ticks) override;
    [[nodiscard]] Result<std::int64_t> start_detached(
        const std::vector<std::string>& arguments) override;

   private:
    Process& process_;
  };

  static constexpr int kStepsToPutRight = 24;

  Schedule& schedule_;
  Host& host_;
  Bug bug_;
  Manner manner_;
  int spared_steps_ = 0;
  std::int64_t pid_;
  View clock_;
  ProcessFiles files_;
  DiceRandom random_;
  Neighbours machine_;
};

}  // namespace dibs::sim
