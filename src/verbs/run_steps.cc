#include "verbs/run_steps.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"

namespace dibs::verbs {

namespace {

constexpr std::size_t kStepOutputMax = 8UL * 1024 * 1024;  // an item with all it has
constexpr std::size_t kReasonMax = 900;                    // bytes; a lease's reason is short

ChildCall step(const RunIdentity& who, const std::string& session, const std::string& directory,
               std::vector<std::string> words) {
  std::vector<std::string> command{"/proc/self/exe", "--json", "-C", directory};
  command.insert(command.end(), who.global_words.begin(), who.global_words.end());
  command.insert(command.end(), words.begin(), words.end());
  return {.command = std::move(command),
          .directory = who.directory,
          .environment = {"DIBS_SESSION=" + session, "DIBS_AGENT_ID=" + who.agent,
                          fmt::format("DIBS_PID={}", who.pid), "DIBS_RUN", kStepMark + who.run},
          .streams = ChildCall::Streams::apart,
          .kept = kStepOutputMax};
}

// The run on behalf of whoever holds the item.
RunIdentity holder_of(const RunIdentity& who, const PreparedItem& item) {
  RunIdentity holder = who;
  holder.agent = item.agent;
  return holder;
}

// The kind that an answer names; it names none where the command line has the only one.
std::optional<KindNumber> kind_called(const Run& run, const std::string& name) {
  const auto kind = std::ranges::find(run.kinds, name, &RunKind::name);
  if (kind == run.kinds.end()) return std::nullopt;
  return KindNumber{static_cast<std::size_t>(kind - run.kinds.begin())};
}

// What is not said is not inherited either, from a run that this one is part of.
std::string said(std::string_view variable, const std::string& value) {
  return value.empty() ? std::string(variable) : fmt::format("{}={}", variable, value);
}

// The last line on its error stream that is an error; warnings may stand before it.
std::optional<Json> error_in(const std::string& err) {
  std::optional<Json> last;
  for (const std::string_view line : split(err, '\n')) {
    Result<Json> json = parse_json(line);
    if (json && json->is_object() && json->contains("error")) last = (*json)["error"];
  }
  return last;
}

std::string short_text(std::string_view text) {
  std::string shown = printable(text.substr(0, kReasonMax));
  return shown.size() <= kReasonMax ? shown : printable(shown.substr(0, kReasonMax / 4));
}

}  // namespace

std::string RunIdentity::session(JobNumber job) const {
  return fmt::format("{}-{}", run, job.value);
}

DispatchLimits limits_of(const Run& run) {
  DispatchLimits limits = run.limits;
  limits.workers.clear();
  for (const RunKind& kind : run.kinds) limits.workers.push_back(kind.workers);
  return limits;
}

ChildCall prepare_step(const RunIdentity& who, const Run& run,
                       const dispatching::Prepare& prepare) {
  std::vector<std::string> words{"next", "--start"};
  if (run.ttl_secs) words.insert(words.end(), {"--ttl", std::to_string(*run.ttl_secs)});
  for (const std::string& label : run.labels) words.insert(words.end(), {"--label", label});
  for (const std::string& item : prepare.except) words.insert(words.end(), {"--except", item});
  for (const KindNumber kind : prepare.kinds) {
    const std::string& name = run.kinds[kind.value].name;
    if (!name.empty()) words.insert(words.end(), {"--worker", name});
  }
  return step(who, who.session(prepare.job), who.directory, std::move(words));
}

Result<PreparedItem> prepared_from(const Run& run, const std::string& out) {
  const Result<Json> json = parse_json(trim(out));
  if (!json) return fail(json.error());
  const auto item = json->find("item");
  if (item == json->end() || !item->is_object())
    return fail(ErrorKind::internal, "a step gave an answer without an item");
  const auto kind = kind_called(run, text_member(*json, "worker").value_or(""));
  if (!kind) return fail(ErrorKind::internal, "a step gave an answer for another kind of worker");
  return PreparedItem{.item = text_member(*item, "id").value_or(""),
                      .item_json = item->dump(),
                      .tries = integer_member(*item, "tries").value_or(0),
                      .lease = text_member(*json, "lease_id").value_or(""),
                      .fence = unsigned_member(*json, "fence").value_or(0),
                      .ttl_secs = integer_member(*json, "ttl_secs").value_or(0),
                      .path = text_member(*json, "path").value_or(""),
                      .branch = text_member(*json, "work_branch").value_or(""),
                      .agent = text_member(*json, "agent_id").value_or(""),
                      .kind = *kind};
}

ChildCall command_call(const RunIdentity& who, const Run& run, JobNumber job,
                       const PreparedItem& item) {
  const RunKind& kind = run.kinds[item.kind.value];
  return {.command = kind.command,
          .directory = item.path,
          // A repository that the caller's environment names is not the one to work in.
          .environment = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR",
                          "GIT_PREFIX", kCommandMark + who.run, fmt::format("DIBS_PID={}", who.pid),
                          "DIBS_ITEM=" + item.item, "DIBS_LEASE=" + item.lease,
                          fmt::format("DIBS_FENCE={}", item.fence),
                          "DIBS_SESSION=" + who.session(job), "DIBS_AGENT_ID=" + item.agent,
                          said("DIBS_WORKER", kind.name), said("DIBS_MODEL", kind.model),
                          "DIBS_WORKTREE=" + item.path, "DIBS_BRANCH=" + item.branch,
                          fmt::format("DIBS_TRIES={}", item.tries), "PWD=" + item.path},
          .input = item.item_json + "\n"};
}

ChildCall landing_step(const RunIdentity& who, const Run& run, JobNumber job,
                       const PreparedItem& item) {
  std::vector<std::string> words{"done"};
  if (run.worktrees == Run::Worktrees::keep) words.emplace_back("--keep-worktree");
  return step(holder_of(who, item), who.session(job), item.path, std::move(words));
}

dispatching::LandingEnded landing_from(JobNumber job, const ChildEnded& ended) {
  using How = dispatching::LandingEnded::How;
  if (ended.exit_code == 0) {
    const Result<Json> json = parse_json(trim(ended.out));
    return {.job = job,
            .how = How::landed,
            .why = json ? text_member(*json, "landed_commit").value_or("") : ""};
  }
  const std::optional<Json> error = error_in(ended.err);
  How how = How::refused;
  if (ended.exit_code == exit_code(ErrorKind::lease_lost)) how = How::lost;
  if (error && error->contains("conflicts")) how = How::conflicts;
  return {.job = job, .how = how, .why = complaint_in(ended)};
}

ChildCall failure_step(const RunIdentity& who, const dispatching::GiveBack& given,
                       const PreparedItem& item, const std::string& output) {
  std::vector<std::string> words{
      "item",        "fail",   item.item, "--output", "-", "--reason", short_text(given.why),
      "--max-tries", "1000000"};
  if (given.as == dispatching::GiveBack::As::parked) words.emplace_back("--park");
  ChildCall call =
      step(holder_of(who, item), who.session(given.job), who.directory, std::move(words));
  call.input = output.empty() ? "\n" : output;
  return call;
}

ChildCall give_back_step(const RunIdentity& who, const Run& run, const dispatching::GiveBack& given,
                         const PreparedItem& item) {
  const RunIdentity holder = holder_of(who, item);
  if (run.worktrees == Run::Worktrees::keep && given.as != dispatching::GiveBack::As::lost)
    return step(holder, who.session(given.job), item.path, {"claim", "release", item.lease});
  return abandon_step(holder, who.session(given.job), item.path, given.why);
}

ChildCall abandon_step(const RunIdentity& who, const std::string& session, const std::string& path,
                       const std::string& why) {
  return step(who, session, path, {"abandon", "--reason", short_text(why)});
}

ChildCall beat_step(const RunIdentity& who, const std::set<JobNumber>& jobs) {
  std::vector<std::string> words{"run"};
  for (const JobNumber job : jobs) words.insert(words.end(), {"--beat-for", who.session(job)});
  return step(who, who.run, who.directory, std::move(words));
}

std::vector<std::string> beat_from(const std::string& out) {
  std::vector<std::string> sessions;
  const Result<Json> json = parse_json(trim(out));
  if (!json || !json->contains("sessions")) return sessions;
  for (const Json& session : (*json)["sessions"])
    if (session.is_string()) sessions.push_back(session.get<std::string>());
  return sessions;
}

ChildCall watch_step(const RunIdentity& who, std::uint64_t since) {
  ChildCall call =
      step(who, who.run, who.directory, {"events", "--follow", "--since", std::to_string(since)});
  // It has no end of its own: if the run is killed, it is ended as the commands are.
  call.environment.back() = kCommandMark + who.run;
  return call;
}

Watched watched_from(const RunIdentity& who, std::string_view line) {
  if (!contains(line, "\"" + who.run + "-")) return {.by_others = !trim(line).empty()};
  const Result<Json> json = parse_json(line);
  if (!json) return {};
  const std::string op = text_member(*json, "op").value_or("");
  const std::string session = text_member(*json, "session").value_or("");
  const std::string prefix = who.run + "-";
  const bool taken_away = op == "force-evict" || op == "auto-evict" || op == "transfer";
  if (!taken_away || !session.starts_with(prefix)) return {};
  const auto number = parse_unsigned(std::string_view(session).substr(prefix.size()));
  if (!number) return {};
  return {.by_others = false, .lost = JobNumber{*number}};
}

std::string complaint_in(const ChildEnded& ended) {
  if (const std::optional<Json> error = error_in(ended.err))
    return text_member(*error, "message").value_or("");
  const std::string said(trim(ended.err));
  return said.empty() ? fmt::format("it ended with exit code {}", ended.exit_code) : said;
}

}  // namespace dibs::verbs
