#include "verbs/demo.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "verbs/demo_evidence.h"
#include "verbs/demo_site.h"

namespace dibs::verbs {

namespace {

// Those who add a line to one table in the same moment conflict, all but one, again and again; none
// of them is to be parked for it.
constexpr std::int64_t kTriesMax = 50;
constexpr std::int64_t kTimeoutMs = 60'000;

using What = RunEvent::What;

/// A demo under way.
class Show {
 public:
  Show(DemoSite& site, const Demo& request, DemoPlan plan, const DemoWatch& watch)
      : site_(site),
        request_(request),
        plan_(std::move(plan)),
        watch_(watch),
        sleeping_(plan_.with(Mishap::paused)) {}

  Result<DemoResult> play() {
    begun_ms_ = now_ms();
    if (Done asleep = put_to_sleep(); !asleep) return fail(asleep.error());
    if (Done measured = work_alone(); !measured) return fail(measured.error());
    if (Done over = sleep_over(); !over) return fail(over.error());
    if (Done worked = work_together(); !worked) return fail(worked.error());
    return judge();
  }

 private:
  [[nodiscard]] std::int64_t now_ms() { return site_.workspace().system().clock.now().boot_ms; }

  Done put_to_sleep() {
    if (sleeping_ == nullptr) return {};
    watch_.on_news(
        fmt::format("agent:sleeper takes {} for 2 s, and is paused when it is about to land it",
                    sleeping_->item));
    return site_.put_to_sleep(sleeping_->item);
  }

  Done work_alone() {
    for (const DemoStep& step : plan_.steps) {
      alone_.items += step.alone ? 1U : 0U;
      alone_.thinking_ms += step.alone ? step.think_ms : 0;
    }
    if (alone_.items == 0) return {};
    watch_.on_news(
        fmt::format("one worker does {} items alone, to see how long that takes", alone_.items));
    const Result<RunSummary> summary = work(1, {kAloneLabel});
    if (!summary) return fail(summary.error());
    alone_.elapsed_ms = summary->elapsed_ms;
    alone_.commands_ms = summary->totals.busy_ms;
    return {};
  }

  Done sleep_over() { return sleeping_ == nullptr ? Done{} : site_.sleep_over(sleeping_->item); }

  Done work_together() {
    watch_.on_news(fmt::format("{} worker{}, the other {} items", request_.workers,
                               request_.workers == 1 ? "" : "s",
                               plan_.steps.size() - alone_.items));
    const Result<RunSummary> summary = work(request_.workers, {});
    if (!summary) return fail(summary.error());
    together_ = *summary;
    return {};
  }

  Result<RunSummary> work(std::size_t workers, std::vector<std::string> labels) {
    Run run{.kinds = {{.command = {"sh", site_.directory() + "/worker.sh"}, .workers = workers}},
            .limits = {.tries_max = kTriesMax, .timeout_ms = kTimeoutMs},
            .labels = std::move(labels)};
    const RunWatch watch{.on_event = [this](const RunEvent& event) { take(event); },
                         .on_frame = watch_.on_frame};
    const Result<RunEnd> end = verbs::run(site_.workspace(), run, watch);
    if (!end) return fail(end.error());
    if (end->summary.interrupted)
      return fail(ErrorKind::refused, "the demo was interrupted; nothing is proven",
                  "run it again: dibs demo");
    if (end->error) run_error_ = end->error->message;
    runs_.push_back(end->summary.run);
    totals_ += end->summary.totals;
    return end->summary;
  }

  void take(const RunEvent& event) {
    if (event.what == What::failed || event.what == What::parked)
      failures_.push_back({.item = event.item, .why = event.text});
    watch_.on_event(explained(event));
    const bool is_its = sleeping_ != nullptr && event.item == sleeping_->item;
    if (event.what != What::landed || !is_its) return;
    watch_.on_news(
        fmt::format("agent:sleeper wakes up and wants to land {}, too", sleeping_->item));
    site_.wake();
  }

  // An exit code alone tells a person little.
  RunEvent explained(RunEvent event) {
    const DemoStep* killed = plan_.with(Mishap::killed);
    const bool was_killed = event.what == What::failed && killed && event.item == killed->item;
    if (was_killed && contains(event.text, "137")) event.text += " (kill -9)";
    return event;
  }

  Result<DemoResult> judge() {
    const std::optional<std::int64_t> slept = sleeping_ ? site_.sleeper_exit() : std::nullopt;
    Result<DemoEvidence> evidence = look_at(site_, plan_, runs_);
    if (!evidence) return fail(evidence.error());
    evidence->sleeper_exit = slept;
    evidence->failures = failures_;
    evidence->run_error = run_error_;
    DemoResult result{.plan = plan_,
                      .verdicts = prove(*evidence),
                      .totals = totals_,
                      .landed = evidence->landings.size(),
                      .elapsed_ms = now_ms() - begun_ms_,
                      .together_ms = together_.elapsed_ms,
                      .together_items = plan_.steps.size() - alone_.items,
                      .one_worker_ms = one_worker_ms(plan_, alone_),
                      .compiled = site_.has_compiler()};
    tell_of_leases(result, evidence->history);
    if (const DemoStep* killed = plan_.with(Mishap::killed)) result.killed = killed->item;
    return result;
  }

  void tell_of_leases(DemoResult& result, const std::vector<PastEvent>& history) {
    for (std::size_t i = 0; i < history.size(); ++i) {
      const Event& event = history[i].event;
      if (event.op != Op::acquire) continue;
      ++result.grants;
      if (i > 0 && history[i - 1].event.op == Op::auto_evict)
        result.took_over = fmt::format("{} took {} over", event.agent.text, event.resource.text);
    }
    const Result<Counters*> counters = site_.workspace().counters();
    if (counters)
      result.refusals = (*counters)->read()[static_cast<std::size_t>(Counter::conflicts)];
  }

  DemoSite& site_;
  Demo request_;
  DemoPlan plan_;
  DemoWatch watch_;
  const DemoStep* sleeping_;  // null: there is no room for a sleeper
  std::int64_t begun_ms_ = 0;
  DemoMeasure alone_;
  RunSummary together_;
  DispatchTotals totals_;
  std::vector<DemoFailure> failures_;
  std::vector<std::string> runs_;
  std::optional<std::string> run_error_;
};

}  // namespace

std::vector<std::string> DemoResult::violations() const {
  std::vector<std::string> all;
  for (const DemoVerdict& verdict : verdicts)
    all.insert(all.end(), verdict.violations.begin(), verdict.violations.end());
  return all;
}

std::optional<double> DemoResult::speed_up() const {
  if (!one_worker_ms || together_ms <= 0) return std::nullopt;
  return static_cast<double>(*one_worker_ms) / static_cast<double>(together_ms);
}

Result<ScratchDirectory> demo_directory(Workspace& workspace) {
  const std::string parent = workspace.system().environment("TMPDIR").value_or("/tmp");
  return ScratchDirectory::make(parent);
}

Result<DemoResult> demo(Workspace& workspace, const Demo& request, const std::string& directory,
                        const DemoWatch& watch) {
  DemoPlan plan = make_demo_plan(request);
  Result<DemoSite> site = DemoSite::make(workspace, plan, directory);
  if (!site) return fail(site.error());
  return Show(*site, request, std::move(plan), watch).play();
}

}  // namespace dibs::verbs
