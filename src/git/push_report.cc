#include "git/push_report.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "base/text.h"

namespace dibs {

namespace {

// One line of a porcelain push: what happened to one ref.
struct Report {
  char flag = '!';
  std::string_view ref;
  std::string_view summary;
};

// "FLAG\tFROM:TO\tSUMMARY"
std::optional<Report> report_of(std::string_view line) {
  const std::vector<std::string_view> fields = split(line, '\t');
  if (fields.size() < 3 || fields[0].size() != 1) return std::nullopt;
  const std::size_t colon = fields[1].find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  return Report{.flag = fields[0][0], .ref = fields[1].substr(colon + 1), .summary = fields[2]};
}

// Words with which a remote says that it will never have it. Whatever else it says (a ref is not
// where it was expected, a lock is held, objects were pruned as they came in) may be otherwise the
// next time.
constexpr std::array<std::string_view, 11> kRefused{
    "declined",    "denied",        "deny",      "hidden ref", "prohibited", "protected",
    "not allowed", "not permitted", "forbidden", "permission", "read-only"};

// Said before anything is sent. Of what was sent git says "RPC failed; HTTP 403 curl 22 The …".
constexpr std::array<std::string_view, 2> kRefusedUnsent{
    "does not support --atomic push", "': The requested URL returned error: 403"};

// The same, but it may be otherwise the next time.
constexpr std::array<std::string_view, 4> kUnsent{"Authentication failed for '",
                                                  "could not read Username",
                                                  "could not read Password", "unable to access '"};

bool says_any(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return contains(text, word); });
}

}  // namespace

PushEnd judge_push(const ProgramEnd& end, const std::vector<RefMove>& moves) {
  std::map<std::string_view, Report> reports;
  for (const std::string_view line : split(end.out, '\n')) {
    if (const std::optional<Report> report = report_of(line)) reports[report->ref] = *report;
  }
  bool all_moved = end.succeeded();
  bool all_told = true;
  // Of the others in an atomic push git says only that one of them was turned down.
  std::string_view why;
  std::vector<std::string> lost_at;
  for (const RefMove& move : moves) {
    const auto found = reports.find(move.name);
    if (found == reports.end()) {
      all_moved = all_told = false;
      continue;
    }
    const auto [flag, ref, summary] = found->second;
    const bool moved = flag == ' ' || flag == '*' || flag == '+' || flag == '-';
    if (move.stays() ? flag == '=' : moved) continue;
    all_moved = false;
    if (flag == '!' && says_any(summary, kRefused))
      return {.kind = PushEnd::Kind::refused, .why = printable(summary)};
    // "Up to date": whoever is there says the same as we do, so it is not we who are there.
    if (contains(summary, "atomic")) continue;
    why = summary;
    lost_at.push_back(move.name);
  }
  if (all_moved) return {.kind = PushEnd::Kind::moved, .why = {}};
  if (says_any(end.err, kRefusedUnsent))
    return {.kind = PushEnd::Kind::refused, .why = complaint_of(end)};
  if (says_any(end.err, kUnsent)) return {.kind = PushEnd::Kind::unsent, .why = complaint_of(end)};
  if (!all_told || (why.empty() && end.succeeded()))
    return {.kind = PushEnd::Kind::unknown, .why = complaint_of(end)};
  const bool turned_down = std::ranges::any_of(reports, [](const auto& entry) {
    return entry.second.flag == '!' || entry.second.flag == '=';
  });
  if (!turned_down) return {.kind = PushEnd::Kind::unknown, .why = complaint_of(end)};
  return {.kind = PushEnd::Kind::lost,
          .why = why.empty() ? complaint_of(end) : printable(why),
          .lost_at = std::move(lost_at)};
}

}  // namespace dibs
