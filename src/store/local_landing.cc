// Changes of the local store that also move refs of the repository. Everything here happens under
// the claims lock:
//
//   landing.json is written     nothing has happened yet
//   git moves the refs          from here it has happened
//   the line is appended
//   landing.json is removed
//
// Whoever takes the lock to write and finds the file finishes what it says: if a ref moved, the
// rest follows; if none did, nothing has happened. git has the lock too while it moves refs: if
// only we are killed, the next one waits until git is through.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "store/landing_file.h"
#include "store/local.h"
#include "store/local_files.h"

namespace dibs {

namespace {
constexpr std::size_t kLandingFileMax = 4UL * 1024 * 1024;

Error cannot_land() {
  return {.kind = ErrorKind::internal,
          .message = "this store was opened without a way to move refs",
          .hint = {},
          .fields = {}};
}
}  // namespace

Result<Outcome> LocalStore::land(const Transaction& transaction, const std::string& line) {
  if (refs_ == nullptr) return fail(cannot_land());
  const PendingLanding landing{.refs = transaction.refs,
                               .line = line,
                               .reason = transaction.events.empty()
                                             ? std::string("dibs")
                                             : "dibs: " + transaction.events.front().reason};
  if (Done written = files_.replace_file(path(kLandingName), to_json(landing), file_mode_);
      !written)
    return fail(written.error());
  const Result<LocalRefs::End> end = refs_->move(landing.refs, landing.reason, held_.lock().get());
  if (!end || end->kind == LocalRefs::End::Kind::turned_down) {
    if (Done removed = files_.remove(path(kLandingName)); !removed) return fail(removed.error());
    if (!end) return fail(end.error());
    return RefsMoved{end->why};
  }
  if (end->kind == LocalRefs::End::Kind::unknown) {
    const Result<bool> happened = complete_refs(landing);
    if (!happened) return OutcomeUnknown{end->why};
    if (!*happened) {
      if (Done removed = files_.remove(path(kLandingName)); !removed) return fail(removed.error());
      return RefsMoved{end->why};
    }
  }
  Result<Outcome> outcome = append_durably(line, /*gives_back=*/true);
  if (!outcome || !std::holds_alternative<Committed>(*outcome)) {
    // It did land, and the next command writes it down.
    return OutcomeUnknown{outcome ? "the disk refused to flush" : outcome.error().message};
  }
  (void)files_.remove(path(kLandingName));  // one that stays is found to be finished
  return outcome;
}

// Whether the refs moved. If only some did, because git was killed between them, the others do now.
// git held our lock too, so it is dead: what it left locked is cleared first.
Result<bool> LocalStore::complete_refs(const PendingLanding& landing) {
  for (const RefMove& move : landing.refs) {
    if (Done cleared = refs_->clear_lock(move); !cleared) return fail(cleared.error());
  }
  bool happened = false;
  std::vector<RefMove> left;
  for (const RefMove& move : landing.refs) {
    const Result<std::string> at = refs_->commit_at(move.name);
    if (!at) return fail(at.error());
    if (*at == move.from && !move.stays()) left.push_back(move);
    if (move.to.empty() || at->empty() || move.stays()) continue;
    const Result<bool> contains = refs_->contains(move.name, move.to);
    if (!contains) return fail(contains.error());
    happened = happened || *contains;
  }
  if (happened && !left.empty()) {
    const Result<LocalRefs::End> end = refs_->move(left, landing.reason, held_.lock().get());
    if (!end) return fail(end.error());
  }
  return happened;
}

Done LocalStore::finish_landing() {
  const Result<std::optional<std::string>> text =
      files_.read_file(path(kLandingName), kLandingFileMax);
  if (!text) return fail(text.error());
  if (!text->has_value()) return {};
  const Result<PendingLanding> landing = pending_landing_from_json(**text);
  if (!landing) {
    return fail(ErrorKind::unreachable,
                fmt::format("{} cannot be read: {}", printable(path(kLandingName)),
                            landing.error().message),
                fmt::format("see whether the landing in it happened, then: rm {}",
                            shell_word(path(kLandingName))));
  }
  const std::optional<std::uint64_t> seq = stated_seq(landing->line);
  const bool not_written = seq == tail_.end().seq + 1;
  if (not_written && refs_ == nullptr) return fail(cannot_land());
  const Result<bool> happened = not_written ? complete_refs(*landing) : false;
  if (!happened) return fail(happened.error());
  if (*happened) {
    const Result<Outcome> outcome = append_durably(landing->line, /*gives_back=*/true);
    if (!outcome) return fail(outcome.error());
    if (!std::holds_alternative<Committed>(*outcome)) return fail(not_flushed());
    tail_.add(landing->line);
    flushed_seq_ = tail_.end().seq;
    notice_("a landing that was cut short is finished");
  }
  return files_.remove(path(kLandingName));
}

}  // namespace dibs
