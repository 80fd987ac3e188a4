#include "items/items_turn.h"

#include <fmt/core.h>

#include "base/text.h"
#include "git/ref_file_move.h"

namespace dibs {

namespace {

constexpr std::size_t kRefLockBytesMax = 4096;
constexpr std::size_t kNoteBytesMax = 1024UL * 1024;

// What the commit says but for its tree, which is its first line.
std::string_view behind_tree(std::string_view commit) {
  const std::size_t end = commit.find('\n');
  return end == std::string_view::npos ? std::string_view() : commit.substr(end + 1);
}

}  // namespace

Result<ItemsTurn> ItemsTurn::take(FileSystem& files, const GitProgram& git,
                                  CatalogCache::Place place) {
  ItemsTurn turn(files, git, std::move(place));
  Result<std::unique_ptr<FileLock>> lock = files.lock(turn.place_.directory + "/locks/items.lock",
                                                      Patience::wait, turn.place_.file_mode);
  if (!lock) return fail(lock.error());
  turn.lock_ = *std::move(lock);
  if (Done cleared = turn.clear_dead_lock(); !cleared) return fail(cleared.error());
  return turn;
}

Result<std::optional<std::string>> ItemsTurn::put(const BranchFiles::NewCommit& commit) const {
  if (Done noted = write_down(BranchFiles::told_by(commit)); !noted) return fail(noted.error());
  Result<std::optional<std::string>> made =
      BranchFiles(*git_, place_.common_dir).put(commit, kItemsRef, lock_.get());
  if (!made || !made->has_value()) return made;
  if (Done flushed = flush_ref_folder(*files_, place_.common_dir, kItemsRef); !flushed)
    return fail(flushed.error());
  return made;
}

Result<LocalRefs::End> ItemsTurn::move(const std::string& from, const std::string& to,
                                       const std::string& reason) const {
  if (Done noted = write_down(to); !noted) return fail(noted.error());
  const RefMove move{.name = kItemsRef, .from = from, .to = to};
  if (place_.file_mode == kPrivateFile) {  // where others of a group write too, git knows the modes
    const RefFilePlace place{.common_dir = place_.common_dir,
                             .prepared = place_.directory + "/items.next"};
    Result<std::optional<LocalRefs::End>> end = move_ref_file(*files_, place, move);
    if (!end) return fail(end.error());
    if (end->has_value()) return **std::move(end);
  }
  return GitLocalRefs(*files_, *git_, place_.common_dir).move({move}, reason, lock_.get());
}

// Not flushed: what a power cut leaves is not known by it, and outlasts every git.
Done ItemsTurn::write_down(const std::string& what) const {
  const Result<std::unique_ptr<File>> note =
      files_->open(note_path(), Open::create_append, place_.file_mode);
  if (!note) return fail(note.error());
  if (Done emptied = (*note)->truncate(0); !emptied) return emptied;
  return (*note)->append(what);
}

// Before the lock becomes the ref there stands in it what the ref is to be. If that is what the
// turn before this one was about to do, whoever made it is dead. Any other may be a living git's.
Done ItemsTurn::clear_dead_lock() const {
  const std::string path = fmt::format("{}/{}.lock", place_.common_dir, kItemsRef);
  const Result<std::optional<std::string>> text = files_->read_file(path, kRefLockBytesMax);
  if (!text) return fail(text.error());
  if (!text->has_value()) return {};
  const Result<bool> ours = was_written_down(std::string(trim(**text)));
  if (!ours) return fail(ours.error());
  return *ours ? files_->remove(path) : clear_left_lock(*files_, *git_, path);
}

Result<bool> ItemsTurn::was_written_down(const std::string& commit) const {
  const Result<std::optional<std::string>> note = files_->read_file(note_path(), kNoteBytesMax);
  if (!note) return fail(note.error());
  if (commit.empty() || !note->has_value() || (*note)->empty()) return false;
  if (**note == commit) return true;
  const Result<ProgramEnd> end = git_->run(
      {.git_dir = place_.common_dir, .arguments = {"cat-file", "commit", commit}, .input = {}});
  if (!end) return fail(end.error());
  return end->succeeded() && behind_tree(end->out) == **note;
}

}  // namespace dibs
