#include "store/git_lock_branch.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "store/log_line.h"

namespace dibs {

namespace {

constexpr std::string_view kNumbers = "dibs/seq/";
constexpr std::string_view kNumbersFolder = "dibs/seq";
constexpr std::size_t kTextsMax = 4096;
constexpr std::size_t kNewestOwn = 16;  // commits of ours that are looked at for a lost number

std::uint64_t number_in(std::string_view path) {
  if (!path.starts_with(kNumbers)) return 0;
  const std::uint64_t number = parse_unsigned(path.substr(kNumbers.size())).value_or(0);
  return number <= kSeqMax ? number : 0;
}

std::vector<FileChange> next_number(std::uint64_t seq) {
  return {{.path = std::string(kNumbersFolder), .text = std::nullopt},
          {.path = fmt::format("{}{}", kNumbers, seq), .text = ""}};
}

// The number of a change from what its commit says; zero when no dibs made it.
std::uint64_t number_of(std::string_view message) {
  const std::uint64_t seq = stated_seq(message).value_or(0);
  if (seq == 0 || seq > kSeqMax) return 0;
  const CheckedLine checked = check_line({.seq = seq - 1, .crc = 0, .offset = 0}, message);
  return checked.fault == LineFault::none ? seq : 0;
}

}  // namespace

Result<GitLockBranch::Tip> GitLockBranch::last_tip() {
  Result<std::string> commit = remote_.commit_at(ref());
  if (!commit) return fail(commit.error());
  if (!commit->empty()) return Tip{.commit = *std::move(commit)};
  const Result<std::vector<SeenRef>> gone = remote_.gone();
  if (!gone) return fail(gone.error());
  const auto last = std::ranges::find(*gone, ref(), &SeenRef::name);
  if (last == gone->end()) return Tip{};
  return Tip{.commit = last->commit, .gone = true};
}

Result<const GitLockBranch::Listing*> GitLockBranch::list(const std::string& commit,
                                                          const std::vector<Key>& keys) {
  Listing listing{.commit = commit};
  for (const Key& key : keys) listing.paths.push_back(lock_path(key));
  if (listing_ && listing_->commit == commit && listing_->paths == listing.paths) return &*listing_;
  std::vector<std::string> wanted = listing.paths;
  if (!wanted.empty()) wanted.emplace_back(kNumbers);
  Result<std::vector<BranchEntry>> entries = branch_.list(commit, wanted);
  if (!entries) return fail(entries.error());
  for (BranchEntry& entry : *entries) {
    listing.seq = std::max(listing.seq, number_in(entry.path));
    if (is_lock_path(entry.path)) listing.entries.emplace(entry.path, std::move(entry));
  }
  listing_ = std::move(listing);
  return &*listing_;
}

Done GitLockBranch::read_files(const Listing& listing) {
  if (texts_.size() > kTextsMax) texts_.clear();
  std::vector<std::string> unknown;
  for (const auto& [path, entry] : listing.entries) {
    if (entry.is_file && !texts_.contains(entry.object)) unknown.push_back(entry.object);
  }
  return branch_.read_each(unknown, kLockYamlMax, [&](const ObjectText& object) {
    if (object.text) texts_.emplace(unknown[object.number], *object.text);
  });
}

Result<Record> GitLockBranch::record_at(const BranchEntry& entry) const {
  if (!entry.is_file) return fail(ErrorKind::internal, "it is not a file");
  const auto text = texts_.find(entry.object);
  if (text == texts_.end()) return fail(ErrorKind::internal, "it is too large");
  return record_in(entry.path, text->second);
}

Error GitLockBranch::unreadable(const std::string& path, const std::string& why) const {
  const std::string branch = ref().substr(ref().rfind("heads/") + 6);
  return {
      .kind = ErrorKind::unreachable,
      .message = fmt::format("who holds {} on the branch {} is unknown: {}", printable(path),
                             printable(branch), why),
      .hint = fmt::format("look at it with: git fetch {} {} && git show FETCH_HEAD:{}",
                          shell_word(remote_.place().remote), shell_word(branch), shell_word(path)),
      .fields = {}};
}

Result<Sight> GitLockBranch::seen(const std::vector<Key>& keys) {
  const Result<Tip> tip = last_tip();
  if (!tip) return fail(tip.error());
  tip_ = *tip;
  if (tip_.commit.empty()) return Sight{};
  const Result<const Listing*> listing = list(tip_.commit, keys);
  if (!listing) return fail(listing.error());
  if (Done read = read_files(**listing); !read) return fail(read.error());
  Sight sight;
  if (keys.empty()) passed_over_.clear();
  for (const auto& [path, entry] : (*listing)->entries) {
    Result<Record> record = record_at(entry);
    if (record) {
      const Key key = record->key;
      Seen seen{.commit = tip_.commit, .seq = record->fence.value, .record = *std::move(record)};
      seen.gone = tip_.gone;
      sight.emplace(key, std::move(seen));
      continue;
    }
    // Never taken for free: whatever is there was put there by someone. It hides nothing else.
    Error error = unreadable(path, record.error().message);
    if (!keys.empty()) return fail(std::move(error));
    passed_over_.push_back(path);
    if (passed_over_.size() <= kUnreadNoticesMax) notice_(error.message);
  }
  if (passed_over_.size() > kUnreadNoticesMax)
    notice_(more_unread(passed_over_.size() - kUnreadNoticesMax));
  return sight;
}

// A branch that the remote has lost still counts as it was last seen, and the next change brings it
// back with all that was on it.
Result<Sight> GitLockBranch::look(const std::vector<Key>& keys) {
  const Result<std::vector<SeenRef>> gone = remote_.look({ref()});
  if (!gone) return fail(gone.error());
  std::vector<SeenRef> lost = *gone;
  std::erase_if(lost, [&](const SeenRef& seen) { return seen.name != ref(); });
  if (!lost.empty()) {
    if (Done kept = remote_.keep_gone(lost); !kept) return fail(kept.error());
  }
  return seen(keys);
}

// Another tool that rebuilds the tree may drop what it does not know. Changes follow each other on
// one branch, so the newest of ours has the highest number.
Result<std::uint64_t> GitLockBranch::seq_in_history(const std::string& commit) {
  const Result<std::vector<std::string>> messages =
      branch_.messages(commit, R"({"schema_version":1,"seq":)", kNewestOwn);
  if (!messages) return fail(messages.error());
  std::uint64_t highest = 0;
  for (const std::string& message : *messages) highest = std::max(highest, number_of(message));
  return highest;
}

Result<std::uint64_t> GitLockBranch::floor() {
  if (tip_.commit.empty()) return 0;
  if (listing_->seq == 0) {
    const Result<std::uint64_t> seq = seq_in_history(tip_.commit);
    if (!seq) return seq;
    listing_->seq = *seq;
  }
  return listing_->seq;
}

// What stands at the place of a record, by the listing that its sight came from.
std::string GitLockBranch::text_before(const Key& key) const {
  if (tip_.commit.empty()) return {};
  const auto entry = listing_->entries.find(lock_path(key));
  return entry == listing_->entries.end() ? std::string() : texts_.at(entry->second.object);
}

Result<std::vector<RefMove>> GitLockBranch::prepare(const Transaction& transaction,
                                                    const Sight& /*sight*/, Turn turn) {
  const Result<std::string> message = change_text(line_for(transaction, turn.now_ms), turn);
  if (!message) return fail(message.error());
  BranchFiles::NewCommit commit{.parent = tip_.commit,
                                .changes = next_number(turn.before + 1),
                                .message = *message,
                                .unix_ms = turn.now_ms};
  for (const Write& write : transaction.writes) {
    FileChange change{.path = lock_path(write.key), .text = std::nullopt};
    if (write.value) {
      const Record record{.key = write.key,
                          .value = *write.value,
                          .version = {turn.before + 1},
                          .fence = {turn.before + 1},
                          .nonce = transaction.nonce};
      change.text = lock_text(record, text_before(write.key), holder_);
    }
    commit.changes.push_back(std::move(change));
  }
  const Result<std::string> made = branch_.write(commit);
  if (!made) return fail(made.error());
  return std::vector<RefMove>{{.name = ref(), .from = tip_.gone ? "" : tip_.commit, .to = *made}};
}

// Brings back a branch that was lost; the other tool may well have made it first.
Result<std::optional<RefMove>> GitLockBranch::beginning(std::int64_t now_ms) {
  if (tip_.gone) return RefMove{.name = ref(), .from = "", .to = tip_.commit};
  if (!tip_.commit.empty()) return std::nullopt;
  const Result<std::string> made =
      branch_.write({.parent = {},
                     .changes = {{.path = fmt::format("{}0", kNumbers), .text = ""}},
                     .message = "Locks, one file each\n",
                     .unix_ms = now_ms});
  if (!made) return fail(made.error());
  return RefMove{.name = ref(), .from = "", .to = *made};
}

Result<std::vector<std::string>> GitLockBranch::messages() { return remote_.messages(); }

// A lock that is given back leaves nothing behind, so there is nothing to put away.
Result<GitLayout::Tidying> GitLockBranch::tidying(const Sight& /*all*/, Turn /*turn*/) {
  return Tidying{};
}

std::vector<Finding> GitLockBranch::inspect(const Sight& /*all*/) {
  std::vector<Finding> findings;
  for (const std::string& path : passed_over_) {
    const Error error = unreadable(path, "dibs cannot read it");
    findings.push_back(
        {.level = Finding::Level::warning, .what = error.message, .fix = error.hint});
  }
  if (tip_.gone) {
    findings.push_back(
        {.level = Finding::Level::warning,
         .what = fmt::format("the remote {} has lost {}; what was on it last still counts here",
                             printable(remote_.place().remote), printable(ref())),
         .fix =
             fmt::format("dibs init --store git --remote {}", shell_word(remote_.place().remote))});
  }
  return findings;
}

}  // namespace dibs
