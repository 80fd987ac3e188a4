#include "sys/sync_together.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>

#include "sys/descriptor.h"

namespace dibs {

namespace {

constexpr std::size_t kThreadsMax = 16;

// The error, or 0. A flush that was interrupted has failed too: it is not repeated.
int sync_one(const std::string& path) {
  int opened = 0;
  do {
    opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
  } while (opened < 0 && errno == EINTR);
  const Descriptor fd(opened);
  if (!fd.is_open()) return errno == ENOENT || errno == ENOTDIR ? 0 : errno;
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return errno;
  const int synced = S_ISDIR(status.st_mode) ? ::fsync(fd.get()) : ::fdatasync(fd.get());
  return synced == 0 ? 0 : errno;
}

// As many as can be had, and none of them is who gets a signal.
template <class Work>
std::vector<std::jthread> started(std::size_t count, const Work& work) {
  std::vector<std::jthread> threads;
  threads.reserve(count);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    while (threads.size() < count) threads.emplace_back(work);
  } catch (const std::system_error&) {
    count = threads.size();  // those that began do the rest, or the caller
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return threads;
}

}  // namespace

std::optional<FailedFlush> sync_together(const std::vector<std::string>& paths) {
  if (paths.empty()) return std::nullopt;
  std::vector<int> errors(paths.size());
  std::atomic<std::size_t> next = 1;
  const auto take_the_rest = [&] {
    for (std::size_t at = next++; at < paths.size(); at = next++) errors[at] = sync_one(paths[at]);
  };
  {
    const auto threads = started(std::min(paths.size() - 1, kThreadsMax), take_the_rest);
    errors.front() = sync_one(paths.front());
    if (threads.empty()) take_the_rest();
  }
  const auto failed = std::ranges::find_if(errors, [](int error) { return error != 0; });
  if (failed == errors.end()) return std::nullopt;
  return FailedFlush{.path = paths[static_cast<std::size_t>(failed - errors.begin())],
                     .error = *failed};
}

}  // namespace dibs
