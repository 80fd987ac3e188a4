#include "sys/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/text.h"

namespace dibs {

namespace {

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string_view name_in(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

struct FileActions {
  FileActions() { posix_spawn_file_actions_init(&list); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&list); }
  posix_spawn_file_actions_t list{};
};

struct Attributes {
  Attributes() { posix_spawnattr_init(&list); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { posix_spawnattr_destroy(&list); }
  posix_spawnattr_t list{};
};

void give_streams(posix_spawn_file_actions_t& actions, const Spawn& what) {
  if (what.in >= 0) {
    posix_spawn_file_actions_adddup2(&actions, what.in, STDIN_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, what.out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, what.err, STDERR_FILENO);
  // Onto itself: that is how it loses its close-on-exec.
  if (what.kept_open >= 0)
    posix_spawn_file_actions_adddup2(&actions, what.kept_open, what.kept_open);
}

void set_attributes(posix_spawnattr_t& attributes, const Spawn& what) {
  const int leads =
      what.leads == Spawn::Leads::session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
  posix_spawnattr_setflags(
      &attributes, static_cast<short>(leads | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);  // we ignore it; they must not
  for (const int signal : what.heard) sigaddset(&defaults, signal);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
}

}  // namespace

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(ErrorKind::internal, std::string("cannot make a pipe: ") + std::strerror(errno));
  return Pipe{.read_end = Descriptor(ends[0]), .write_end = Descriptor(ends[1])};
}

// Ours, without what is changed, and then the changes.
std::vector<std::string> changed_environment(const std::vector<std::string>& changes) {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view name = name_in(*entry);
    const bool stays = std::ranges::none_of(
        changes, [&](const std::string& change) { return name_in(change) == name; });
    if (stays) all.emplace_back(*entry);
  }
  for (const std::string& change : changes) {
    if (contains(change, "=")) all.push_back(change);
  }
  return all;
}

Result<pid_t> spawn(const Spawn& what) {
  std::vector<std::string> words = what.command;
  std::vector<std::string> environment = what.environment;
  FileActions actions;
  posix_spawn_file_actions_addchdir_np(&actions.list, what.directory.c_str());
  give_streams(actions.list, what);
  Attributes attributes;
  set_attributes(attributes.list, what);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, words.front().c_str(), &actions.list, &attributes.list,
                                 pointers_to(words).data(), pointers_to(environment).data());
  if (error == 0) return pid;
  return fail(ErrorKind::internal,
              "cannot start " + printable(words.front()) + ": " + std::strerror(error));
}

}  // namespace dibs
