#include "store/claim_branches.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/name_encoding.h"
#include "base/text.h"
#include "model/claim_branch.h"
#include "model/lease.h"

namespace dibs {

namespace {

constexpr std::string_view kClaimSubject = "Claim ";

bool has(const Transaction& transaction, const Key& key, Op op) {
  return std::ranges::any_of(transaction.events, [&](const Event& event) {
    return event.resource == key && event.op == op;
  });
}

Error claimed_by_branch(const std::string& item, const std::string& ref,
                        const std::string& remote) {
  const std::string branch = ref.substr(std::string_view("refs/heads/").size());
  return {
      .kind = ErrorKind::held,
      .message = fmt::format("{} is claimed by the branch {} on {}, which no lease stands behind",
                             item, branch, printable(remote)),
      .hint = fmt::format("if nobody works on it any more: git push {} --delete {}",
                          shell_word(remote), shell_word(branch)),
      .fields = {}};
}

}  // namespace

// As the lease says that it was made with: the item may be in another state by now, and settings
// may have changed.
std::string ClaimBranches::ref_of(const Resource& item, const Record& record) const {
  const Result<Holding> holding = holding_of(record);
  const bool says = holding && !holding->leases.empty();
  const std::string state = says ? holding->leases.front().claim_state : std::string();
  return "refs/heads/" + claim_branch_name(state.empty() ? names_.state : state, item.name);
}

ClaimBranches::Plan ClaimBranches::plan_for(const Resource& item, const Transaction& transaction,
                                            const Sight& sight) const {
  const Key key = item.key();
  const auto seen = sight.find(key);
  const bool was_held = seen != sight.end() && seen->second.record;
  const auto write = std::ranges::find(transaction.writes, key, &Write::key);
  const bool is_held = write->value.has_value();
  Plan plan{.item = item,
            .step = Step::none,
            .old_ref = {},
            .new_ref = {},
            .lease = {},
            .lands = has(transaction, key, Op::land)};
  if (was_held) plan.old_ref = ref_of(item, *seen->second.record);
  if (is_held) {
    Record written;
    written.key = key;
    written.value = *write->value;
    plan.new_ref = ref_of(item, written);
  }
  for (const Event& event : transaction.events) {
    if (event.resource == key && event.op == Op::acquire) plan.lease = event.lease;
  }
  const bool evicts =
      has(transaction, key, Op::auto_evict) || has(transaction, key, Op::force_evict);
  if (!was_held && is_held) plan.step = Step::begin;
  if (was_held && is_held && evicts && !plan.lease.empty()) plan.step = Step::begin_anew;
  if (was_held && !is_held) plan.step = Step::end;
  return plan;
}

Result<std::string> ClaimBranches::ask(std::vector<std::string> arguments) const {
  const Result<std::string> out = git_.output_of(
      {.git_dir = remote_.place().common_dir, .arguments = std::move(arguments), .input = {}},
      ErrorKind::internal);
  if (!out) return fail(out.error());
  return std::string(trim(*out));
}

bool ClaimBranches::have(const std::string& commit) const {
  return ask({"cat-file", "-e", commit + "^{commit}"}).has_value();
}

// As the user's repository last saw it. `start` fetches it first.
Result<std::string> ClaimBranches::target_commit() const {
  const std::string remote = remote_.place().remote;
  std::vector<std::string> names{names_.target};
  if (names_.target.empty()) names = {"HEAD", "main", "master"};
  for (const std::string& name : names) {
    Result<std::string> commit = ask({"rev-parse", "--verify", "--quiet",
                                      fmt::format("refs/remotes/{}/{}^{{commit}}", remote, name)});
    if (commit) return commit;
  }
  return fail(
      ErrorKind::refused,
      fmt::format("nothing is known of the target branch on {}", printable(remote)),
      fmt::format("fetch it: git fetch {}, or name it: dibs config set landing.target BRANCH",
                  shell_word(remote)));
}

Result<std::string> ClaimBranches::claim_commit(const Plan& plan, const Turn& turn) const {
  const Result<std::string> base = target_commit();
  if (!base) return fail(base.error());
  const std::string message = fmt::format("{}{}\n\nDibs-Lease: {}\nDibs-Claim: {}\n", kClaimSubject,
                                          plan.item.key().text, plan.lease.text, turn.nonce.hex());
  Result<std::string> commit =
      git_.output_of({.git_dir = remote_.place().common_dir,
                      .arguments = {"commit-tree", *base + "^{tree}", "-p", *base, "-F", "-"},
                      .input = message,
                      .environment = {"GIT_AUTHOR_NAME=dibs", "GIT_AUTHOR_EMAIL=dibs",
                                      "GIT_COMMITTER_NAME=dibs", "GIT_COMMITTER_EMAIL=dibs"},
                      .settings = {"commit.gpgSign=false"}},
                     ErrorKind::internal);
  if (!commit) return commit;
  return std::string(trim(*commit));
}

bool ClaimBranches::is_claim_commit(const std::string& commit) const {
  const Result<std::string> message = ask({"log", "-1", "--format=%s%n%b", commit});
  return message && message->starts_with(kClaimSubject) && contains(*message, "\nDibs-Claim: ");
}

// Where what was pushed to the branch goes when the branch goes; nothing if there is nothing to
// lose.
Result<std::optional<RefMove>> ClaimBranches::rescue(const Plan& plan, const std::string& tip,
                                                     const Turn& turn) const {
  if (!have(tip)) {
    const Result<std::string> fetched =
        ask({"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
             "--refmap=", "--", remote_.place().remote, plan.old_ref});
    if (!fetched) return fail(ErrorKind::unreachable, fetched.error().message);
  } else if (plan.lands) {
    return std::nullopt;  // whoever lands has it, and lands it in one form or another
  }
  if (is_claim_commit(tip)) return std::nullopt;
  return RefMove{.name = fmt::format("{}rescue/{}/{}", remote_.place().prefix,
                                     encode_name(plan.item.name), turn.before + 1),
                 .from = "",
                 .to = tip};
}

// A new branch is simply not there, unless a first try has failed.
Result<ClaimBranches::Tips> ClaimBranches::tips_for(const std::vector<Plan>& plans,
                                                    const Turn& turn) {
  std::vector<std::string> asked;
  for (const Plan& plan : plans) {
    if (!plan.old_ref.empty()) asked.push_back(plan.old_ref);
    const bool other = !plan.new_ref.empty() && plan.new_ref != plan.old_ref;
    if (other && (turn.fresh || plan.step != Step::begin)) asked.push_back(plan.new_ref);
  }
  if (asked.empty()) return Tips{};
  return remote_.ask_remote(asked);
}

Result<std::vector<RefMove>> ClaimBranches::moves_of(const Plan& plan, const Tips& tips,
                                                     const Turn& turn) const {
  const auto tip_of = [&](const std::string& ref) {
    const auto found = tips.find(ref);
    return found == tips.end() ? std::string() : found->second;
  };
  const bool renamed = !plan.new_ref.empty() && plan.new_ref != plan.old_ref;
  if (renamed && !tip_of(plan.new_ref).empty())
    return fail(claimed_by_branch(plan.item.key().text, plan.new_ref, remote_.place().remote));
  std::vector<RefMove> moves;
  const std::string old_tip = plan.old_ref.empty() ? std::string() : tip_of(plan.old_ref);
  if (!old_tip.empty()) {
    Result<std::optional<RefMove>> kept = rescue(plan, old_tip, turn);
    if (!kept) return fail(kept.error());
    if (kept->has_value()) moves.push_back(**std::move(kept));
    if (plan.new_ref != plan.old_ref)
      moves.push_back({.name = plan.old_ref, .from = old_tip, .to = ""});
  }
  if (plan.new_ref.empty()) return moves;  // without an old tip, somebody removed it by hand
  Result<std::string> commit = claim_commit(plan, turn);
  if (!commit) return fail(commit.error());
  moves.push_back(
      {.name = plan.new_ref, .from = renamed ? std::string() : old_tip, .to = *std::move(commit)});
  return moves;
}

Result<std::vector<RefMove>> ClaimBranches::moves_for(const Transaction& transaction,
                                                      const Sight& sight, const Turn& turn) {
  std::vector<Plan> plans;
  for (const Write& write : transaction.writes) {
    const std::optional<Resource> item = resource_of(write.key);
    if (!item || item->kind != ResourceKind::item) continue;
    Plan plan = plan_for(*item, transaction, sight);
    if (plan.step != Step::none) plans.push_back(std::move(plan));
  }
  const Result<Tips> tips = tips_for(plans, turn);
  if (!tips) return fail(tips.error());
  std::vector<RefMove> moves;
  for (const Plan& plan : plans) {
    Result<std::vector<RefMove>> more = moves_of(plan, *tips, turn);
    if (!more) return more;
    moves.insert(moves.end(), more->begin(), more->end());
  }
  return moves;
}

}  // namespace dibs
