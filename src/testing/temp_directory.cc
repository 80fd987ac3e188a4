#include "testing/temp_directory.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace dibs {

namespace fs = std::filesystem;

TempDirectory::TempDirectory() {
  std::string pattern = fs::canonical(fs::temp_directory_path()).string() + "/dibs-test-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
  path_ = pattern;
}

TempDirectory::~TempDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

bool run_program(const std::vector<std::string>& words) {
  std::vector<std::string> copies = words;
  std::vector<char*> argv;
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  for (const int stream : {0, 1, 2})
    posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", 2, 0);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, argv[0], &quiet, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&quiet);
  int status = 0;
  return failed == 0 && ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

bool run_git(const std::string& directory, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"env",
                                 "-u",
                                 "GIT_DIR",
                                 "-u",
                                 "GIT_WORK_TREE",
                                 "GIT_CONFIG_NOSYSTEM=1",
                                 "GIT_CONFIG_GLOBAL=/dev/null",
                                 "GIT_TERMINAL_PROMPT=0",
                                 "git",
                                 "-C",
                                 directory,
                                 "-c",
                                 "user.name=test",
                                 "-c",
                                 "user.email=test@example.com",
                                 "-c",
                                 "init.defaultBranch=main",
                                 "-c",
                                 "protocol.file.allow=always"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_program(words);
}

bool make_repository(const std::string& directory) {
  make_directories(directory);
  return run_git(directory, {"init", "-q"}) &&
         run_git(directory, {"commit", "-q", "--allow-empty", "-m", "first"});
}

std::string read_bytes(const std::string& path) {
  const std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

void write_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

void make_directories(const std::string& path) { fs::create_directories(path); }

void copy_tree(const std::string& from, const std::string& to) {
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
}

void move_tree(const std::string& from, const std::string& to) { fs::rename(from, to); }

void make_symlink(const std::string& target, const std::string& path) {
  fs::create_symlink(target, path);
}

}  // namespace dibs
