// The steps of a run as commands, and what their answers mean. Nothing is started here.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "rules/dispatch.h"
#include "sys/children.h"
#include "verbs/run.h"

namespace dibs::verbs {

// In the environment of a run's commands, and of its steps: how they are found if it is killed.
inline constexpr const char* kCommandMark = "DIBS_RUN=";
inline constexpr const char* kStepMark = "DIBS_RUN_STEP=";

/// What all steps of a run have in common.
struct RunIdentity {
  std::string run;  // run-ULID: its sessions are run-ULID-1, run-ULID-2…
  std::string agent;
  std::int64_t pid = 0;
  std::string directory;
  std::vector<std::string> global_words;  // such as --store

  [[nodiscard]] std::string session(JobNumber job) const;
};

/// An item that was taken, with its worktree.
struct PreparedItem {
  std::string item;
  std::string item_json;
  std::int64_t tries = 0;
  std::string lease;
  std::uint64_t fence = 0;
  std::int64_t ttl_secs = 0;
  std::string path;
  std::string branch;
  std::string agent;     // that holds it
  KindNumber kind = {};  // that it is for
};

// How many of each kind are at work at once.
[[nodiscard]] DispatchLimits limits_of(const Run& run);

[[nodiscard]] ChildCall prepare_step(const RunIdentity& who, const Run& run,
                                     const dispatching::Prepare& prepare);
[[nodiscard]] Result<PreparedItem> prepared_from(const Run& run, const std::string& out);

[[nodiscard]] ChildCall command_call(const RunIdentity& who, const Run& run, JobNumber job,
                                     const PreparedItem& item);

[[nodiscard]] ChildCall landing_step(const RunIdentity& who, const Run& run, JobNumber job,
                                     const PreparedItem& item);
[[nodiscard]] dispatching::LandingEnded landing_from(JobNumber job, const ChildEnded& ended);

[[nodiscard]] ChildCall failure_step(const RunIdentity& who, const dispatching::GiveBack& given,
                                     const PreparedItem& item, const std::string& output);
[[nodiscard]] ChildCall give_back_step(const RunIdentity& who, const Run& run,
                                       const dispatching::GiveBack& given,
                                       const PreparedItem& item);
// In a worktree whose run is gone.
[[nodiscard]] ChildCall abandon_step(const RunIdentity& who, const std::string& session,
                                     const std::string& path, const std::string& why);

[[nodiscard]] ChildCall beat_step(const RunIdentity& who, const std::set<JobNumber>& jobs);
[[nodiscard]] std::vector<std::string> beat_from(const std::string& out);

[[nodiscard]] ChildCall watch_step(const RunIdentity& who, std::uint64_t since);
/// What a line of `events --follow` means for a run.
struct Watched {
  bool by_others = false;              // somebody else did something
  std::optional<JobNumber> lost = {};  // one of ours was taken away
};
[[nodiscard]] Watched watched_from(const RunIdentity& who, std::string_view line);

// The error that a step ended with, in a sentence.
[[nodiscard]] std::string complaint_in(const ChildEnded& ended);

}  // namespace dibs::verbs
