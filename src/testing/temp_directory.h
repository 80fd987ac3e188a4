// A real directory for one test, gone with everything in it when the test ends; and the real git,
// run in it without any of the caller's configuration.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dibs {

class TempDirectory {
 public:
  TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  ~TempDirectory();

  [[nodiscard]] const std::string& path() const { return path_; }  // absolute, no symbolic links
  [[nodiscard]] std::string operator/(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }

 private:
  std::string path_;
};

// Runs a program found in PATH and waits for it; whether it exited with 0.
[[nodiscard]] bool run_program(const std::vector<std::string>& words);

// `git -C directory arguments…`
[[nodiscard]] bool run_git(const std::string& directory, const std::vector<std::string>& arguments);

// A repository with one commit on main.
[[nodiscard]] bool make_repository(const std::string& directory);

// Plain files, for tests that need to look at or damage them from outside.
[[nodiscard]] std::string read_bytes(const std::string& path);
void write_bytes(const std::string& path, std::string_view bytes);
void make_directories(const std::string& path);
void copy_tree(const std::string& from, const std::string& to);
void move_tree(const std::string& from, const std::string& to);
void make_symlink(const std::string& target, const std::string& path);

}  // namespace dibs
