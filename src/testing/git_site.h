// A real bare repository that serves as the remote, and real clones of it.
#pragma once

#include <memory>
#include <string>

#include "git/git_program.h"
#include "store/git_store.h"
#include "sys/clock.h"
#include "sys/machine.h"
#include "sys/posix_file_system.h"
#include "sys/programs.h"
#include "sys/randomness.h"
#include "testing/hooked_files.h"
#include "testing/hooked_programs.h"
#include "testing/temp_directory.h"

namespace dibs {

class GitSite {
 public:
  explicit GitSite(std::string object_format = "sha1", std::string layout = "refs");

  [[nodiscard]] std::string remote() const { return directory_ / "remote.git"; }
  [[nodiscard]] std::string clone(const std::string& name);  // made when not there
  // With another clock than the system's, if given.
  [[nodiscard]] std::unique_ptr<GitStore> open(const std::string& clone_name,
                                               Clock* clock = nullptr);
  [[nodiscard]] RemoteRefs refs(const std::string& clone_name);
  [[nodiscard]] const GitProgram& git() const { return git_; }
  // What the stores use, so that a test can have it fail.
  [[nodiscard]] HookedFiles& files() { return hooked_files_; }
  [[nodiscard]] HookedPrograms& programs() { return hooked_programs_; }
  [[nodiscard]] GitStoreParts parts_with(Clock& clock);
  [[nodiscard]] GitStorePlace place_in(const std::string& clone_name);
  // The repository in which a clone's store keeps what it saw last.
  [[nodiscard]] std::string memory_of(const std::string& clone_name);

 private:
  [[nodiscard]] static bool has_target(const std::string& clone);

  std::string object_format_;
  std::string layout_;
  TempDirectory directory_;
  PosixFileSystem files_;
  SystemClock clock_;
  SystemRandom random_;
  LinuxMachine machine_;
  PosixPrograms programs_;
  HookedFiles hooked_files_{files_};
  HookedPrograms hooked_programs_{programs_};
  GitProgram git_;
};

}  // namespace dibs
