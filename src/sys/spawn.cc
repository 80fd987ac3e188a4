#include "sys/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
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
  posix_spawnattr_setflags(
      &attributes,
      static_cast<short>(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);  // we ignore it; they must not
  for (const int signal : what.heard) sigaddset(&defaults, signal);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
}

Error cannot_start(const Spawn& what, int error) {
  return {
      .kind = ErrorKind::internal,
      .message = "cannot start " + printable(what.command.front()) + ": " + std::strerror(error),
      .hint = {},
      .fields = {}};
}

// A Ctrl-C that came before the child had left our group was meant for us alone. Only who ignores a
// signal forgets that it came.
void forget_what_the_terminal_sent() {
  for (const int signal : {SIGINT, SIGQUIT, SIGTSTP, SIGHUP}) {
    if (std::signal(signal, SIG_IGN) != SIG_IGN) std::signal(signal, SIG_DFL);
  }
}

// In the child, where nothing may be allocated. Says what went wrong into the pipe, if it did.
[[noreturn]] void become(const Spawn& what, char* const* words, char* const* environment,
                         const Pipe& trouble) {
  ::setpgid(0, 0);
  forget_what_the_terminal_sent();
  std::signal(SIGPIPE, SIG_DFL);
  for (const int signal : what.heard) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  const int in = what.in >= 0 ? what.in : ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const bool ready = ::chdir(what.directory.c_str()) == 0 && ::dup2(in, STDIN_FILENO) >= 0 &&
                     ::dup2(what.out, STDOUT_FILENO) >= 0 && ::dup2(what.err, STDERR_FILENO) >= 0 &&
                     (what.kept_open < 0 || ::fcntl(what.kept_open, F_SETFD, 0) == 0);
  if (ready && ::sigprocmask(SIG_SETMASK, &none, nullptr) == 0)
    ::execvpe(words[0], words, environment);
  const int error = errno;
  (void)!::write(trouble.write_end.get(), &error, sizeof error);
  ::_exit(127);
}

// posix_spawn would hand the child a signal that was sent to our group while it was still in it.
Result<pid_t> spawn_group(const Spawn& what) {
  std::vector<std::string> words = what.command;
  std::vector<std::string> environment = what.environment;
  const std::vector<char*> word_pointers = pointers_to(words);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  Result<Pipe> trouble = make_pipe();
  if (!trouble) return fail(trouble.error());
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) become(what, word_pointers.data(), environment_pointers.data(), *trouble);
  const int fork_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return fail(cannot_start(what, fork_error));
  trouble->write_end = Descriptor();
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(trouble->read_end.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof error) return pid;  // it is the program now, and its end of the pipe is closed
  ::waitpid(pid, nullptr, 0);
  return fail(cannot_start(what, error));
}

// In a session of its own.
Result<pid_t> spawn_session(const Spawn& what) {
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
  return fail(cannot_start(what, error));
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
  return what.leads == Spawn::Leads::session ? spawn_session(what) : spawn_group(what);
}

}  // namespace dibs
