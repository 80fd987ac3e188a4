// A run under way: carries out what rules/dispatch decides, and tells it what came of that. One
// thread, one loop; whatever takes time is a child.
#pragma once

#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "sys/children.h"
#include "sys/clock.h"
#include "sys/file_system.h"
#include "verbs/run.h"
#include "verbs/run_steps.h"

namespace dibs::verbs {

inline constexpr std::int64_t kRunFrameMs = 150;  // how often it is drawn at most

class RunLoop {
 public:
  struct Parts {
    FileSystem& files;
    Clock& clock;
    Children& children;
    const RunIdentity& who;
    const Run& request;
    const RunWatch& watch;
    std::int64_t beat_every_ms = 30'000;
    std::size_t left = 0;  // items that could be done, when it begins
  };
  explicit RunLoop(const Parts& parts)
      : parts_(parts), dispatch_(limits_of(parts.request)), begun_ms_(parts.clock.now().boot_ms) {}

  // To the end. `watch_since` is how far history went before it began.
  void run(std::uint64_t watch_since);

  [[nodiscard]] const Dispatch& dispatch() const { return dispatch_; }
  [[nodiscard]] std::int64_t elapsed_ms() const { return now_ms() - begun_ms_; }
  // What stopped it, if something did.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  struct Preparing {
    JobNumber job;
    std::int64_t since_ms = 0;
  };
  struct Commanding {
    JobNumber job;
  };
  struct Landing {
    JobNumber job;
  };
  struct Failing {  // its item is being told so; then it is given back
    dispatching::GiveBack given;
  };
  struct Giving {
    dispatching::GiveBack given;
  };
  struct Beating {
    std::int64_t since_ms = 0;
    std::set<JobNumber> jobs;
  };
  struct Watching {};
  using Step = std::variant<Preparing, Commanding, Landing, Failing, Giving, Beating, Watching>;

  /// An item under work.
  struct Job {
    PreparedItem item;
    std::optional<std::size_t> slot;
    std::optional<ChildId> command;
    std::int64_t started_ms = 0;
    std::int64_t took_ms = 0;
    std::int64_t lease_until_ms = 0;
    std::string output;  // the end of what its command said
    int postponed = 0;   // in a row
    bool finishing = false;
  };
  /// A step that could not reach the store, and is tried again.
  struct Postponed {
    std::int64_t at_ms = 0;
    ChildCall call;
    Step step;
  };

  void tell(const dispatching::Event& event);
  void carry_out(const dispatching::Prepare& what);
  void carry_out(const dispatching::StartCommand& what);
  void carry_out(const dispatching::StopCommand& what);
  void carry_out(const dispatching::Land& what);
  void carry_out(const dispatching::GiveBack& what);
  void give_back(const dispatching::GiveBack& what);

  void take(const ChildNews& news);
  void ended(const Preparing& step, const ChildEnded& end);
  void ended(const Commanding& step, const ChildEnded& end);
  void ended(const Landing& step, const ChildEnded& end);
  void ended(const Failing& step, const ChildEnded& end);
  void ended(const Giving& step, const ChildEnded& end);
  void ended(const Beating& step, const ChildEnded& end);
  void ended(const Watching& step, const ChildEnded& end);

  bool start(const ChildCall& call, Step step);
  bool postpone(const ChildCall& call, Step step, JobNumber job, const ChildEnded& end);
  void start_postponed();
  void give_up(Error error);
  void read_events(ChildId child);
  void beat_if_due();
  void drop_lapsed();
  [[nodiscard]] std::int64_t pace_ms() const;
  [[nodiscard]] std::int64_t patience_ms() const;
  void say(RunEvent::What what, const Job* job, std::string text);
  void draw();
  [[nodiscard]] std::vector<WorkerNow> idle_workers() const;
  [[nodiscard]] RunNow frame() const;
  [[nodiscard]] std::int64_t now_ms() const { return parts_.clock.now().boot_ms; }

  Parts parts_;
  Dispatch dispatch_;
  std::int64_t begun_ms_;
  std::map<ChildId, Step> steps_;
  std::map<JobNumber, Job> jobs_;
  std::vector<Postponed> postponed_;
  std::optional<ChildId> watcher_;
  bool beating_ = false;
  std::int64_t next_beat_ms_ = 0;
  std::int64_t drawn_ms_ = 0;
  std::optional<Error> error_;
  std::string last_complaint_;
};

}  // namespace dibs::verbs
