#include "spoiled_git.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace dibs::sim {

namespace {

constexpr std::string_view kLease = "--force-with-lease=";
constexpr std::string_view kLedger = ":refs/dibs/ledger";

bool is_push(const ProgramCall& call) {
  return std::ranges::find(call.command, "push") != call.command.end();
}

// The refs that a push names, as "TO:NAME".
std::vector<std::string> named(const ProgramCall& call) {
  const auto dashes = std::ranges::find(call.command, "--");
  if (dashes == call.command.end()) return {};
  return {dashes + 2, call.command.end()};
}

ProgramEnd as_if_all_moved(const ProgramCall& call) {
  ProgramEnd end{.exit_code = 0, .out = "To somewhere\n", .err = {}};
  for (const std::string& word : named(call)) {
    const bool stays = word.ends_with(kLedger);
    end.out += fmt::format("{}\t{}\t{}\n", stays ? '=' : '*', word,
                           stays ? "[up to date]" : "[new reference]");
  }
  return end;
}

}  // namespace

Result<ProgramEnd> SpoiledGit::without_the_ledger(const ProgramCall& call) {
  ProgramCall less = call;
  std::string stays;
  std::erase_if(less.command, [&](const std::string& word) {
    if (word.ends_with(kLedger)) stays = word;
    return word.ends_with(kLedger) || word.starts_with(std::string(kLease) + "refs/dibs/ledger:");
  });
  Result<ProgramEnd> end = git_.run(less);
  if (end && !stays.empty()) end->out += fmt::format("=\t{}\t[up to date]\n", stays);
  return end;
}

Result<ProgramEnd> SpoiledGit::run(const ProgramCall& call) {
  if (!is_push(call)) return git_.run(call);
  if (bug_ == Bug::pushed_without_the_ledger && named(call).size() > 1)
    return without_the_ledger(call);
  ProgramCall other = call;
  if (bug_ == Bug::pushed_without_a_lease)
    std::erase_if(other.command, [](const std::string& word) { return word.starts_with(kLease); });
  if (bug_ == Bug::pushed_in_parts) std::erase(other.command, "--atomic");
  Result<ProgramEnd> end = git_.run(other);
  const bool hung_up = end && contains(end->err, "hung up");
  if (hung_up && bug_ == Bug::a_lost_reply_is_success) return as_if_all_moved(call);
  return end;
}

}  // namespace dibs::sim
