// A directory for one run, removed with everything in it when the handle goes. One that a killed
// process left can be told from one in use: whoever uses it has it locked.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "sys/descriptor.h"

namespace dibs {

class ScratchDirectory {
 public:
  // In `parent`, under a name nobody can guess.
  [[nodiscard]] static Result<ScratchDirectory> make(const std::string& parent);
  // Whether a directory entry is called like one.
  [[nodiscard]] static bool is_name(std::string_view name);
  // Removes one that nobody uses; whether it did.
  [[nodiscard]] static bool remove_abandoned(const std::string& path);

  ScratchDirectory(ScratchDirectory&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)), keep_(other.keep_) {}
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory();

  [[nodiscard]] const std::string& path() const { return path_; }
  void keep() { keep_ = true; }

 private:
  explicit ScratchDirectory(std::string path);

  std::string path_;
  Descriptor lock_;
  bool keep_ = false;
};

}  // namespace dibs
