#include "sys/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace dibs {

void fill_closed_streams() {
  const auto is_open = [](int fd) { return ::fcntl(fd, F_GETFD) >= 0; };
  if (is_open(STDIN_FILENO) && is_open(STDOUT_FILENO) && is_open(STDERR_FILENO)) return;
  // A new descriptor is the lowest free number: once it is past the three, none of them is free.
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDWR);
  if (fd > STDERR_FILENO) ::close(fd);
}

}  // namespace dibs
