#include "sys/lock_wait.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include "base/text.h"
#include "sys/descriptor.h"

namespace dibs {

namespace {

constexpr std::size_t kLocksFileMax = 4UL * 1024 * 1024;
constexpr int kLooksMax = 4;  // each after half of what one process may take

/// Interrupts a blocking call every so often, by a signal whose handler does nothing.
class Ticks {
 public:
  explicit Ticks(std::int64_t every_ms) {
    struct sigaction ignore{};
    ignore.sa_handler = [](int) {};  // without SA_RESTART, which would go on waiting
    ::sigaction(SIGALRM, &ignore, &before_);
    const timeval every{.tv_sec = every_ms / 1000, .tv_usec = every_ms % 1000 * 1000};
    const itimerval timer{.it_interval = every, .it_value = every};
    ::setitimer(ITIMER_REAL, &timer, nullptr);
  }
  Ticks(const Ticks&) = delete;
  Ticks& operator=(const Ticks&) = delete;
  ~Ticks() {
    const itimerval off{};
    ::setitimer(ITIMER_REAL, &off, nullptr);
    ::sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  struct sigaction before_{};
};

std::string all_locks() {
  const Descriptor fd(::open("/proc/locks", O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 64UL * 1024> buffer{};
  while (fd.is_open() && text.size() < kLocksFileMax) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

// A line is "1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF"; those who wait have "->" behind the
// number. A process that this one cannot see is 0 or negative there.
std::optional<std::int64_t> holder_of(int fd) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return std::nullopt;
  const std::string place =
      fmt::format(" {:02x}:{:02x}:{} ", major(status.st_dev), minor(status.st_dev), status.st_ino);
  const std::string locks = all_locks();
  for (const std::string_view line : split(locks, '\n')) {
    const std::size_t at = line.find(place);
    const bool held =
        at != std::string_view::npos && contains(line, "FLOCK") && !contains(line, "->");
    if (!held) continue;
    const std::string_view before = line.substr(0, at);
    if (const auto pid = parse_unsigned(before.substr(before.rfind(' ') + 1)); pid && *pid > 0)
      return static_cast<std::int64_t>(*pid);
  }
  return std::nullopt;
}

Error kept_from_us(const std::string& path, std::optional<std::int64_t> pid,
                   std::int64_t waited_ms) {
  return {.kind = ErrorKind::unreachable,
          .message = fmt::format("{} keeps {} locked; waited {} seconds for it",
                                 pid ? fmt::format("process {}", *pid) : "another process",
                                 printable(path), waited_ms / 1000),
          .hint = pid ? fmt::format("see what it is doing: ps -o stat,etime,args -p {0}; if it is "
                                    "stopped, let it go on: kill -CONT {0}",
                                    *pid)
                      : "let it go on if it is stopped, then run the command again",
          .fields = {}};
}

}  // namespace

// The place in the queue is lost with each look, so looks are few.
Done wait_for_lock(int fd, const std::string& path, std::int64_t most_ms) {
  const Ticks ticks(most_ms / 2);
  std::optional<std::int64_t> holder;
  int looks = 0;
  while (looks < kLooksMax) {
    if (::flock(fd, LOCK_EX) == 0) return {};
    if (errno != EINTR) {
      return fail(ErrorKind::internal,
                  fmt::format("cannot lock {}: {}", printable(path), std::strerror(errno)));
    }
    const std::optional<std::int64_t> now = holder_of(fd);
    if (++looks > 1 && now == holder) break;
    holder = now;
  }
  return fail(kept_from_us(path, holder, looks * most_ms / 2));
}

}  // namespace dibs
