// `dibs events` and `dibs metrics`.
#include <fmt/core.h>

#include <array>
#include <string>

#include "cli/invocation.h"
#include "cli/render.h"
#include "verbs/observe.h"

namespace dibs::cli {

namespace {

constexpr std::array<Option, 4> kEventsOptions{{
    {.name = "--follow", .meaning = "go on as things happen, one a line"},
    {.name = "--since",
     .takes = Takes::number,
     .value = "SEQ",
     .meaning = "only those after this sequence number",
     .least = 0},
    {.name = "--resource",
     .takes = Takes::text,
     .value = "R",
     .meaning = "only what happens to this"},
    {.name = "--limit",
     .takes = Takes::number,
     .value = "N",
     .meaning = "at most so many, the newest (default 1000)",
     .least = 1,
     .most = 1'000'000},
}};

// A stream: one object a line with --json, so that a reader never waits for an end.
void print_streamed(Terminal& terminal, const PastEvent& past) {
  JsonObject json;
  const std::string text = to_json(past);
  json.add_members(std::string_view(text).substr(1, text.size() - 2));
  terminal.reply(json);
  print_event(terminal, past);
}

Done run_events(Invocation& call) {
  const verbs::Events request{
      .since = static_cast<std::uint64_t>(call.args.number("--since").value_or(0)),
      .resource = call.args.text("--resource"),
      .limit = static_cast<std::size_t>(call.args.number("--limit").value_or(1000))};
  if (call.args.has("--follow")) {
    return verbs::follow_events(call.workspace, request, [&](const PastEvent& past) {
      print_streamed(call.terminal, past);
      return call.terminal.flush();
    });
  }
  const Result<History> history = verbs::events(call.workspace, request);
  if (!history) return fail(history.error());
  for (const PastEvent& past : history->events) print_streamed(call.terminal, past);
  return {};
}

constexpr std::array<Op, kOpCount> kAllOps{
    Op::acquire,     Op::renew,   Op::heartbeat, Op::release, Op::transfer, Op::auto_evict,
    Op::force_evict, Op::upgrade, Op::downgrade, Op::land,    Op::wait,     Op::leave};

struct Measure {
  const char* name;
  const char* type;
  const char* help;
  std::string value;
};

std::string number_text(const std::optional<double>& number, const char* unknown) {
  return number ? fmt::format("{:.4f}", *number) : unknown;
}

std::vector<Measure> measures(const verbs::Metrics& metrics) {
  return {
      {"dibs_acquisitions_total", "counter", "Leases granted.",
       std::to_string(metrics.count(Op::acquire))},
      {"dibs_conflicts_total", "counter", "Claims refused because another held the resource.",
       std::to_string(metrics.count(Counter::conflicts))},
      {"dibs_failed_total", "counter", "Claims that failed for any other reason.",
       std::to_string(metrics.count(Counter::failed))},
      {"dibs_stale_claimed_total", "counter",
       "Leases ended for a claim because they had lapsed, died or gone stale.",
       std::to_string(metrics.count(Counter::stale_claimed))},
      {"dibs_acquisition_seconds_avg", "gauge", "Average time that granting a lease took.",
       fmt::format("{:.6f}", metrics.average_acquisition_ms() / 1000.0)},
      {"dibs_active_leases", "gauge", "Leases held now.", std::to_string(metrics.active)},
      {"dibs_stale_leases", "gauge", "Leases that have ended or gone stale and are still listed.",
       std::to_string(metrics.stale)},
      {"dibs_success_ratio", "gauge",
       "Leases granted for each claim that was granted or refused, on this clone.",
       number_text(metrics.success_rate(), "NaN")},
      {"dibs_contention_ratio", "gauge", "Claims refused for each lease granted, on this clone.",
       number_text(metrics.contention(), "NaN")},
      {"dibs_landed_last_hour", "gauge", "Leases that ended by landing in the last hour.",
       std::to_string(metrics.last_hour.landed)},
      {"dibs_released_last_hour", "gauge", "Leases that were released in the last hour.",
       std::to_string(metrics.last_hour.released)},
      {"dibs_landed_last_day", "gauge", "Leases that ended by landing in the last 24 hours.",
       std::to_string(metrics.last_day.landed)},
      {"dibs_released_last_day", "gauge", "Leases that were released in the last 24 hours.",
       std::to_string(metrics.last_day.released)},
      {"dibs_longest_held_seconds", "gauge", "For how long the oldest lease has been held.",
       std::to_string(metrics.longest_held_ms / 1000)},
      {"dibs_warnings", "gauge", "What the metrics.* settings call worth a warning now.",
       std::to_string(metrics.alerts.size())}};
}

std::string prometheus_text(const verbs::Metrics& metrics) {
  std::string text;
  for (const Measure& measure : measures(metrics)) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", measure.name, measure.help,
                        measure.type, measure.value);
  }
  text +=
      "# HELP dibs_operations_total Changes to leases, by kind.\n# TYPE dibs_operations_total "
      "counter\n";
  for (const Op op : kAllOps)
    text += fmt::format("dibs_operations_total{{op=\"{}\"}} {}\n", name_of(op), metrics.count(op));
  return text;
}

constexpr std::array<Option, 1> kMetricsOptions{
    {{.name = "--format",
      .takes = Takes::text,
      .value = "FORMAT",
      .meaning = "json or prometheus; a table without it",
      .choices = "json|prometheus"}}};

Done run_metrics(Invocation& call) {
  const Result<verbs::Metrics> metrics = verbs::metrics(call.workspace);
  if (!metrics) return fail(metrics.error());
  const std::string format = call.args.text("--format").value_or("");
  if (format == "prometheus") {
    call.terminal.show(prometheus_text(*metrics));
    return {};
  }
  JsonArray warnings;
  for (const verbs::Alert& alert : metrics->alerts)
    warnings.add_raw(JsonObject().add("what", alert.what).add("fix", alert.fix).text());
  JsonObject by_op;
  for (const Op op : kAllOps) by_op.add(name_of(op), metrics->count(op));
  JsonObject json;
  json.add("acquisitions", metrics->count(Op::acquire))
      .add("conflicts", metrics->count(Counter::conflicts))
      .add("failed", metrics->count(Counter::failed))
      .add_raw("average_acquisition_ms", fmt::format("{:.3f}", metrics->average_acquisition_ms()))
      .add("stale_claimed", metrics->count(Counter::stale_claimed))
      .add("active", std::uint64_t{metrics->active})
      .add("stale", std::uint64_t{metrics->stale})
      .add_raw("success_rate", number_text(metrics->success_rate(), "null"))
      .add_raw("contention", number_text(metrics->contention(), "null"))
      .add("landed_last_hour", metrics->last_hour.landed)
      .add("released_last_hour", metrics->last_hour.released)
      .add("landed_last_day", metrics->last_day.landed)
      .add("released_last_day", metrics->last_day.released)
      .add("longest_held_secs", metrics->longest_held_ms / 1000)
      .add_raw("warnings", warnings.text())
      .add_raw("by_op", by_op.text());
  if (format == "json" && !call.terminal.json()) {
    call.terminal.show(JsonObject().add("schema_version", 1).add_members(json.members()).text() +
                       "\n");
    return {};
  }
  call.terminal.reply(json);
  for (const Measure& measure : measures(*metrics)) {
    call.terminal.say(fmt::format("{:<30}  {:>12}  {}", measure.name, measure.value, measure.help));
  }
  for (const verbs::Alert& alert : metrics->alerts) {
    call.terminal.say(
        fmt::format("{} {}", call.terminal.styled(Style::bad, "warning"), alert.what));
    call.terminal.say(fmt::format("        fix: {}", alert.fix));
  }
  return {};
}

constexpr std::array<Command, 2> kCommands{{
    {.name = "events",
     .summary = "stream what happens to leases",
     .details = "One event a line. With --follow it goes on until you stop it.",
     .positionals = {},
     .options = kEventsOptions,
     .example = "dibs events --follow --resource 42",
     .run = run_events},
    {.name = "metrics",
     .summary = "show counts of claims, conflicts and operations",
     .details = "Counted on this clone since it was set up. The Prometheus text can be scraped "
                "from a file.\n"
                "Warns of what the settings metrics.* call too much: leases gone stale, claims "
                "refused, leases\n"
                "held for long.",
     .positionals = {},
     .options = kMetricsOptions,
     .example = "dibs metrics --format prometheus",
     .run = run_metrics},
}};

}  // namespace

std::span<const Command> observe_commands() { return kCommands; }

}  // namespace dibs::cli
