// Refs of the user's own repository, moved all or none. What landing is made of where the store is
// on this machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "git/git_program.h"
#include "model/ref_move.h"
#include "sys/file_system.h"

namespace dibs {

// What is to be said when git could not lock a ref, because another git is at it or one died there.
// Which, only a person can tell. Nothing when it failed for another reason.
[[nodiscard]] std::optional<Error> lock_in_the_way(const ProgramEnd& end);

// Removes the lock of a ref when it is nobody's, as a power cut leaves it. It may be that of a git
// that began a moment ago, so it goes only if it outlasts every git that was running when it was
// seen.
[[nodiscard]] Done clear_left_lock(FileSystem& files, const GitProgram& git,
                                   const std::string& path);

// A ref that git has moved, in its place on the disk. It may be in no file of its own, or gone with
// its folder: git has flushed that.
[[nodiscard]] Done flush_ref_folder(FileSystem& files, const std::string& common_dir,
                                    const std::string& name);

class LocalRefs {
 public:
  virtual ~LocalRefs() = default;

  struct End {
    enum class Kind {
      moved,
      turned_down,  // nothing moved: one is not where it was seen, or is locked
      unknown,      // git was cut short; some may have moved
    };
    Kind kind = Kind::unknown;
    std::string why;
  };
  // On disk when it says `moved`. `reason` goes into the refs' logs. `under` is a lock that git
  // goes on holding if we are killed: whoever takes it next finds refs that do not move any more.
  [[nodiscard]] virtual Result<End> move(const std::vector<RefMove>& moves,
                                         const std::string& reason,
                                         const FileLock* under = nullptr) = 0;
  // Where a ref stands; empty when there is none.
  [[nodiscard]] virtual Result<std::string> commit_at(const std::string& ref) = 0;
  // Whether the ref is there and `commit` is part of its history.
  [[nodiscard]] virtual Result<bool> contains(const std::string& ref,
                                              const std::string& commit) = 0;
  // Removes the lock that a git which was killed in this move left on the ref; one that may be a
  // living git's stays. Only for whoever knows that no git of ours is at it any more.
  [[nodiscard]] virtual Done clear_lock(const RefMove& move) = 0;
};

/// A git directory of the user's repository with a HEAD of its own, made when it is not there.
/// Where the user's HEAD names a ref that moves, git would lock that too, with an empty file that
/// does not say whose it is.
struct OwnHead {
  std::string directory = {};  // two levels below the common one; empty: git uses the user's HEAD
  unsigned mode = kPrivateDirectory;
};

/// By the git program, in one `update-ref` transaction.
class GitLocalRefs final : public LocalRefs {
 public:
  GitLocalRefs(FileSystem& files, const GitProgram& git, std::string common_dir, OwnHead own = {})
      : files_(files), git_(git), common_dir_(std::move(common_dir)), own_(std::move(own)) {}

  [[nodiscard]] Result<End> move(const std::vector<RefMove>& moves, const std::string& reason,
                                 const FileLock* under = nullptr) override;
  [[nodiscard]] Result<std::string> commit_at(const std::string& ref) override;
  [[nodiscard]] Result<bool> contains(const std::string& ref, const std::string& commit) override;
  [[nodiscard]] Done clear_lock(const RefMove& move) override;

 private:
  [[nodiscard]] Result<std::string> git_dir();
  [[nodiscard]] Result<End> flushed(const std::vector<RefMove>& moves);

  FileSystem& files_;
  const GitProgram& git_;
  std::string common_dir_;
  OwnHead own_;
};

}  // namespace dibs
