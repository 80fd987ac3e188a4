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
Done GitRefsStore::begin_ledger(RemoteRefs& refs, Clock& clock) {
  const std::string name = refs.place().prefix + "ledger";
  const Result<std::vector<SeenRef>> seen = refs.seen({name});
  if (!seen) return fail(seen.error());
  if (!seen->empty()) return {};
  const std::int64_t now_ms = clock.now().unix_ms;
  const Result<std::string> commit = refs.write_commit({}, ledger_text(0, Nonce{}, now_ms), now_ms);
  if (!commit) return fail(commit.error());
  const Result<PushEnd> end = refs.push({{.name = name, .from = "", .to = *commit}});
  if (!end) return fail(end.error());
  switch (end->kind) {
    case PushEnd::Kind::moved:
      return {};
    case PushEnd::Kind::lost:
      return refs.look({name});  // another began it in the same moment
    case PushEnd::Kind::refused:
      return fail(
          ErrorKind::refused,
          fmt::format("the remote {} does not take dibs' refs: {}", refs.place().remote, end->why),
          "if it takes branches only: dibs config set store.ref_prefix refs/heads/dibs/");
    case PushEnd::Kind::unknown:
      break;
  }
  return fail(ErrorKind::unreachable,
              fmt::format("the remote {} cannot be written: {}", refs.place().remote, end->why));
}

// What the ledger says is asked of git once for each ledger, and kept in a file beside it.
Result<GitRefsStore::Ledger> GitRefsStore::ledger() {
  const Result<std::string> commit = remote_.commit_at(ledger_ref());
  if (!commit) return fail(commit.error());
  if (commit->empty()) return Ledger{};
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
  if (!line)
    return fail(ErrorKind::unreachable,
                fmt::format("{} on {} says nothing that dibs understands", ledger_ref(),
                            printable(remote_.place().remote)));
  (void)files_.replace_file(kept, fmt::format("{} {}", refs->front().commit, line->seq),
                            file_mode_);
  return Ledger{.commit = refs->front().commit, .floor = line->seq};
}

bool GitRefsStore::has_many_refs() {
  const std::string folder = remote_.place().directory + "/" + remote_.place().prefix + "r";
  const Result<std::vector<std::string>> names = files_.list(folder);
  return names && names->size() >= kManyRefs;
}

Result<std::size_t> GitRefsStore::tidy() {
  const Result<std::unique_ptr<FileLock>> lock =
      files_.lock(lock_path_, Patience::wait, file_mode_);
  if (!lock) return fail(lock.error());
  const Result<Sight> sight = fresh_sight_of({});
  if (!sight) return fail(sight.error());
  const Result<Ledger> ledger = this->ledger();
  if (!ledger) return fail(ledger.error());
  if (ledger->commit.empty()) return 0;

  const std::int64_t now_ms = clock_.now().unix_ms;
  std::uint64_t before = std::max(highest_seen(), ledger->floor);
  std::vector<RefMove> moves;
  std::vector<std::string> parents{ledger->commit};
  for (const auto& [key, seen] : *sight) {
    before = std::max(before, seen.seq);
    if (seen.record || now_ms - seen.unix_ms < kRestMs || moves.size() == kAtOnce) continue;
    moves.push_back({.name = ref_of(key), .from = seen.commit, .to = ""});
    if (std::ranges::find(parents, seen.commit) == parents.end()) parents.push_back(seen.commit);
  }
  const std::size_t removed = moves.size();
  if (removed == 0) return 0;
  const Result<std::string> commit =
      remote_.write_commit(parents, ledger_text(before, random_.nonce(), now_ms), now_ms);
  if (!commit) return fail(commit.error());
  moves.push_back({.name = ledger_ref(), .from = ledger->commit, .to = *commit});
  const Result<PushEnd> end = remote_.push(moves);
  if (!end) return fail(end.error());
  // Whatever the reason, nothing was lost: they are put away another time.
  if (end->kind != PushEnd::Kind::moved) return 0;
  remember_highest(before + 1);
  return removed;
}

}  // namespace dibs
