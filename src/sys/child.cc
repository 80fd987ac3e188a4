#include "sys/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace dibs {

namespace {
int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
}  // namespace

Result<Child> Child::start(const ChildStart& start) {
  std::vector<std::string> words = start.command;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addchdir_np(&actions, start.directory.c_str());
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, argv.front(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return Child(pid);
  return fail(ErrorKind::internal, "cannot start " + words.front() + ": " + std::strerror(error));
}

Child::Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, 0)), ended_(other.ended_) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(ended_, other.ended_);
  return *this;
}

Child::~Child() {
  if (pid_ == 0 || ended_) return;
  kill();
  (void)wait();
}

std::optional<int> Child::poll() {
  if (ended_) return ended_;
  int status = 0;
  if (::waitpid(static_cast<pid_t>(pid_), &status, WNOHANG) == pid_) ended_ = exit_code_of(status);
  return ended_;
}

int Child::wait() {
  int status = 0;
  while (!ended_) {
    const pid_t got = ::waitpid(static_cast<pid_t>(pid_), &status, 0);
    if (got == pid_) ended_ = exit_code_of(status);
    if (got < 0 && errno != EINTR) ended_ = 1;
  }
  return *ended_;
}

void Child::kill() { ::kill(static_cast<pid_t>(pid_), SIGKILL); }

}  // namespace dibs
