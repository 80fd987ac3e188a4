#include "sys/programs.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "sys/descriptor.h"

namespace dibs {

namespace {

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(ErrorKind::internal, std::string("cannot make a pipe: ") + std::strerror(errno));
  return Pipe{.read_end = Descriptor(ends[0]), .write_end = Descriptor(ends[1])};
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

Result<pid_t> spawn(const ProgramCall& call, const Pipe& in, const Pipe& out, const Pipe& err) {
  std::vector<std::string> words = call.command;
  std::vector<std::string> environment = call.environment;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read_end.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write_end.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write_end.get(), STDERR_FILENO);
  // Onto itself: that is how it loses its close-on-exec.
  if (call.kept_open >= 0)
    posix_spawn_file_actions_adddup2(&actions, call.kept_open, call.kept_open);
  posix_spawn_file_actions_addchdir_np(&actions, call.directory.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);  // we ignore it; they must not
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, words.front().c_str(), &actions, &attributes,
                                 pointers_to(words).data(), pointers_to(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return pid;
  return fail(ErrorKind::internal,
              "cannot start " + printable(words.front()) + ": " + std::strerror(error));
}

std::int64_t monotonic_ms() {
  using std::chrono::milliseconds;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<milliseconds>(now).count();
}

void set_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

// Reads once, so that one who never stops is noticed between two reads; closes the descriptor at
// its end.
void drain(Descriptor& fd, std::string& into) {
  std::array<char, 64UL * 1024> buffer{};
  const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
  if (got > 0) into.append(buffer.data(), static_cast<std::size_t>(got));
  const bool later = got < 0 && (errno == EINTR || errno == EAGAIN);
  if (got <= 0 && !later) fd = Descriptor();
}

void feed(Descriptor& fd, std::string_view& input) {
  const ssize_t put = ::write(fd.get(), input.data(), input.size());
  if (put > 0) input.remove_prefix(static_cast<std::size_t>(put));
  const bool gone = put < 0 && errno != EAGAIN && errno != EINTR;  // it does not want more
  if (gone || input.empty()) fd = Descriptor();
}

// Until both outputs end, or it is to be cut.
ProgramEnd::Cut converse(const ProgramCall& call, Descriptor in, Descriptor out, Descriptor err,
                         ProgramEnd& end) {
  const std::int64_t deadline_ms = monotonic_ms() + call.most_ms;
  std::string_view input = call.input;
  for (const Descriptor* fd : {&in, &out, &err}) set_nonblocking(fd->get());
  if (input.empty()) in = Descriptor();
  while (out.is_open() || err.is_open()) {
    const std::int64_t left_ms = deadline_ms - monotonic_ms();
    if (left_ms <= 0) return ProgramEnd::Cut::timed_out;
    // A negative descriptor is passed over by poll.
    std::array<pollfd, 3> polled{{{.fd = in.get(), .events = POLLOUT, .revents = 0},
                                  {.fd = out.get(), .events = POLLIN, .revents = 0},
                                  {.fd = err.get(), .events = POLLIN, .revents = 0}}};
    const int ready = ::poll(polled.data(), polled.size(),
                             static_cast<int>(std::min<std::int64_t>(left_ms, 60'000)));
    if (ready <= 0) continue;
    if (polled[0].revents != 0) feed(in, input);
    if (polled[1].revents != 0) drain(out, end.out);
    if (polled[1].revents != 0 && call.heard) call.heard(end.out);
    if (polled[2].revents != 0) drain(err, end.err);
    if (std::max(end.out.size(), end.err.size()) > call.most_output)
      return ProgramEnd::Cut::said_too_much;
  }
  return ProgramEnd::Cut::no;
}

}  // namespace

Result<ProgramEnd> PosixPrograms::run(const ProgramCall& call) {
  Result<Pipe> in = make_pipe();
  Result<Pipe> out = make_pipe();
  Result<Pipe> err = make_pipe();
  for (const Result<Pipe>* pipe : {&in, &out, &err})
    if (!*pipe) return fail(pipe->error());
  const Result<pid_t> pid = spawn(call, *in, *out, *err);
  if (!pid) return fail(pid.error());
  in->read_end = Descriptor();
  out->write_end = Descriptor();
  err->write_end = Descriptor();

  ProgramEnd end;
  end.cut = converse(call, std::move(in->write_end), std::move(out->read_end),
                     std::move(err->read_end), end);
  if (end.cut != ProgramEnd::Cut::no) ::kill(-*pid, SIGKILL);  // and whatever it started
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  end.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return end;
}

}  // namespace dibs
