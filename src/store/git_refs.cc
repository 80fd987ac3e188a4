#include "store/git_refs.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/name_encoding.h"
#include "base/text.h"
#include "store/log_tail.h"

namespace dibs {

namespace {

constexpr int kLooksMax = 8;
constexpr std::size_t kLookedMax = 256;

// A remote moves the refs of one push one after the other, and a look in between sees some moved
// and some not. What is gone does not move any more.
bool shows_half(const Sight& sight) {
  return std::ranges::any_of(sight, [&](const auto& entry) {
    const Seen& seen = entry.second;
    return std::ranges::any_of(seen.along_with, [&](const Key& key) {
      const auto other = sight.find(key);
      return other != sight.end() && !other->second.gone && other->second.seq < seen.seq;
    });
  });
}

// What is only expected is restated: a ref that does not move is not compared in the same moment.
void restate_expected(LogLine& line, const Transaction& transaction, const Sight& sight) {
  for (const Expectation& expected : transaction.expectations) {
    const bool written = std::ranges::find(transaction.writes, expected.key, &Write::key) !=
                         transaction.writes.end();
    if (written) continue;
    const auto seen = sight.find(expected.key);
    const bool there = seen != sight.end() && seen->second.record;
    line.writes.push_back(
        {.key = expected.key,
         .value = there ? std::optional(seen->second.record->value) : std::nullopt,
         .version = there ? std::optional(seen->second.record->version) : std::nullopt});
  }
}

}  // namespace

std::string GitRefs::ref_of(const Key& key) const {
  return remote_.place().prefix + "r/" + encode_name(key.text);
}

std::string GitRefs::ledger_ref() const { return remote_.place().prefix + "ledger"; }

std::vector<std::string> GitRefs::refs_of(const std::vector<Key>& keys) const {
  std::vector<std::string> names;
  for (const Key& key : keys) names.push_back(ref_of(key));
  return names;
}

Result<LogLine> GitRefs::line_at(const SeenRef& ref) {
  std::string_view text = ref.message;
  while (text.ends_with('\n')) text.remove_suffix(1);
  const std::uint64_t seq = stated_seq(text).value_or(0);
  // The next number must still be one.
  if (seq == 0 || seq > kSeqMax) return fail(ErrorKind::internal, "its number is out of range");
  if (check_line({.seq = seq - 1, .crc = 0, .offset = 0}, text).fault != LineFault::none)
    return fail(ErrorKind::internal, "it is damaged, or from a newer dibs");
  return parse_writes(text);
}

Error GitRefs::unreadable(const std::string& ref) const {
  return {.kind = ErrorKind::unreachable,
          .message = fmt::format("{} on {} says nothing that dibs understands", printable(ref),
                                 printable(remote_.place().remote)),
          .hint = fmt::format("look at it with: git ls-remote {} {}",
                              shell_word(remote_.place().remote), shell_word(ref)),
          .fields = {}};
}

// What a ref says about the record that it is for; nothing when it says nothing of the kind.
std::optional<std::pair<Key, Seen>> GitRefs::record_at(const SeenRef& ref) const {
  const Result<LogLine> line = line_at(ref);
  if (!line) return std::nullopt;
  const auto own = std::ranges::find_if(
      line->writes, [&](const LoggedWrite& write) { return ref_of(write.key) == ref.name; });
  if (own == line->writes.end()) return std::nullopt;
  Seen seen{.commit = ref.commit,
            .seq = line->seq,
            .unix_ms = line->unix_ms,
            .record = std::nullopt,
            .along_with = {}};
  for (const LoggedWrite& write : line->writes) seen.along_with.push_back(write.key);
  if (own->value) seen.record = record_from(*line, *own);
  return std::pair{own->key, std::move(seen)};
}

Result<Sight> GitRefs::seen(const std::vector<Key>& keys) {
  const std::vector<std::string> names = refs_of(keys);
  Result<std::vector<SeenRef>> refs = keys.empty() ? remote_.seen_below("r/") : remote_.seen(names);
  if (!refs) return fail(refs.error());
  const Result<std::vector<SeenRef>> gone = remote_.gone(names);
  if (!gone) return fail(gone.error());
  Sight sight;
  std::size_t unread = 0;
  const auto take_in = [&](const SeenRef& ref, bool is_gone) -> Done {
    std::optional<std::pair<Key, Seen>> seen = record_at(ref);
    if (seen) {
      seen->second.gone = is_gone;
      sight.insert(*std::move(seen));  // what is there comes before what is gone
      return {};
    }
    // Never taken for free: whatever stands there was put there by someone. It hides nothing else.
    if (!keys.empty()) return fail(unreadable(ref.name));
    if (++unread <= kUnreadNoticesMax) notice_(unreadable(ref.name).message);
    return {};
  };
  for (const SeenRef& ref : *refs) {
    if (Done taken = take_in(ref, /*is_gone=*/false); !taken) return fail(taken.error());
  }
  for (const SeenRef& ref : *gone) {
    if (ref.name == ledger_ref()) continue;
    if (Done taken = take_in(ref, /*is_gone=*/true); !taken) return fail(taken.error());
  }
  if (unread > kUnreadNoticesMax) notice_(more_unread(unread - kUnreadNoticesMax));
  return sight;
}

std::string GitRefs::all_records() const { return remote_.place().prefix + "r/"; }

// Refs go when the ledger moves, and only then. One that went without that was lost by the remote
// (`git gc --prune=now` beside a push can do it), and whoever holds it still believes so: what it
// said last goes on counting here. But a look at a few refs moves the ledger for all that are
// remembered: it is followed by a look at all of them.
Done GitRefs::look_once(const std::vector<std::string>& names) {
  const bool whole = std::ranges::find(names, all_records()) != names.end();
  const Result<std::string> known = ledger_of_last_whole_look();
  if (!known) return fail(known.error());
  std::vector<SeenRef> gone;
  // A remote reads its refs one after the other, the ledger first: it may have moved since.
  for (int looks = 0; looks < 2; ++looks) {
    Result<std::vector<SeenRef>> more = remote_.look(names);
    if (!more) return fail(more.error());
    gone.insert(gone.end(), more->begin(), more->end());
    const Result<std::string> ledger = remote_.commit_at(ledger_ref());
    if (!ledger) return fail(ledger.error());
    const bool put_away = !ledger->empty() && *ledger != *known;
    if (put_away) return whole ? looked_at_all(*ledger) : look_once({all_records(), ledger_ref()});
    if (gone.empty()) return {};
  }
  return remote_.keep_gone(gone);
}

// Before the first look of all, only what this clone has pushed is remembered, and that named the
// ledger.
Result<std::string> GitRefs::ledger_of_last_whole_look() {
  Result<std::optional<std::string>> text =
      files_.read_file(remote_.place().directory + "/dibs-looked", kLookedMax);
  if (!text) return fail(text.error());
  if (text->has_value()) return **std::move(text);
  Result<std::string> ledger = remote_.commit_at(ledger_ref());
  if (!ledger || ledger->empty()) return ledger;
  if (Done noted = looked_at_all(*ledger); !noted) return fail(noted.error());
  return ledger;
}

Done GitRefs::looked_at_all(const std::string& ledger) {
  return files_.replace_file(remote_.place().directory + "/dibs-looked", ledger, file_mode_);
}

Result<Sight> GitRefs::look(const std::vector<Key>& keys) {
  std::vector<std::string> names = refs_of(keys);
  if (names.empty()) names.push_back(all_records());
  names.push_back(ledger_ref());
  for (int looks = 0; looks < kLooksMax; ++looks) {
    if (Done looked = look_once(names); !looked) return fail(looked.error());
    Result<Sight> sight = seen(keys);
    if (!sight || !shows_half(*sight)) return sight;
  }
  return fail(ErrorKind::contended,
              fmt::format("the refs on {} change faster than they can be read",
                          printable(remote_.place().remote)),
              "run the command again");
}

Result<std::vector<RefMove>> GitRefs::prepare(const Transaction& transaction, const Sight& sight,
                                              Turn turn) {
  const Result<Ledger> ledger = this->ledger();
  if (!ledger) return fail(ledger.error());
  std::vector<std::string> parents;
  for (const auto& [key, seen] : sight) {
    if (std::ranges::find(parents, seen.commit) == parents.end()) parents.push_back(seen.commit);
  }
  LogLine line = line_for(transaction, turn.now_ms);
  restate_expected(line, transaction, sight);
  const Result<std::string> text = change_text(line, turn);
  if (!text) return fail(text.error());
  const Result<std::string> commit = remote_.write_commit(parents, *text, turn.now_ms);
  if (!commit) return fail(commit.error());

  std::vector<RefMove> moves;
  for (const LoggedWrite& write : line.writes) {
    const auto seen = sight.find(write.key);
    const bool there = seen != sight.end() && !seen->second.gone;
    moves.push_back(
        {.name = ref_of(write.key), .from = there ? seen->second.commit : "", .to = *commit});
  }
  // Numbers that were put away must not come back: who has not seen the newest ledger has lost.
  if (!ledger->commit.empty())
    moves.push_back({.name = ledger_ref(), .from = ledger->commit, .to = ledger->commit});
  Result<std::vector<RefMove>> along = branch_moves(transaction, sight, turn);
  if (!along) return along;
  moves.insert(moves.end(), along->begin(), along->end());
  return moves;
}

// A branch that no lease stands behind may be the first half of a push: the remote moves refs one
// after the other. If the lease shows by now, our push will be turned down, as it should.
Result<std::vector<RefMove>> GitRefs::branch_moves(const Transaction& transaction,
                                                   const Sight& sight, const Turn& turn) {
  if (!branches_) return std::vector<RefMove>{};
  Result<std::vector<RefMove>> moves = branches_->moves_for(transaction, sight, turn);
  if (moves || moves.error().kind != ErrorKind::held) return moves;
  std::vector<Key> keys;
  for (const Write& write : transaction.writes) keys.push_back(write.key);
  const Result<Sight> again = look(keys);
  if (!again) return fail(again.error());
  const bool came = std::ranges::any_of(*again, [&](const auto& entry) {
    const auto before = sight.find(entry.first);
    return before == sight.end() || before->second.commit != entry.second.commit;
  });
  if (came) return std::vector<RefMove>{};
  return moves;
}

Result<std::vector<std::string>> GitRefs::messages() { return remote_.messages(); }

std::vector<Finding> GitRefs::inspect(const Sight& all) {
  std::vector<Finding> findings;
  for (const auto& [key, seen] : all) {
    if (!seen.gone) continue;
    findings.push_back(
        {.level = Finding::Level::warning,
         .what = fmt::format("the remote {} has lost the ref of {}; what it said last still counts "
                             "here, but other clones may not know it",
                             printable(remote_.place().remote), printable(key.text)),
         .fix = "run no git gc --prune=now on a remote that is in use; the holder brings it back "
                "with: dibs claim heartbeat"});
  }
  return findings;
}

}  // namespace dibs
