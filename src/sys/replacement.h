// A file that is written bit by bit beside the one it will replace: what is large need not be in
// memory as a whole first. Whoever opens the path meanwhile sees the old one.
//
//   Result<Replacement> made = Replacement::begin(files, path, mode);
//   … made->file().append(bytes) …
//   made->put_in_place(Replacement::Keep::until_reboot);
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "sys/file_system.h"

namespace dibs {

class Replacement {
 public:
  // Under a name nobody can guess, in the same directory.
  [[nodiscard]] static Result<Replacement> begin(FileSystem& files, std::string path,
                                                 unsigned mode);
  Replacement(Replacement&&) = default;
  Replacement& operator=(Replacement&&) = delete;
  // What was not put in place is removed.
  ~Replacement();

  [[nodiscard]] File& file() { return *file_; }

  enum class Keep {
    through_power_loss,  // as FileSystem::replace_file does
    until_reboot,        // not flushed: after one, anything may stand there
  };
  [[nodiscard]] Done put_in_place(Keep keep);

 private:
  Replacement(FileSystem& files, std::string path, std::string temp, std::unique_ptr<File> file)
      : files_(files), path_(std::move(path)), temp_(std::move(temp)), file_(std::move(file)) {}

  FileSystem& files_;
  std::string path_;
  std::string temp_;
  std::unique_ptr<File> file_;  // null once it is in place
};

}  // namespace dibs
