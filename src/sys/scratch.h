// A directory for one run, removed with everything in it when the handle goes.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace dibs {

class ScratchDirectory {
 public:
  // Below $TMPDIR or /tmp, under a name nobody can guess.
  [[nodiscard]] static Result<ScratchDirectory> make(const std::string& parent);

  ScratchDirectory(ScratchDirectory&& other) noexcept
      : path_(std::exchange(other.path_, {})), keep_(other.keep_) {}
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory();

  [[nodiscard]] const std::string& path() const { return path_; }
  void keep() { keep_ = true; }

 private:
  explicit ScratchDirectory(std::string path) : path_(std::move(path)) {}

  std::string path_;
  bool keep_ = false;
};

}  // namespace dibs
