// What a dispatcher does next: it has so many slots for commands of each kind, one lane that
// prepares items and some that land them or give them back, and it is told what happened. It
// touches nothing, so that a whole run can be played through in simulated time; verbs/run carries
// out what it says.
//
//   Dispatch dispatch(limits);
//   std::vector<Action> actions = dispatch.on(dispatching::Begun{}, now_ms);
//   … carry them out; when one has ended, or time has passed:
//   actions = dispatch.on(dispatching::CommandEnded{.job = job, .exit_code = 0}, now_ms);
//   … until dispatch.is_over().
//
// An item under work is a job. Each that was prepared ends exactly once: landed, failed, put back,
// or lost. Preparing and landing go on while the slots are busy, so that a slot that is free has
// its next item there already; docs/adr/0013 says why.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace dibs {

/// Counts the items that a run has taken up; a session is named after it.
struct JobNumber {
  std::uint64_t value = 0;
  friend auto operator<=>(const JobNumber&, const JobNumber&) = default;
};

/// One of the kinds of workers that a run has, counted from 0.
struct KindNumber {
  std::size_t value = 0;
  friend auto operator<=>(const KindNumber&, const KindNumber&) = default;
};

enum class OnFailure { requeue, park };

struct DispatchLimits {
  std::vector<std::size_t> workers = {1};     // of each kind
  std::optional<std::uint64_t> commands_max;  // how many commands may be started in all
  std::int64_t tries_max = 3;
  OnFailure on_failure = OnFailure::requeue;
  std::optional<std::int64_t> timeout_ms;
  std::int64_t grace_ms = 5000;     // between asking a command to end and killing it
  std::size_t finishing_lanes = 8;  // how many are landed or given back at once

  [[nodiscard]] std::size_t all_workers() const;
};

// A command that ends so was not able to work, and the item is not to blame (EX_TEMPFAIL).
inline constexpr int kPutBackExit = 75;

namespace dispatching {

// What happened.
struct Begun {};
struct Prepared {
  JobNumber job;
  std::string item;
  std::int64_t tries = 0;  // that failed before
  KindNumber kind = {};    // one of those that were asked for
};
struct NothingReady {};  // for any of the kinds that were asked for
struct PreparingFailed {
  enum class Why { passing, lasting };  // whether it could be different next time
  Why why = Why::passing;
};
struct CommandEnded {
  JobNumber job;
  int exit_code = 0;
};
struct LandingEnded {
  enum class How { landed, conflicts, refused, lost };
  JobNumber job;
  How how = How::landed;
  std::string why = {};
};
struct GaveBack {
  JobNumber job;
};
struct LeaseLost {
  JobNumber job;
};
struct Interrupted {};
struct Changed {};  // others did something: there may be something to take
struct Woken {};    // time has passed

using Event = std::variant<Begun, Prepared, NothingReady, PreparingFailed, CommandEnded,
                           LandingEnded, GaveBack, LeaseLost, Interrupted, Changed, Woken>;

// What to do.
struct Prepare {
  JobNumber job;
  std::vector<std::string> except;     // items that rest
  std::vector<KindNumber> kinds = {};  // that have room; it is for whichever suits best
};
struct StartCommand {
  JobNumber job;
  std::size_t slot = 0;
};
struct StopCommand {
  enum class Force { ask, kill };
  JobNumber job;
  Force force = Force::ask;
};
struct Land {
  JobNumber job;
};
struct GiveBack {
  enum class As {
    put_back,  // as if it had never been taken
    failed,    // one more try is on record
    parked,    // the same, and nobody takes it until somebody has looked at it
    lost,      // the lease is another's: only the work is kept
  };
  JobNumber job;
  As as = As::put_back;
  std::string why;
};

using Action = std::variant<Prepare, StartCommand, StopCommand, Land, GiveBack>;

}  // namespace dispatching

struct DispatchTotals {
  std::uint64_t commands = 0;
  std::uint64_t landed = 0;
  std::uint64_t failed = 0;  // tries, those that parked their item included
  std::uint64_t parked = 0;
  std::uint64_t put_back = 0;
  std::uint64_t lost = 0;
  std::uint64_t conflicts = 0;  // failed tries that did not merge
  std::uint64_t retries = 0;    // commands on an item that had failed before
  std::int64_t busy_ms = 0;     // in commands, of all slots together

  DispatchTotals& operator+=(const DispatchTotals& more);
};

class Dispatch {
 public:
  using Action = dispatching::Action;
  using Event = dispatching::Event;
  using Actions = std::vector<Action>;

  explicit Dispatch(const DispatchLimits& limits);

  // Everything that follows from the event, in the order to do it in. Time does not run backwards.
  [[nodiscard]] Actions on(const Event& event, std::int64_t now_ms);
  // When to say Woken at the latest; nothing when only an event can change anything.
  [[nodiscard]] std::optional<std::int64_t> wake_ms() const;
  [[nodiscard]] bool is_over() const;
  // It ended because preparing failed too often, not because there was nothing left.
  [[nodiscard]] bool gave_up() const { return preparing_failures_ >= kPreparingFailuresMax; }
  [[nodiscard]] bool is_draining() const { return interrupts_ > 0; }
  [[nodiscard]] DispatchTotals totals() const;
  [[nodiscard]] const DispatchTotals& totals_of(KindNumber kind) const {
    return kinds_[kind.value].totals;
  }
  [[nodiscard]] KindNumber kind_of_slot(std::size_t slot) const { return slots_[slot].kind; }
  // Items that are prepared and wait for a slot.
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] std::size_t running() const;

  static constexpr int kPreparingFailuresMax = 10;  // in a row
  static constexpr std::int64_t kLookAgainMs = 5000;
  static constexpr std::int64_t kFirstPauseMs = 500;   // doubles,
  static constexpr std::int64_t kPauseMaxMs = 60'000;  // up to this

 private:
  enum class Stage { waiting, running, stopping, finishing };
  struct Job {
    std::string item;
    std::int64_t tries = 0;
    KindNumber kind;
    Stage stage = Stage::waiting;
    std::size_t slot = 0;
    std::int64_t started_ms = 0;
    std::optional<std::int64_t> act_ms;           // when to stop it, or to kill it
    std::optional<dispatching::GiveBack> ending;  // why it is being stopped
  };
  struct Slot {
    KindNumber kind;
    std::optional<JobNumber> job;
  };
  struct Kind {
    DispatchTotals totals;
    std::optional<std::int64_t> command_takes_ms;  // lately
    bool nothing_ready = false;
    std::int64_t asked_ms = 0;  // when preparing for it last began
    std::int64_t look_again_ms = 0;
  };
  struct Rest {
    std::int64_t times = 0;
    std::optional<std::int64_t> until_ms;  // none: for as long as this run lasts
  };

  void apply(const dispatching::Begun& event, std::int64_t now_ms);
  void apply(const dispatching::Prepared& event, std::int64_t now_ms);
  void apply(const dispatching::NothingReady& event, std::int64_t now_ms);
  void apply(const dispatching::PreparingFailed& event, std::int64_t now_ms);
  void apply(const dispatching::CommandEnded& event, std::int64_t now_ms);
  void apply(const dispatching::LandingEnded& event, std::int64_t now_ms);
  void apply(const dispatching::GaveBack& event, std::int64_t now_ms);
  void apply(const dispatching::LeaseLost& event, std::int64_t now_ms);
  void apply(const dispatching::Interrupted& event, std::int64_t now_ms);
  void apply(const dispatching::Changed& event, std::int64_t now_ms);
  void apply(const dispatching::Woken& event, std::int64_t now_ms);

  void stop(JobNumber number, Job& job, dispatching::GiveBack ending, std::int64_t now_ms);
  void end_with(JobNumber number, Job& job, dispatching::GiveBack ending);
  [[nodiscard]] dispatching::GiveBack failure(JobNumber number, const Job& job, std::string why);
  [[nodiscard]] static std::int64_t pause_ms(std::int64_t times);
  void let_rest(const std::string& item, std::int64_t now_ms);
  void look_again();
  void check_deadlines(std::int64_t now_ms);
  void fill_slots(std::int64_t now_ms);
  void start(JobNumber number, std::size_t slot, std::int64_t now_ms);
  void use_finishing_lanes();
  void use_preparing_lane(std::int64_t now_ms);
  [[nodiscard]] bool may_take_more() const;
  [[nodiscard]] std::vector<KindNumber> kinds_to_ask(std::int64_t now_ms) const;
  [[nodiscard]] bool is_waiting_for(KindNumber kind, JobNumber number) const;
  [[nodiscard]] bool has_room(KindNumber kind) const;
  [[nodiscard]] std::optional<std::int64_t> next_ask_ms(const Kind& kind) const;
  [[nodiscard]] std::size_t wanted_ahead(KindNumber kind) const;
  [[nodiscard]] std::vector<std::string> resting(std::int64_t now_ms) const;
  [[nodiscard]] std::optional<std::int64_t> next_rested_ms(const Kind& kind) const;
  [[nodiscard]] DispatchTotals& totals_of(const Job& job) { return kinds_[job.kind.value].totals; }

  DispatchLimits limits_;
  std::vector<Kind> kinds_;
  std::vector<Slot> slots_;
  std::map<JobNumber, Job> jobs_;
  std::vector<JobNumber> waiting_;                // prepared, oldest first
  std::vector<Action> finishing_queue_;           // Land and GiveBack, oldest first
  std::size_t finishing_ = 0;                     // under way
  std::map<std::string, std::int64_t> failures_;  // by item, as this run knows them
  std::map<std::string, Rest> resting_;
  Actions actions_;

  std::uint64_t last_job_ = 0;
  std::optional<std::int64_t> preparing_since_ms_;
  std::vector<KindNumber> preparing_for_;
  bool changed_meanwhile_ = false;  // since preparing began
  std::int64_t not_before_ms_ = 0;
  int preparing_failures_ = 0;
  int interrupts_ = 0;
  std::int64_t preparing_takes_ms_ = 0;  // lately
};

}  // namespace dibs
