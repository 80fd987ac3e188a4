#include "items/item_sync.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/name_encoding.h"
#include "base/text.h"
#include "git/commits.h"
#include "git/local_refs.h"
#include "git/ref_files.h"
#include "items/item_tree_merge.h"
#include "items/native_items.h"

namespace dibs {

namespace {

constexpr int kTriesMax = 60;
constexpr std::uint64_t kFirstPauseMs = 20;
constexpr std::uint64_t kLongestPauseMs = 1'000;
constexpr int kDoublingsMax = 6;

Error unreadable(const ItemRemote& remote, const std::string& why) {
  return {
      .kind = ErrorKind::unreachable,
      .message = fmt::format("the remote {} cannot be read: {}", printable(remote.name), why),
      .hint = fmt::format("see whether git reaches it: git ls-remote {}", shell_word(remote.name)),
      .fields = {}};
}

Error unwritable(const ItemRemote& remote, const std::string& why) {
  return {
      .kind = ErrorKind::unreachable,
      .message = fmt::format("the remote {} cannot be written: {}", printable(remote.name), why),
      .hint =
          fmt::format("see whether git reaches it: git push --dry-run {}", shell_word(remote.name)),
      .fields = {}};
}

Error not_taken(const ItemRemote& remote, const std::string& why) {
  return {.kind = ErrorKind::refused,
          .message = fmt::format("the remote {} does not take dibs' items: {}",
                                 printable(remote.name), why),
          .hint = remote.prefix.starts_with("refs/heads/")
                      ? fmt::format("see whether you may write there: git push --dry-run {}",
                                    shell_word(remote.name))
                      : "if it takes branches only: dibs config set store.ref_prefix "
                        "refs/heads/dibs/",
          .fields = {}};
}

Error too_contended(const ItemRemote& remote) {
  return {.kind = ErrorKind::contended,
          .message = fmt::format("the items on {} change faster than ours get there",
                                 printable(remote.name)),
          .hint = "nothing is lost; run it again: dibs item sync",
          .fields = {}};
}

}  // namespace

std::string ItemSync::as_seen() const {
  return fmt::format("refs/dibs/remote-items/{}/items", encode_name(remote_.name));
}

GitProgram::Call ItemSync::call(std::vector<std::string> arguments) const {
  return {.git_dir = place_.common_dir, .arguments = std::move(arguments), .input = {}};
}

Result<std::string> ItemSync::commit_at(const std::string& ref) const {
  return RefFiles(parts_.files, place_.common_dir).commit_at(ref);
}

// One at a time: two of one clone would only be in each other's way. Changes do not wait for it.
Result<std::unique_ptr<FileLock>> ItemSync::take_turn() const {
  return parts_.files.lock(place_.directory + "/locks/items-sync.lock", Patience::wait,
                           place_.file_mode);
}

Result<std::optional<RefMove>> ItemSync::part_of_push(const std::string& from,
                                                      const std::string& to) const {
  const Result<std::string> theirs = commit_at(as_seen());
  if (!theirs) return fail(theirs.error());
  if (*theirs != from) return std::nullopt;
  return RefMove{.name = there(), .from = from, .to = to};
}

Done ItemSync::pushed(const RefMove& move) {
  const Result<std::unique_ptr<FileLock>> turn = take_turn();
  if (!turn) return fail(turn.error());
  clear_dead_lock();
  remember(move, **turn);
  ItemSyncEnd end;
  const Result<std::string> ours = bring_in(move.to, end);
  return ours ? Done{} : Done(fail(ours.error()));
}

Result<ItemSyncEnd> ItemSync::run(Begin begin) {
  const Result<std::unique_ptr<FileLock>> turn = take_turn();
  if (!turn) return fail(turn.error());
  clear_dead_lock();
  ItemSyncEnd end;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    if (tries > 0) pause(tries);
    if (tries > 0 || begin == Begin::fetch) {
      if (Done fetched = fetch(**turn); !fetched) return fail(fetched.error());
    }
    const Result<std::string> theirs = commit_at(as_seen());
    if (!theirs) return fail(theirs.error());
    const Result<std::string> ours = bring_in(*theirs, end);
    if (!ours) return fail(ours.error());
    if (*ours == *theirs) return end;
    const RefMove move{.name = there(), .from = *theirs, .to = *ours};
    const Result<PushEnd> pushed = push(move);
    if (!pushed) return fail(pushed.error());
    switch (pushed->kind) {
      case PushEnd::Kind::moved: {
        remember(move, **turn);
        const Result<std::size_t> count =
            count_between(parts_.git, place_.common_dir, move.from, move.to);
        if (!count) return fail(count.error());
        end.pushed = *count;
        return end;
      }
      case PushEnd::Kind::refused:
        return fail(not_taken(remote_, pushed->why));
      case PushEnd::Kind::unsent:
        return fail(unwritable(remote_, pushed->why));
      case PushEnd::Kind::lost:
      case PushEnd::Kind::unknown:  // the next fetch shows
        break;
    }
  }
  return fail(too_contended(remote_));
}

Done ItemSync::fetch(const FileLock& turn) const {
  // With a star behind it, a ref that is not there is no error; and one that went is forgotten.
  GitProgram::Call fetch = call({"fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
                                 "--no-recurse-submodules", "--prune", "--force", "--refmap=", "--",
                                 remote_.name, fmt::format("+{}*:{}*", there(), as_seen())});
  // The user's own settings decide how the remote is reached, not what else git does on the way.
  fetch.settings = {"gc.auto=0", "maintenance.auto=false", "fetch.writeCommitGraph=false"};
  fetch.under = &turn;
  const Result<ProgramEnd> end = parts_.git.run(fetch);
  if (!end) return fail(end.error());
  return end->succeeded() ? Done{} : fail(unreadable(remote_, complaint_of(*end)));
}

// Our items with theirs in them; says where ours are then.
Result<std::string> ItemSync::bring_in(const std::string& theirs, ItemSyncEnd& end) {
  const Result<ItemsTurn> turn = ItemsTurn::take(parts_.files, parts_.git, place_);
  if (!turn) return fail(turn.error());
  Result<std::string> ours = commit_at(kItemsRef);
  if (!ours || theirs.empty() || *ours == theirs) return ours;
  const Result<std::string> base = ours->empty() ? *ours : merge_base(*ours, theirs);
  if (!base) return fail(base.error());
  if (*base == theirs) return ours;
  Result<std::string> now = theirs;
  if (*base == *ours) {
    if (Done moved = move_here(*turn, *ours, theirs); !moved) return fail(moved.error());
  } else {
    now = merge(*turn, *base, *ours, theirs, end);
    if (!now) return now;
  }
  const Result<std::size_t> count = count_between(parts_.git, place_.common_dir, *ours, *now);
  if (!count) return fail(count.error());
  end.pulled += *count;
  return now;
}

// Empty when they have no commit in common: two clones that both began.
Result<std::string> ItemSync::merge_base(const std::string& ours, const std::string& theirs) const {
  const Result<ProgramEnd> end = parts_.git.run(call({"merge-base", ours, theirs}));
  if (!end) return fail(end.error());
  if (end->succeeded()) return first_line(end->out);
  if (end->cut == ProgramEnd::Cut::no && end->exit_code == 1) return std::string();
  return fail(ErrorKind::internal,
              fmt::format("git cannot compare two commits of items: {}", complaint_of(*end)));
}

Result<std::string> ItemSync::merge(const ItemsTurn& turn, const std::string& base,
                                    const std::string& ours, const std::string& theirs,
                                    ItemSyncEnd& end) {
  Result<ItemTreeMerge> merge = merge_item_trees(
      parts_.git, {.git_dir = place_.common_dir, .base = base, .ours = ours, .theirs = theirs});
  if (!merge) return fail(merge.error());
  BranchFiles::NewCommit commit{.parent = ours,
                                .changes = std::move(merge->changes),
                                .message = fmt::format("merge: the items of {}\n", remote_.name),
                                .unix_ms = parts_.clock.now().unix_ms,
                                .author = author_};
  commit.merged = theirs;
  commit.taken = std::move(merge->taken);
  const Result<std::optional<std::string>> made = turn.put(commit);
  if (!made) return fail(made.error());
  if (!made->has_value()) return fail(too_contended(remote_));  // somebody moved it without a turn
  end.merged += merge->merged;
  end.notes.insert(end.notes.end(), merge->notes.begin(), merge->notes.end());
  return **made;
}

Done ItemSync::move_here(const ItemsTurn& turn, const std::string& from, const std::string& to) {
  const Result<LocalRefs::End> end = turn.move(from, to, "dibs: items of " + remote_.name);
  if (!end) return fail(end.error());
  if (end->kind == LocalRefs::End::Kind::moved) return {};
  return fail(ErrorKind::contended, fmt::format("{} did not move: {}", kItemsRef, end->why),
              "nothing is lost; run it again: dibs item sync");
}

Result<PushEnd> ItemSync::push(const RefMove& move) const {
  GitProgram::Call push = call({"push", "--atomic", "--porcelain", "--no-verify", "--no-signed",
                                "--recurse-submodules=no",
                                fmt::format("--force-with-lease={}:{}", move.name, move.from), "--",
                                remote_.name, move.to + ":" + move.name});
  push.settings = {"push.followTags=false"};
  const Result<ProgramEnd> end = parts_.git.run(push);
  if (!end) return fail(end.error());
  return judge_push(*end, {move});
}

// When that fails, the next fetch finds out.
void ItemSync::remember(const RefMove& move, const FileLock& turn) {
  GitLocalRefs refs(parts_.files, parts_.git, place_.common_dir);
  (void)refs.move({{.name = as_seen(), .from = move.from, .to = move.to}}, "dibs: items sent",
                  &turn);
}

// A git that is killed leaves its lock on the ref. This one only dibs moves, and whoever has the
// turn is the only one at it; should it be another's after all, what was last seen is a guess
// anyway, which the push finds out.
void ItemSync::clear_dead_lock() {
  (void)parts_.files.remove(fmt::format("{}/{}.lock", place_.common_dir, as_seen()));
}

void ItemSync::pause(int tries) {
  const std::uint64_t most =
      std::min(kFirstPauseMs << std::min(tries, kDoublingsMax), kLongestPauseMs);
  parts_.clock.sleep_ms(static_cast<std::int64_t>(1 + parts_.random.below(most)));
}

}  // namespace dibs
