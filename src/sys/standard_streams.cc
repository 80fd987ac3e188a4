#include "sys/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace dibs {

void fill_closed_streams() {
  // A new descriptor is the lowest free number: once it is past the three, none of them is free.
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDWR);
  if (fd > STDERR_FILENO) ::close(fd);
}

}  // namespace dibs
