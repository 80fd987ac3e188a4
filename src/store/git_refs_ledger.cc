// The ledger of a store on a git remote. A record that was removed keeps its ref, because the next
// number must be larger; but refs that stay for ever would slow every push. So the numbers of old
// ones move into one ref, and theirs go, in one atomic push. The removed commits are parents of the
// ledger's: history stays whole.
//
// A claim of a record without a ref must know the newest ledger, or it could give out a number that
// was put away. Its push therefore names the ledger it saw, which git compares with what the remote
// advertises. Between that and the moving of refs somebody else could take the same record, give it
// back and have it put away, unnoticed: so nothing is put away that was removed less than kRestMs
// ago, which is longer than a push may take.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "store/git_refs.h"

namespace dibs {

namespace {

constexpr std::int64_t kRestMs = 15LL * 60 * 1000;
constexpr std::size_t kAtOnce = 400;  // refs in one push
constexpr std::size_t kKeptMax = 256;
constexpr std::size_t kManyRefs = 500;  // so that there are never a thousand

std::string ledger_text(std::uint64_t before, const Nonce& nonce, std::int64_t unix_ms) {
  return encode_line({.seq = before, .crc = 0, .offset = 0},
                     {.seq = 0, .unix_ms = unix_ms, .nonce = nonce, .writes = {}, .events = {}});
}

}  // namespace

// There is one from the start, so that every push can name it.
Result<std::optional<RefMove>> GitRefs::beginning(std::int64_t now_ms) {
  const Result<std::string> there = remote_.commit_at(ledger_ref());
  if (!there) return fail(there.error());
  if (!there->empty()) return std::nullopt;
  const Result<std::uint64_t> known = floor();
  if (!known) return fail(known.error());
  const Result<std::string> commit =
      remote_.write_commit({}, ledger_text(*known, Nonce{}, now_ms), now_ms);
  if (!commit) return fail(commit.error());
  return RefMove{.name = ledger_ref(), .from = "", .to = *commit};
}

// None, or one that the remote has lost: its numbers were given all the same.
Result<GitRefs::Ledger> GitRefs::lost_ledger() {
  const Result<std::vector<SeenRef>> gone = remote_.gone();
  if (!gone) return fail(gone.error());
  const auto last = std::ranges::find(*gone, ledger_ref(), &SeenRef::name);
  if (last == gone->end()) return Ledger{};
  const Result<LogLine> line = line_at(*last);
  return Ledger{.commit = {}, .floor = line ? line->seq : 0};
}

// What the ledger says is asked of git once for each ledger, and kept in a file beside it.
Result<GitRefs::Ledger> GitRefs::ledger() {
  const Result<std::string> commit = remote_.commit_at(ledger_ref());
  if (!commit) return fail(commit.error());
  if (commit->empty()) return lost_ledger();
  const std::string kept = remote_.place().directory + "/dibs-ledger";
  const Result<std::optional<std::string>> text = files_.read_file(kept, kKeptMax);
  if (text && text->has_value() && (*text)->starts_with(*commit + " ")) {
    if (const auto floor = parse_unsigned(std::string_view(**text).substr(commit->size() + 1)))
      return Ledger{.commit = *commit, .floor = *floor};
  }
  const Result<std::vector<SeenRef>> refs = remote_.seen({ledger_ref()});
  if (!refs) return fail(refs.error());
  const Result<LogLine> line =
      refs->empty() ? fail(ErrorKind::internal, "it is gone") : line_at(refs->front());
  if (!line) return fail(unreadable(ledger_ref()));
  (void)files_.replace_file(kept, fmt::format("{} {}", refs->front().commit, line->seq),
                            file_mode_);
  return Ledger{.commit = refs->front().commit, .floor = line->seq};
}

Result<std::uint64_t> GitRefs::floor() {
  const Result<Ledger> ledger = this->ledger();
  if (!ledger) return fail(ledger.error());
  return ledger->floor;
}

bool GitRefs::wants_tidying() { return remote_.most_below("r/") >= kManyRefs; }

Result<GitLayout::Tidying> GitRefs::tidying(const Sight& all, Turn turn) {
  const Result<Ledger> ledger = this->ledger();
  if (!ledger) return fail(ledger.error());
  Tidying tidying;
  if (ledger->commit.empty()) return tidying;
  std::vector<std::string> parents{ledger->commit};
  for (const auto& [key, seen] : all) {
    const bool rests = turn.now_ms - seen.unix_ms < kRestMs;
    if (seen.record || seen.gone || rests || tidying.records == kAtOnce) continue;
    tidying.moves.push_back({.name = ref_of(key), .from = seen.commit, .to = ""});
    ++tidying.records;
    if (std::ranges::find(parents, seen.commit) == parents.end()) parents.push_back(seen.commit);
  }
  if (tidying.records == 0) return tidying;
  const Result<std::string> commit =
      remote_.write_commit(parents, ledger_text(turn.before, turn.nonce, turn.now_ms), turn.now_ms);
  if (!commit) return fail(commit.error());
  tidying.moves.push_back({.name = ledger_ref(), .from = ledger->commit, .to = *commit});
  return tidying;
}

}  // namespace dibs
