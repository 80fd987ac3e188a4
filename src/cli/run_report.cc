#include "cli/run_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "base/time.h"

namespace dibs::cli {

using What = verbs::RunEvent::What;

namespace {

Style style_of(What what) {
  switch (what) {
    case What::landed:
      return Style::good;
    case What::failed:
    case What::parked:
    case What::lost:
      return Style::bad;
    case What::begun:
    case What::started:
    case What::put_back:
    case What::draining:
    case What::warning:
      break;
  }
  return Style::plain;
}

std::string_view words_for(What what) {
  return what == What::put_back ? "put back" : verbs::name_of(what);
}

std::string seconds(std::int64_t ms) {
  return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000.0);
}

std::string worker_text(const verbs::RunEvent& event) {
  const std::string number = fmt::format("worker {}", event.worker.value_or(0));
  return event.kind.empty() ? number : fmt::format("{}, {}", number, event.kind);
}

// Of the time of this kind's workers, how much went into commands.
double busy_share(const verbs::KindSummary& kind, std::int64_t elapsed_ms) {
  const auto all_ms = static_cast<double>(elapsed_ms) * static_cast<double>(kind.kind.workers);
  return all_ms <= 0 ? 0.0 : std::min(1.0, static_cast<double>(kind.totals.busy_ms) / all_ms);
}

std::string kinds_json(const std::vector<verbs::KindSummary>& kinds) {
  JsonArray all;
  for (const verbs::KindSummary& kind : kinds) {
    JsonObject object;
    object.add("worker_kind", kind.kind.name);
    if (!kind.kind.model.empty()) object.add("model", kind.kind.model);
    object.add("workers", std::uint64_t{kind.kind.workers})
        .add("commands", kind.totals.commands)
        .add("landed", kind.totals.landed)
        .add("failed", kind.totals.failed)
        .add("busy_ms", kind.totals.busy_ms);
    all.add_raw(object.text());
  }
  return all.text();
}

}  // namespace

void print_run_event(Terminal& terminal, const verbs::RunEvent& event) {
  if (event.what == What::warning) {
    const std::string about = event.item.empty() ? "" : printable(event.item) + ": ";
    return terminal.warn(about + printable(event.text));
  }
  if (event.what == What::draining) {
    terminal.say("no new items; what runs may finish (once more: stop it)");
  } else if (event.what == What::begun) {
    if (!event.text.empty()) terminal.say(event.text);
  } else {
    std::string line =
        fmt::format("{} {}", terminal.styled(style_of(event.what), words_for(event.what)),
                    printable(event.item));
    if (event.worker) line += fmt::format(" ({})", worker_text(event));
    if (!event.text.empty()) line += ": " + printable(event.text);
    terminal.say(line);
  }
}

void reply_run_event(Terminal& terminal, const verbs::RunEvent& event, std::int64_t unix_ms) {
  JsonObject json;
  json.add("event", verbs::name_of(event.what)).add("at", rfc3339(unix_ms));
  if (!event.item.empty()) json.add("item", event.item);
  if (event.worker) json.add("worker", std::uint64_t{*event.worker});
  if (!event.kind.empty()) json.add("worker_kind", event.kind);
  const char* text = event.what == What::landed    ? "landed_commit"
                     : event.what == What::started ? "path"
                                                   : "message";
  if (!event.text.empty()) json.add(text, event.text);
  if (event.took_ms > 0)
    json.add(event.what == What::started ? "preparing_ms" : "took_ms", event.took_ms);
  terminal.reply(json);
}

void print_run_summary(Terminal& terminal, const verbs::RunSummary& summary) {
  const DispatchTotals& totals = summary.totals;
  terminal.say(terminal.styled(
      Style::strong,
      fmt::format("{} landed, {} failed, {} parked, {} put back in {}", totals.landed,
                  totals.failed, totals.parked, totals.put_back, seconds(summary.elapsed_ms))));
  terminal.say(fmt::format("  {} commands, {} retries, {} conflicts, {} leases lost",
                           totals.commands, totals.retries, totals.conflicts, totals.lost));
  terminal.say(fmt::format("  workers were busy {:.1f} % of the time, and waited {} in all",
                           summary.utilisation() * 100.0, seconds(summary.waiting_ms())));
  for (const verbs::KindSummary& kind : summary.kinds)
    terminal.say(fmt::format("  {}: {} landed, {} failed, busy {:.1f} % of the time",
                             kind.kind.name, kind.totals.landed, kind.totals.failed,
                             busy_share(kind, summary.elapsed_ms) * 100.0));
}

void reply_run_summary(Terminal& terminal, const verbs::RunSummary& summary) {
  const DispatchTotals& totals = summary.totals;
  JsonObject json;
  json.add("event", "summary")
      .add("run", summary.run)
      .add("workers", std::uint64_t{summary.workers})
      .add("landed", totals.landed)
      .add("failed", totals.failed)
      .add("parked", totals.parked)
      .add("put_back", totals.put_back)
      .add("lost", totals.lost)
      .add("retries", totals.retries)
      .add("conflicts", totals.conflicts)
      .add("commands", totals.commands)
      .add("elapsed_ms", summary.elapsed_ms)
      .add("busy_ms", totals.busy_ms)
      .add("waiting_ms", summary.waiting_ms())
      .add_raw("utilisation", fmt::format("{:.4f}", summary.utilisation()))
      .add("interrupted", summary.interrupted);
  if (!summary.kinds.empty()) json.add_raw("kinds", kinds_json(summary.kinds));
  terminal.reply(json);
}

}  // namespace dibs::cli
