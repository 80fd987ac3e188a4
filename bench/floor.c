// The least that a durable claim can cost: a process that locks, appends a line, flushes and exits.
// Written in C with no library but the system's, so that whatever dibs needs more is dibs' own.
//
//   floor LOCK LOG BYTES
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { kBytesMax = 64 * 1024 };

int main(int argc, char** argv) {
  static char line[kBytesMax];
  if (argc != 4) return 64;
  const long bytes = strtol(argv[3], NULL, 10);
  if (bytes < 1 || bytes > kBytesMax) return 64;
  memset(line, 'x', (size_t)bytes - 1);
  line[bytes - 1] = '\n';

  const int lock = open(argv[1], O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0 || flock(lock, LOCK_EX) != 0) return 1;
  const int log = open(argv[2], O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0 || write(log, line, (size_t)bytes) != bytes) return 1;
  return fdatasync(log) == 0 ? 0 : 1;
}
