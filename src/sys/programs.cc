#include "sys/programs.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <memory>
#include <span>
#include <utility>

#include "base/text.h"
#include "sys/clock.h"
#include "sys/processes.h"
#include "sys/spawn.h"

namespace dibs {

namespace {

void set_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

constexpr std::size_t kChunkBytes = 64UL * 1024;  // what a pipe holds
constexpr int kStreamBytes = 1024 * 1024;         // and one that much is heard from
// Whoever says much says it in small pieces. To be woken for each of them costs both sides more
// than the words do, so for fewer than so many bytes one waits a moment for more.
constexpr std::size_t kFewBytes = 128UL * 1024;
constexpr long kMomentNs = 500'000;

/// Where what is read goes first; too large to be cleared every time.
class Chunk {
 public:
  explicit Chunk(std::size_t bytes)
      : bytes_(std::make_unique_for_overwrite<char[]>(bytes)), size_(bytes) {}
  [[nodiscard]] std::span<char> span() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_;
};

// Reads once, so that one who never stops is noticed between two reads; closes the descriptor at
// its end. How many bytes it got.
std::size_t drain(Descriptor& fd, std::span<char> buffer, std::string& into) {
  const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
  const bool later = got < 0 && (errno == EINTR || errno == EAGAIN);
  if (got <= 0 && !later) fd = Descriptor();
  if (got <= 0) return 0;
  into.append(buffer.data(), static_cast<std::size_t>(got));
  return static_cast<std::size_t>(got);
}

void wait_a_moment() {
  const timespec moment{.tv_sec = 0, .tv_nsec = kMomentNs};
  ::nanosleep(&moment, nullptr);
}

void feed(Descriptor& fd, std::string_view& input) {
  const ssize_t put = ::write(fd.get(), input.data(), input.size());
  if (put > 0) input.remove_prefix(static_cast<std::size_t>(put));
  const bool gone = put < 0 && errno != EAGAIN && errno != EINTR;  // it does not want more
  if (gone || input.empty()) fd = Descriptor();
}

// Those that it starts have the same bounds. It has begun by now, but to find its way takes it
// longer than this.
void bound(pid_t pid, const ProgramCall& call) {
  const auto at_most = [&](__rlimit_resource resource, std::uint64_t bytes) {
    const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
    if (bytes > 0) ::prlimit(pid, resource, &limit, nullptr);
  };
  at_most(RLIMIT_FSIZE, call.most_file_bytes);
  at_most(RLIMIT_DATA, call.most_memory_bytes);
}

// Until both outputs end, or it is to be cut.
ProgramEnd::Cut converse(const ProgramCall& call, Descriptor in, Descriptor out, Descriptor err,
                         ProgramEnd& end) {
  const std::string later = call.later_input ? call.later_input() : std::string();
  const std::int64_t deadline_ms = monotonic_ms() + call.most_ms;
  std::string_view input = call.later_input ? later : call.input;
  for (const Descriptor* fd : {&in, &out, &err}) set_nonblocking(fd->get());
  if (input.empty()) in = Descriptor();
  const Chunk chunk(call.heard ? kStreamBytes : kChunkBytes);
  // The fewer turns the two take, the better; where it is not allowed, so be it.
  if (call.heard) ::fcntl(out.get(), F_SETPIPE_SZ, kStreamBytes);
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
    const std::size_t got = polled[1].revents != 0 ? drain(out, chunk.span(), end.out) : 0;
    if (got > 0 && call.heard) call.heard(end.out);
    if (polled[2].revents != 0) (void)drain(err, chunk.span(), end.err);
    // What it has been asked already will keep it busy meanwhile.
    if (got > 0 && got < kFewBytes && call.heard && !input.empty()) wait_a_moment();
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
  const Result<pid_t> pid = spawn({.command = call.command,
                                   .directory = call.directory,
                                   .environment = call.environment,
                                   .in = in->read_end.get(),
                                   .out = out->write_end.get(),
                                   .err = err->write_end.get(),
                                   .kept_open = call.kept_open});
  if (!pid) return fail(pid.error());
  bound(*pid, call);
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

// A pid that is used again only makes it wait for one more.
bool PosixPrograms::outlast(std::string_view name) {
  constexpr int kRoundsLeast = 20;
  constexpr int kRoundsMax = 100;
  constexpr std::int64_t kRoundMs = 50;
  const std::vector<pid_t> then = processes_named(name);
  SystemClock clock;
  for (int round = 0; round < kRoundsMax; ++round) {
    clock.sleep_ms(kRoundMs);
    if (round < kRoundsLeast) continue;
    const std::vector<pid_t> now = processes_named(name);
    if (std::ranges::find_first_of(then, now) == then.end()) return true;
  }
  return false;
}

}  // namespace dibs
