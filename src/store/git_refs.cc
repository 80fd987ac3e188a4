#include "store/git_refs.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/name_encoding.h"
#include "base/text.h"
#include "store/log_tail.h"

namespace dibs {

namespace {

// How far the clocks of two machines may be apart before a lease is judged wrongly.
constexpr std::int64_t kSkewMarginMs = 30'000;
constexpr int kTriesMax = 8;
constexpr std::uint64_t kPauseMs = 20;
constexpr std::int64_t kPollMs = 2'000;
constexpr std::size_t kHighestFileMax = 4096;
constexpr std::uint64_t kTidyEvery = 32;  // changes
constexpr std::uint64_t kSeqMax = 1ULL << 53U;

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

RemoteRefs refs_of(FileSystem& files, const GitProgram& git, const GitRefsSite& site) {
  return {files,
          git,
          {.directory = fmt::format("{}/remotes/{}.git", site.directory,
                                    encode_name(site.remote + ":" + site.prefix)),
           .common_dir = site.common_dir,
           .remote = site.remote,
           .prefix = site.prefix}};
}

}  // namespace

Done GitRefsStore::create(FileSystem& files, Clock& clock, const GitProgram& git,
                          const GitRefsSite& site) {
  if (!site.prefix.starts_with("refs/") || !site.prefix.ends_with('/')) {
    return fail(ErrorKind::usage,
                fmt::format("store.ref_prefix cannot be '{}'", printable(site.prefix)),
                "it must begin with refs/ and end with /");
  }
  const Result<ProgramEnd> url = git.run({.git_dir = site.common_dir,
                                          .arguments = {"remote", "get-url", "--", site.remote},
                                          .input = {}});
  if (!url) return fail(url.error());
  if (!url->succeeded()) {
    return fail(ErrorKind::not_set_up,
                fmt::format("this repository has no remote {}", printable(site.remote)),
                fmt::format("add it with: git remote add {} URL, or keep leases on this machine "
                            "with: dibs init --store local",
                            shell_word(site.remote)));
  }
  for (const char* below : {"", "/heartbeat", "/remotes"}) {
    if (Done made = files.make_directory(site.directory + below, site.directory_mode); !made)
      return made;
  }
  RemoteRefs refs = refs_of(files, git, site);
  if (Done opened = refs.open(site.directory_mode); !opened) return opened;
  if (Done looked = refs.look({}); !looked) return looked;
  if (Done begun = begin_ledger(refs, clock); !begun) return begun;
  // Last: where this is, `init` was not cut short.
  return files.make_directory(site.directory + "/locks", site.directory_mode);
}

Result<std::unique_ptr<GitRefsStore>> GitRefsStore::open(FileSystem& files, Clock& clock,
                                                         Random& random, const GitProgram& git,
                                                         const GitRefsSite& site, Notice notice) {
  if (Done made = files.make_directory(site.directory + "/remotes", site.directory_mode); !made)
    return fail(made.error());
  RemoteRefs refs = refs_of(files, git, site);
  if (Done opened = refs.open(site.directory_mode); !opened) return fail(opened.error());
  return std::make_unique<GitRefsStore>(
      files, clock, random, std::move(refs),
      fmt::format("{}/locks/remote-{}.lock", site.directory, encode_name(site.remote)),
      site.directory_mode & 0666U, std::move(notice));
}

std::string GitRefsStore::ref_of(const Key& key) const {
  return remote_.place().prefix + "r/" + encode_name(key.text);
}

std::string GitRefsStore::ledger_ref() const { return remote_.place().prefix + "ledger"; }

Result<LogLine> GitRefsStore::line_at(const SeenRef& ref) {
  std::string_view text = ref.message;
  while (text.ends_with('\n')) text.remove_suffix(1);
  const std::uint64_t seq = stated_seq(text).value_or(0);
  // The next number must still be one.
  if (seq == 0 || seq > kSeqMax) return fail(ErrorKind::internal, "its number is out of range");
  if (check_line({.seq = seq - 1, .crc = 0, .offset = 0}, text).fault != LineFault::none)
    return fail(ErrorKind::internal, "it is damaged, or from a newer dibs");
  return parse_writes(text);
}

Result<GitRefsStore::Sight> GitRefsStore::sight_of(const std::vector<Key>& keys) {
  std::vector<std::string> names;
  for (const Key& key : keys) names.push_back(ref_of(key));
  const Result<std::vector<SeenRef>> refs =
      keys.empty() ? remote_.seen_below("r/") : remote_.seen(names);
  if (!refs) return fail(refs.error());
  Sight sight;
  for (const SeenRef& ref : *refs) {
    std::optional<std::pair<Key, Seen>> seen = record_at(ref);
    if (seen) {
      sight.insert(*std::move(seen));
      continue;
    }
    // Never taken for free: whatever stands there was put there by someone. It hides nothing else.
    Error unreadable{.kind = ErrorKind::unreachable,
                     .message = fmt::format("{} on {} says nothing that dibs understands",
                                            printable(ref.name), printable(remote_.place().remote)),
                     .hint = fmt::format("look at it with: git ls-remote {} {}",
                                         shell_word(remote_.place().remote), shell_word(ref.name)),
                     .fields = {}};
    if (!keys.empty()) return fail(std::move(unreadable));
    notice_(unreadable.message);
  }
  return sight;
}

// What a ref says about the record that it is for; nothing when it says nothing of the kind.
std::optional<std::pair<Key, GitRefsStore::Seen>> GitRefsStore::record_at(
    const SeenRef& ref) const {
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

Result<GitRefsStore::Sight> GitRefsStore::fresh_sight_of(const std::vector<Key>& keys) {
  std::vector<std::string> names;
  for (const Key& key : keys) names.push_back(ref_of(key));
  if (!names.empty()) names.push_back(ledger_ref());
  for (int tries = 0; tries < kTriesMax; ++tries) {
    if (Done looked = remote_.look(names); !looked) return fail(looked.error());
    Result<Sight> sight = sight_of(keys);
    if (!sight || !shows_half(*sight)) return sight;
  }
  return fail(ErrorKind::contended,
              fmt::format("the refs on {} change faster than they can be read",
                          printable(remote_.place().remote)),
              "run the command again");
}

// A remote moves the refs of one push one after the other, and a look in between sees some moved
// and some not.
bool GitRefsStore::shows_half(const Sight& sight) {
  return std::ranges::any_of(sight, [&](const auto& entry) {
    const Seen& seen = entry.second;
    return std::ranges::any_of(seen.along_with, [&](const Key& key) {
      const auto other = sight.find(key);
      return other != sight.end() && other->second.seq < seen.seq;
    });
  });
}

View GitRefsStore::view_of(const Selection& selection, const Sight& sight) {
  View view{.now = {.unix_ms = clock_.now().unix_ms},
            .margin_ms = kSkewMarginMs,
            .one_machine = false,
            .last_look = false,
            .records = {},
            .cursor = {},
            .hold = {}};
  std::uint64_t highest = highest_seen();
  if (const Result<Ledger> ledger = this->ledger()) highest = std::max(highest, ledger->floor);
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

Result<View> GitRefsStore::read(const Selection& selection) {
  const bool by_key = !selection.keys.empty() && !selection.mentioning;
  const std::vector<Key> keys = by_key ? selection.keys : std::vector<Key>{};
  const Result<std::unique_ptr<FileLock>> lock =
      files_.lock(lock_path_, Patience::wait, file_mode_);
  if (!lock) return fail(lock.error());
  if (selection.last_look_will_do && by_key) {
    const Result<Sight> sight = sight_of(keys);
    const bool nobody_there = sight && std::ranges::none_of(*sight, [](const auto& entry) {
                                return entry.second.record.has_value();
                              });
    if (nobody_there) {
      View view = view_of(selection, *sight);
      view.last_look = true;
      return view;
    }
  }
  const Result<Sight> sight = fresh_sight_of(keys);
  if (!sight) return fail(sight.error());
  return view_of(selection, *sight);
}

Result<Outcome> GitRefsStore::try_once(const Transaction& transaction, const Sight& sight) {
  const Result<Ledger> ledger = this->ledger();
  if (!ledger) return fail(ledger.error());
  std::uint64_t before = std::max(highest_seen(), ledger->floor);
  std::vector<std::string> parents;
  for (const auto& [key, seen] : sight) {
    before = std::max(before, seen.seq);
    if (std::ranges::find(parents, seen.commit) == parents.end()) parents.push_back(seen.commit);
  }
  const std::int64_t now_ms = clock_.now().unix_ms;
  LogLine line = line_for(transaction, now_ms);
  // What is only expected is restated: a ref that does not move is not compared in the same moment.
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
  std::string text = encode_line({.seq = before, .crc = 0, .offset = 0}, line);
  if (text.size() > kLogLineMax) {
    return fail(
        ErrorKind::refused,
        fmt::format("the change is {} bytes long; at most {} fit", text.size(), kLogLineMax),
        "name fewer resources in one command");
  }
  const Result<std::string> commit = remote_.write_commit(parents, text, now_ms);
  if (!commit) return fail(commit.error());

  std::vector<RefMove> moves;
  for (const LoggedWrite& write : line.writes) {
    const auto seen = sight.find(write.key);
    moves.push_back({.name = ref_of(write.key),
                     .from = seen == sight.end() ? "" : seen->second.commit,
                     .to = *commit});
  }
  // Numbers that were put away must not come back: who has not seen the newest ledger has lost.
  if (!ledger->commit.empty())
    moves.push_back({.name = ledger_ref(), .from = ledger->commit, .to = ledger->commit});
  const Result<PushEnd> end = remote_.push(moves);
  if (!end) return fail(end.error());
  switch (end->kind) {
    case PushEnd::Kind::moved:
      remember_highest(before + 1);
      return Committed{Fence{before + 1}};
    case PushEnd::Kind::lost:
      lost_by_ = end->why;
      return LostRace{};
    case PushEnd::Kind::refused:
      return fail(ErrorKind::refused,
                  fmt::format("the remote {} does not take the change: {}",
                              printable(remote_.place().remote), end->why),
                  "see what it allows with: dibs doctor");
    case PushEnd::Kind::unknown:
      break;
  }
  return OutcomeUnknown{end->why};
}

Result<Outcome> GitRefsStore::commit(const Transaction& transaction) {
  Result<Outcome> outcome = commit_locked(transaction);
  const auto* committed = outcome ? std::get_if<Committed>(&*outcome) : nullptr;
  if (committed != nullptr && committed->fence.value % kTidyEvery == 0 && has_many_refs())
    (void)tidy();
  return outcome;
}

bool GitRefsStore::expectations_hold(const Transaction& transaction, const Sight& sight) {
  return std::ranges::all_of(transaction.expectations, [&](const Expectation& expected) {
    const auto seen = sight.find(expected.key);
    const bool there = seen != sight.end() && seen->second.record;
    return expected.version == (there ? std::optional(seen->second.record->version) : std::nullopt);
  });
}

Result<Outcome> GitRefsStore::commit_locked(const Transaction& transaction) {
  const std::vector<Key> keys = keys_of(transaction);
  const Result<std::unique_ptr<FileLock>> lock =
      files_.lock(lock_path_, Patience::wait, file_mode_);
  if (!lock) return fail(lock.error());
  // What was seen last will do for the first try: if it is not so any more, the push finds out.
  for (int tries = 0; tries < kTriesMax; ++tries) {
    const bool fresh = tries > 0;
    const Result<Sight> sight = fresh ? fresh_sight_of(keys) : sight_of(keys);
    if (!sight) return fail(sight.error());
    const bool hold = expectations_hold(transaction, *sight);
    if (!hold && fresh) return LostRace{};
    if (!hold) continue;
    if (transaction.writes.empty()) {
      if (!fresh) continue;
      return Committed{Fence{highest_seen()}};
    }
    Result<Outcome> outcome = try_once(transaction, *sight);
    if (!outcome || !std::holds_alternative<LostRace>(*outcome)) return outcome;
    if (tries > 0)
      clock_.sleep_ms(
          static_cast<std::int64_t>(random_.below(kPauseMs << static_cast<unsigned>(tries))));
  }
  // Nothing of ours was ever in the way, and yet the ref did not move.
  const bool locked = contains(lost_by_, ".lock': File exists");
  return fail(ErrorKind::contended,
              fmt::format("the remote {} did not take the change in {} tries: {}",
                          printable(remote_.place().remote), kTriesMax, lost_by_),
              locked
                  ? "if no push is running there, a crashed one left that file: remove it on the "
                    "remote"
                  : "run the command again");
}

std::vector<Finding> GitRefsStore::inspect() {
  using Level = Finding::Level;
  const std::string name = printable(remote_.place().remote);
  const Result<Sight> sight = fresh_sight_of({});
  if (!sight)
    return {{.level = Level::problem, .what = sight.error().message, .fix = sight.error().hint}};
  std::vector<Finding> findings{
      {.level = Level::ok,
       .what = fmt::format("the remote {} answers; refs of dibs there: {}", name, sight->size()),
       .fix = {}}};
  const Result<PushEnd> end = remote_.rehearse();
  const std::string why = end ? end->why : end.error().message;
  if (end && end->kind == PushEnd::Kind::moved) {
    findings.push_back({.level = Level::ok,
                        .what = fmt::format("the remote {} takes atomic pushes", name),
                        .fix = {}});
  } else {
    findings.push_back({.level = Level::problem,
                        .what = fmt::format("the remote {} would not take a claim: {}", name, why),
                        .fix = fmt::format("see whether you may push there: git push --dry-run {}",
                                           shell_word(remote_.place().remote))});
  }
  return findings;
}

// Everything is on the remote; what was seen of it is looked at again by every command.
Result<RepairReport> GitRefsStore::repair() { return RepairReport{}; }
Result<RepairReport> GitRefsStore::salvage() { return RepairReport{}; }

Result<Cursor> GitRefsStore::wait(Cursor since, std::int64_t most_ms) {
  const std::int64_t deadline_ms = clock_.now().boot_ms + most_ms;
  while (true) {
    const Result<View> view = read(Selection{});
    if (!view) return fail(view.error());
    const std::int64_t left_ms = deadline_ms - clock_.now().boot_ms;
    if (view->cursor > since || left_ms <= 0) return view->cursor;
    clock_.sleep_ms(std::min(left_ms, kPollMs));
  }
}

Result<History> GitRefsStore::history(const HistoryQuery& query) {
  const Result<View> view = read(Selection{});
  if (!view) return fail(view.error());
  const Result<std::vector<std::string>> messages = remote_.messages();
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
  History history{.events = {}, .cursor = view->cursor};
  for (const LogLine& line : lines) {
    for (const Event& event : line.events) {
      if (query.resource && event.resource != *query.resource) continue;
      history.events.push_back({.seq = line.seq, .unix_ms = line.unix_ms, .event = event});
    }
  }
  if (history.events.size() > query.newest)
    history.events.erase(history.events.begin(),
                         history.events.end() - static_cast<std::ptrdiff_t>(query.newest));
  return history;
}

// The largest number that this clone knows of. A new change gets a larger one, so that numbers
// follow what was known when the change was made. Nothing is lost with it but that order.
std::uint64_t GitRefsStore::highest_seen() {
  const Result<std::optional<std::string>> text =
      files_.read_file(remote_.place().directory + "/dibs-highest", 2 * kHighestFileMax);
  if (!text || !text->has_value()) return 0;
  std::uint64_t highest = 0;
  for (const std::string_view line : split(**text, '\n'))
    highest = std::max(highest, parse_unsigned(line).value_or(0));
  return highest;
}

void GitRefsStore::remember_highest(std::uint64_t seq) {
  if (seq <= highest_seen()) return;
  const std::string path = remote_.place().directory + "/dibs-highest";
  const std::string line = std::to_string(seq) + "\n";
  const Result<std::unique_ptr<File>> file = files_.open(path, Open::create_append, file_mode_);
  if (!file || !*file) return;
  const Result<std::uint64_t> size = (*file)->size();
  if (size && *size < kHighestFileMax) {
    (void)(*file)->append(line);
  } else {
    (void)files_.replace_file(path, line, file_mode_);
  }
}

Promises GitRefsStore::promises() const { return git_refs_promises(); }

Promises git_refs_promises() {
  return {.store = "git",
          .pause = "fenced",
          .partition = "safe; unreachable is unknown",
          .clock_jump = "skew margin of 30 s",
          .power_loss = "the server's own",
          .waiters = "none: backoff with jitter",
          .offline = "no"};
}

}  // namespace dibs
