#include "sys/standard_streams.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace dibs {

void fill_closed_streams() {
  const auto is_open = [](int fd) { return ::fcntl(fd, F_GETFD) >= 0; };
  if (is_open(STDIN_FILENO) && is_open(STDOUT_FILENO) && is_open(STDERR_FILENO)) return;
  // A new descriptor is the lowest free number: once it is past the three, none of them is free.
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDWR);
  if (fd > STDERR_FILENO) ::close(fd);
}

Result<std::string> read_standard_input(std::size_t most) {
  constexpr std::size_t kAtOnce = 64UL * 1024;
  std::string text;
  while (text.size() <= most) {
    const std::size_t before = text.size();
    text.resize(before + kAtOnce);
    const ssize_t got = ::read(STDIN_FILENO, text.data() + before, kAtOnce);
    if (got < 0 && errno != EINTR)
      return fail(ErrorKind::internal,
                  fmt::format("standard input cannot be read: {}", std::strerror(errno)));
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return text;
  }
  return fail(ErrorKind::usage, fmt::format("standard input holds more than {} bytes", most),
              "give less at once");
}

}  // namespace dibs
