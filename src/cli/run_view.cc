#include "cli/run_view.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "base/time.h"

namespace dibs::cli {

namespace {

// By code points; what is wider than one column is rare here, and a line that is too long only
// wraps.
std::string cut(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (std::size_t used = 0; at < text.size(); ++used) {
    const std::optional<CodePoint> next = decode_utf8(text.substr(at));
    if (used == columns) break;
    at += next ? next->length : 1;
  }
  return std::string(text.substr(0, at));
}

std::string padded(std::string text, std::size_t columns) {
  std::size_t width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U;
  if (width < columns) text.append(columns - width, ' ');
  return text;
}

std::string short_time(std::int64_t ms) {
  const std::int64_t secs = std::max<std::int64_t>(ms, 0) / 1000;
  if (secs < 60) return fmt::format("{} s", secs);
  if (secs < 3600) return fmt::format("{}:{:02}", secs / 60, secs % 60);
  return fmt::format("{}:{:02} h", secs / 3600, secs / 60 % 60);
}

// How wide the names of kinds are; 0 where they have none.
std::size_t kind_columns(const verbs::RunNow& now) {
  constexpr std::size_t kKindColumnsMax = 12;
  std::size_t columns = 0;
  for (const verbs::WorkerNow& worker : now.workers)
    columns = std::max(columns, worker.kind.size());
  return std::min(columns, kKindColumnsMax);
}

// The worker's number and, where there are kinds, its own.
std::string worker_name(const verbs::WorkerNow& worker, std::size_t number, std::size_t columns) {
  const std::string text = fmt::format("{:>3}  ", number);
  return columns == 0 ? text : text + padded(cut(worker.kind, columns), columns) + "  ";
}

std::string worker_line(const verbs::WorkerNow& worker, const std::string& name,
                        std::size_t columns) {
  const std::size_t item_columns = std::clamp<std::size_t>(columns / 3, 10, 40);
  if (worker.item.empty()) return cut(name + "-", columns);
  const std::string lease =
      worker.lease_left_ms ? "lease " + short_time(*worker.lease_left_ms) : std::string();
  const std::string line =
      fmt::format("{}{}  {:>7}  {:<13}  {}", name,
                  padded(cut(printable(worker.item), item_columns), item_columns),
                  short_time(worker.for_ms), lease, printable(worker.last_line));
  return cut(line, columns);
}

std::string rate_text(const verbs::RunNow& now) {
  const std::uint64_t ended = now.totals.landed + now.totals.parked;
  if (ended == 0 || now.elapsed_ms <= 0) return "";
  const double a_second = static_cast<double>(ended) * 1000.0 / static_cast<double>(now.elapsed_ms);
  std::string text = a_second >= 1.0 ? fmt::format(", {:.1f} a second", a_second)
                                     : fmt::format(", {:.1f} a minute", a_second * 60.0);
  if (now.left > 0)
    text += fmt::format(
        ", {} left for about {}", now.left,
        short_time(static_cast<std::int64_t>(static_cast<double>(now.left) / a_second * 1000.0)));
  return text;
}

std::string totals_line(const verbs::RunNow& now) {
  const DispatchTotals& totals = now.totals;
  std::string text = fmt::format("{} landed, {} failed, {} parked, {} landing", totals.landed,
                                 totals.failed, totals.parked, now.finishing);
  if (now.prepared > 0) text += fmt::format(", {} next", now.prepared);
  return text;
}

}  // namespace

std::vector<std::string> run_frame(const verbs::RunNow& now, std::size_t columns,
                                   std::size_t rows) {
  constexpr std::size_t kLinesBelow = 2;
  constexpr std::size_t kRowsLeast = 4;
  const std::size_t room = std::max(rows, kRowsLeast) - kLinesBelow - 1;  // the cursor's line
  const std::size_t shown =
      now.workers.size() <= room ? now.workers.size() : std::max<std::size_t>(room, 1) - 1;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < shown; ++i)
    lines.push_back(worker_line(now.workers[i],
                                worker_name(now.workers[i], i + 1, kind_columns(now)), columns));
  if (shown < now.workers.size())
    lines.push_back(
        cut(fmt::format("     and {} more workers", now.workers.size() - shown), columns));
  lines.push_back(cut(totals_line(now), columns));
  lines.push_back(cut(
      short_time(now.elapsed_ms) + rate_text(now) +
          (now.draining ? ", finishing (Ctrl-C again stops the commands)" : ", Ctrl-C finishes"),
      columns));
  return lines;
}

void RunView::draw(const verbs::RunNow& now) {
  const WindowSize size = window_size();
  // Lines that were drawn for a wider window have wrapped; how far, nobody knows.
  if (size.columns < columns_ && drawn_ > 0) {
    terminal_.show("\x1b[2J\x1b[H");
    drawn_ = 0;
  }
  clear();
  columns_ = size.columns;
  const std::vector<std::string> lines = run_frame(now, size.columns, size.rows);
  std::string text;
  for (const std::string& line : lines) text += line + "\x1b[K\n";
  terminal_.show(text);
  terminal_.flush();
  drawn_ = lines.size();
}

void RunView::clear() {
  if (drawn_ > 0) terminal_.show(fmt::format("\x1b[{}A\r\x1b[J", drawn_));
  drawn_ = 0;
}

}  // namespace dibs::cli
