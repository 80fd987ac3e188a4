#include "store/git_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/name_encoding.h"
#include "base/text.h"
#include "store/log_line.h"
#include "store/remote_health.h"

namespace dibs {

namespace {

constexpr int kTriesMax = 60;    // while others are faster
constexpr int kUnmovedMax = 12;  // while nobody is
constexpr std::string_view kLockIsThere = ".lock': File exists";
constexpr int kTroublesMax = 5;  // what goes wrong on the remote itself may be over soon
constexpr std::uint64_t kFirstPauseMs = 20;
constexpr std::uint64_t kLongestPauseMs = 1'000;
constexpr std::int64_t kPollMs = 2'000;
constexpr std::size_t kHighestFileMax = 4096;
constexpr std::uint64_t kTidyEvery = 32;  // changes

// Expected and written alike: all that a push has to name.
std::vector<Key> keys_of(const Transaction& transaction) {
  std::set<Key> keys;
  for (const Expectation& expected : transaction.expectations) keys.insert(expected.key);
  for (const Write& write : transaction.writes) keys.insert(write.key);
  return {keys.begin(), keys.end()};
}

bool mentions(const Selection& selection, const Record& record) {
  return selection.mentioning && contains(record.value, *selection.mentioning);
}

bool expectations_hold(const Transaction& transaction, const Sight& sight) {
  return std::ranges::all_of(transaction.expectations, [&](const Expectation& expected) {
    const auto seen = sight.find(expected.key);
    const bool there = seen != sight.end() && seen->second.record;
    return expected.version == (there ? std::optional(seen->second.record->version) : std::nullopt);
  });
}

bool concerns(const std::vector<RefMove>& moves, const std::vector<std::string>& names) {
  return std::ranges::any_of(moves, [&](const RefMove& move) {
    return std::ranges::find(names, move.name) != names.end();
  });
}

// Changes whenever somebody else got a change in.
std::string where_things_are(const Sight& sight, std::uint64_t floor) {
  std::string where = std::to_string(floor);
  for (const auto& [key, seen] : sight) where += " " + seen.commit;
  return where;
}

}  // namespace

GitStore::GitStore(const GitStoreParts& parts, GitStorePlace place,
                   std::unique_ptr<RemoteRefs> remote, std::unique_ptr<GitLayout> layout)
    : files_(parts.files),
      clock_(parts.clock),
      random_(parts.random),
      git_(parts.git),
      place_(std::move(place)),
      remote_(std::move(remote)),
      layout_(std::move(layout)) {}

Result<std::unique_ptr<FileLock>> GitStore::lock() {
  return files_.lock(
      fmt::format("{}/locks/remote-{}.lock", place_.directory, encode_name(place_.remote)),
      Patience::wait, place_.directory_mode & 0666U);
}

View GitStore::view_of(const Selection& selection, const Sight& sight) {
  View view{.now = {.unix_ms = clock_.now().unix_ms},
            .margin_ms = place_.skew_margin_ms,
            .one_machine = false,
            .last_look = false,
            .records = {},
            .cursor = {},
            .hold = {}};
  std::uint64_t highest = highest_seen();
  if (const Result<std::uint64_t> floor = layout_->floor()) highest = std::max(highest, *floor);
  for (const auto& [key, seen] : sight) {
    highest = std::max(highest, seen.seq);
    if (!seen.record) continue;
    const bool named = std::ranges::find(selection.keys, key) != selection.keys.end();
    if (named || mentions(selection, *seen.record)) view.records.push_back(*seen.record);
  }
  remember_highest(highest);
  view.cursor = {highest};
  return view;
}

Result<View> GitStore::read(const Selection& selection) {
  const bool by_key = !selection.keys.empty() && !selection.mentioning;
  const std::vector<Key> keys = by_key ? selection.keys : std::vector<Key>{};
  const Result<std::unique_ptr<FileLock>> lock = this->lock();
  if (!lock) return fail(lock.error());
  if (selection.last_look_will_do && by_key) {
    const Result<Sight> sight = layout_->seen(keys);
    const bool nobody_there = sight && std::ranges::none_of(*sight, [](const auto& entry) {
                                return entry.second.record.has_value();
                              });
    if (nobody_there) {
      View view = view_of(selection, *sight);
      view.last_look = true;
      return view;
    }
  }
  const Result<Sight> sight = layout_->look(keys);
  if (!sight) return fail(sight.error());
  if (keys.empty()) {
    where_refs_are_.clear();
    for (const auto& [key, seen] : *sight) where_refs_are_ += key.text + " " + seen.commit + "\n";
  }
  return view_of(selection, *sight);
}

// A new change gets a number above all that were seen.
Result<Turn> GitStore::next_turn(const Sight& sight) {
  const Result<std::uint64_t> floor = layout_->floor();
  if (!floor) return fail(floor.error());
  Turn turn{.before = std::max(highest_seen(), *floor),
            .now_ms = clock_.now().unix_ms,
            .nonce = random_.nonce()};
  for (const auto& [key, seen] : sight) turn.before = std::max(turn.before, seen.seq);
  return turn;
}

Result<Outcome> GitStore::try_once(const Transaction& transaction, const Sight& sight, bool fresh) {
  Result<Turn> turn = next_turn(sight);
  if (!turn) return fail(turn.error());
  turn->fresh = fresh;
  Result<std::vector<RefMove>> moves = layout_->prepare(transaction, sight, *turn);
  if (!moves) return fail(moves.error());
  moves->insert(moves->end(), transaction.refs.begin(), transaction.refs.end());
  const bool takes_branches = std::ranges::any_of(
      *moves, [&](const RefMove& move) { return !move.name.starts_with(remote_->place().prefix); });
  const Result<PushEnd> end =
      remote_->push(*moves, takes_branches ? RemoteRefs::From::users : RemoteRefs::From::ours);
  if (!end) return fail(end.error());
  switch (end->kind) {
    case PushEnd::Kind::moved:
      remember_highest(turn->before + 1);
      return Committed{Fence{turn->before + 1}};
    case PushEnd::Kind::lost:
      lost_by_ = end->why;
      if (concerns(transaction.refs, end->lost_at)) return RefsMoved{end->why};
      return LostRace{};
    case PushEnd::Kind::refused:
      return fail(ErrorKind::refused,
                  fmt::format("the remote {} does not take the change: {}",
                              printable(place_.remote), end->why),
                  "see what it allows with: dibs doctor");
    case PushEnd::Kind::unsent:
      return fail(unwritable_remote(place_.remote, end->why));
    case PushEnd::Kind::unknown:
      break;
  }
  return OutcomeUnknown{end->why};
}

Result<Outcome> GitStore::commit(const Transaction& transaction) {
  Result<Outcome> outcome = commit_locked(transaction);
  const auto* committed = outcome ? std::get_if<Committed>(&*outcome) : nullptr;
  if (committed != nullptr && committed->fence.value % kTidyEvery == 0 && layout_->wants_tidying())
    (void)tidy();
  return outcome;
}

// Because of the user's refs, unless the records have changed as well: that counts for more.
Result<Outcome> GitStore::refs_or_race(const Transaction& transaction) {
  const Result<Sight> sight = layout_->look(keys_of(transaction));
  if (!sight) return fail(sight.error());
  if (!expectations_hold(transaction, *sight)) return LostRace{};
  return RefsMoved{lost_by_};
}

// Once more, unless that is hopeless: nothing when it may be tried again.
Done GitStore::after_loss(Tries& tries) {
  // Nobody was faster: the remote could not keep what it was sent.
  if (contains(lost_by_, "unpacker error") && ++tries.troubles == kTroublesMax)
    return fail(unwritable_remote(place_.remote, lost_by_));
  if (tries.made == 0) return {};
  const auto doubled = static_cast<unsigned>(std::min(tries.made, 10));
  const std::uint64_t pause_ms = std::min(kFirstPauseMs << doubled, kLongestPauseMs);
  clock_.sleep_ms(static_cast<std::int64_t>(random_.below(pause_ms)));
  return {};
}

Error GitStore::not_taken(const Tries& tries) const {
  // Nothing of ours was ever in the way, and yet the ref did not move.
  return {.kind = ErrorKind::contended,
          .message = fmt::format("the remote {} did not take the change in {} tries: {}",
                                 printable(place_.remote), tries.made, lost_by_),
          .hint = contains(lost_by_, kLockIsThere)
                      ? "if no push is running there, a crashed one left that file: remove it on "
                        "the remote"
                      : "run the command again",
          .fields = {}};
}

Result<Outcome> GitStore::commit_locked(const Transaction& transaction) {
  const std::vector<Key> keys = keys_of(transaction);
  const Result<std::unique_ptr<FileLock>> lock = this->lock();
  if (!lock) return fail(lock.error());
  // What was seen last will do for the first try: if it is not so any more, the push finds out.
  Tries tries;
  for (; tries.made < kTriesMax && tries.unmoved < kUnmovedMax; ++tries.made) {
    const bool fresh = tries.made > 0;
    const Result<Sight> sight = fresh ? layout_->look(keys) : layout_->seen(keys);
    if (!sight) return fail(sight.error());
    const bool hold = expectations_hold(transaction, *sight);
    if (!hold && fresh) return LostRace{};
    if (!hold) continue;
    if (transaction.writes.empty()) {
      if (!fresh) continue;
      return Committed{Fence{highest_seen()}};
    }
    const Result<std::uint64_t> floor = layout_->floor();
    if (!floor) return fail(floor.error());
    tries.saw(where_things_are(*sight, *floor));
    Result<Outcome> outcome = try_once(transaction, *sight, fresh);
    if (outcome && std::holds_alternative<RefsMoved>(*outcome)) return refs_or_race(transaction);
    if (!outcome || !std::holds_alternative<LostRace>(*outcome)) return outcome;
    if (Done again = after_loss(tries); !again) return fail(again.error());
  }
  return fail(not_taken(tries));
}

Result<Sight> GitStore::look_at_all() {
  const Result<std::unique_ptr<FileLock>> lock = this->lock();
  if (!lock) return fail(lock.error());
  return layout_->look({});
}

std::vector<Finding> GitStore::inspect() {
  using Level = Finding::Level;
  const std::string name = printable(place_.remote);
  const Result<Sight> sight = look_at_all();
  if (!sight)
    return {{.level = Level::problem, .what = sight.error().message, .fix = sight.error().hint}};
  std::vector<Finding> findings{
      {.level = Level::ok,
       .what = fmt::format("the remote {} answers; refs of dibs there: {}", name, sight->size()),
       .fix = {}}};
  for (Finding& finding : layout_->inspect(*sight)) findings.push_back(std::move(finding));
  const Result<PushEnd> end = remote_->rehearse();
  const std::string why = end ? end->why : end.error().message;
  if (end && end->kind == PushEnd::Kind::moved) {
    findings.push_back({.level = Level::ok,
                        .what = fmt::format("the remote {} takes atomic pushes", name),
                        .fix = {}});
  } else {
    findings.push_back({.level = Level::problem,
                        .what = fmt::format("the remote {} would not take a claim: {}", name, why),
                        .fix = fmt::format("see whether you may push there: git push --dry-run {}",
                                           shell_word(place_.remote))});
  }
  for (Finding& finding :
       remote_health(files_, git_,
                     {.common_dir = place_.common_dir,
                      .name = place_.remote,
                      .lock_refs = place_.layout == kLockBranch ? 0 : sight->size()}))
    findings.push_back(std::move(finding));
  return findings;
}

// Everything is on the remote; what was seen of it is looked at again by every command.
Result<RepairReport> GitStore::repair() { return RepairReport{}; }
Result<RepairReport> GitStore::salvage() { return RepairReport{}; }

Result<std::size_t> GitStore::tidy() {
  const Result<std::unique_ptr<FileLock>> lock = this->lock();
  if (!lock) return fail(lock.error());
  const Result<Sight> sight = layout_->look({});
  if (!sight) return fail(sight.error());
  const Result<Turn> turn = next_turn(*sight);
  if (!turn) return fail(turn.error());
  const Result<GitLayout::Tidying> tidying = layout_->tidying(*sight, *turn);
  if (!tidying) return fail(tidying.error());
  if (tidying->moves.empty()) return 0;
  const Result<PushEnd> end = remote_->push(tidying->moves);
  if (!end) return fail(end.error());
  // Whatever the reason, nothing was lost: they are put away another time.
  if (end->kind != PushEnd::Kind::moved) return 0;
  remember_highest(turn->before + 1);
  return tidying->records;
}

Result<Cursor> GitStore::wait(Cursor since, std::int64_t most_ms) {
  const std::int64_t deadline_ms = clock_.now().boot_ms + most_ms;
  const std::string before = where_refs_are_;
  while (true) {
    const Result<View> view = read(Selection{});
    if (!view) return fail(view.error());
    const std::int64_t left_ms = deadline_ms - clock_.now().boot_ms;
    const bool changed = view->cursor > since || where_refs_are_ != before;
    if (changed || left_ms <= 0) return view->cursor;
    clock_.sleep_ms(std::min(left_ms, kPollMs));
  }
}

Result<History> GitStore::history(const HistoryQuery& asked) {
  const Result<View> view = read(Selection{});
  if (!view) return fail(view.error());
  const HistoryQuery query = begun_at(asked, view->cursor);
  const Result<std::vector<std::string>> messages = layout_->messages();
  if (!messages) return fail(messages.error());
  std::vector<LogLine> lines;
  for (const std::string& message : *messages) {
    if (query.mentioning && !contains(message, *query.mentioning)) continue;
    Result<LogLine> line = parse_line(message);
    if (!line || line->seq <= query.since.seq || line->seq > view->cursor.seq) continue;
    lines.push_back(*std::move(line));
  }
  // Two that knew nothing of each other may have one number: then by time, so that the order is the
  // same for everyone.
  std::ranges::sort(lines, {}, [](const LogLine& line) {
    return std::tuple(line.seq, line.unix_ms, line.nonce.hex());
  });
  History history{.events = {}, .cursor = view->cursor, .may_be_late = true};
  for (const LogLine& line : lines) {
    for (const Event& event : line.events) {
      PastEvent past{.seq = line.seq, .unix_ms = line.unix_ms, .event = event};
      if (is_about(past, query)) history.events.push_back(std::move(past));
    }
  }
  keep_newest(history.events, query.newest);
  return history;
}

// The largest number that this clone knows of. A new change gets a larger one, so that numbers
// follow what was known when the change was made. Nothing is lost with it but that order.
std::uint64_t GitStore::highest_seen() {
  const Result<std::optional<std::string>> text =
      files_.read_file(remote_->place().directory + "/dibs-highest", 2 * kHighestFileMax);
  if (!text || !text->has_value()) return 0;
  std::uint64_t highest = 0;
  for (const std::string_view line : split(**text, '\n'))
    highest = std::max(highest, parse_unsigned(line).value_or(0));
  return highest;
}

void GitStore::remember_highest(std::uint64_t seq) {
  if (seq <= highest_seen()) return;
  const std::string path = remote_->place().directory + "/dibs-highest";
  // On a line of its own whatever stands there: a number that could not be written whole and this
  // one would be a far larger one together.
  const std::string line = "\n" + std::to_string(seq) + "\n";
  const Result<std::unique_ptr<File>> file =
      files_.open(path, Open::create_append, place_.directory_mode & 0666U);
  if (!file) return;
  const Result<std::uint64_t> size = (*file)->size();
  if (size && *size < kHighestFileMax) {
    (void)(*file)->append(line);
  } else {
    (void)files_.replace_file(path, line, place_.directory_mode & 0666U);
  }
}

Promises GitStore::promises() const { return git_promises(); }

Promises git_promises() {
  return {.store = "git",
          .pause = "fenced",
          .partition = "safe; unreachable is unknown",
          .clock_jump = "skew margin, 30 s unless set otherwise",
          .power_loss = "the server's own",
          .waiters = "in line, as last seen",
          .offline = "no"};
}

}  // namespace dibs
