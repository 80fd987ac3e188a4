// Refs of the user's own repository, moved all or none. What landing is made of where the store is
// on this machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "git/git_program.h"
#include "model/ref_move.h"

namespace dibs {

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
};

/// By the git program, in one `update-ref` transaction.
class GitLocalRefs final : public LocalRefs {
 public:
  GitLocalRefs(const GitProgram& git, std::string common_dir)
      : git_(git), common_dir_(std::move(common_dir)) {}

  [[nodiscard]] Result<End> move(const std::vector<RefMove>& moves, const std::string& reason,
                                 const FileLock* under = nullptr) override;
  [[nodiscard]] Result<std::string> commit_at(const std::string& ref) override;
  [[nodiscard]] Result<bool> contains(const std::string& ref, const std::string& commit) override;

 private:
  const GitProgram& git_;
  std::string common_dir_;
};

}  // namespace dibs
