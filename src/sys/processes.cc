#include "sys/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <string>

#include "base/text.h"
#include "sys/clock.h"
#include "sys/descriptor.h"

namespace dibs {

namespace {

constexpr std::size_t kProcFileMax = 4UL * 1024 * 1024;  // an environment may be large

std::string read_whole(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 16UL * 1024> buffer{};
  while (file.is_open() && text.size() < kProcFileMax) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), &::closedir);
  if (!proc) return pids;
  while (const dirent* entry = ::readdir(proc.get())) {
    if (const auto pid = parse_unsigned(entry->d_name); pid && *pid <= INT32_MAX)
      pids.push_back(static_cast<pid_t>(*pid));
  }
  return pids;
}

}  // namespace

std::vector<pid_t> own_children() {
  std::vector<pid_t> pids;
  const std::string self = std::to_string(::getpid());
  const std::string text = read_whole("/proc/" + self + "/task/" + self + "/children");
  for (const std::string_view word : split(text, ' ')) {
    if (const auto pid = parse_unsigned(word)) pids.push_back(static_cast<pid_t>(*pid));
  }
  return pids;
}

std::vector<pid_t> processes_named(std::string_view name) {
  std::vector<pid_t> found;
  for (const pid_t pid : all_processes()) {
    // "PID (NAME) STATE …"; a zombie has ended, and only its parent has not looked yet.
    const std::string text = read_whole("/proc/" + std::to_string(pid) + "/stat");
    const std::size_t begin = text.find('(');
    const std::size_t end = text.rfind(") ");
    if (end == std::string::npos || text.compare(begin + 1, end - begin - 1, name) != 0) continue;
    if (text[end + 2] != 'Z' && text[end + 2] != 'X') found.push_back(pid);
  }
  return found;
}

bool has_variable(pid_t pid, std::string_view variable) {
  const std::string text = read_whole("/proc/" + std::to_string(pid) + "/environ");
  for (const std::string_view entry : split(text, '\0')) {
    if (entry == variable) return true;
  }
  return false;
}

std::vector<pid_t> processes_with(std::string_view variable) {
  std::vector<pid_t> found;
  for (const pid_t pid : all_processes()) {
    if (pid != ::getpid() && has_variable(pid, variable)) found.push_back(pid);
  }
  return found;
}

void wake_processes_with(std::string_view variable) {
  for (const pid_t pid : processes_with(variable)) ::kill(pid, SIGCONT);
}

std::size_t end_processes_with(std::string_view variable) {
  constexpr int kRoundsMax = 20;
  constexpr int kAskedRounds = 10;
  constexpr std::int64_t kPauseMs = 200;
  SystemClock clock;
  std::vector<pid_t> left = processes_with(variable);
  const std::size_t count = left.size();
  for (int round = 0; round < kRoundsMax && !left.empty(); ++round) {
    // Those that were asked are asked once; new ones may have been started meanwhile.
    for (const pid_t pid : left) {
      if (round == 0) ::kill(pid, SIGTERM);
      if (round == 0) ::kill(pid, SIGCONT);  // stopped ones would not hear
      if (round >= kAskedRounds) ::kill(pid, SIGKILL);
    }
    clock.sleep_ms(kPauseMs);
    left = processes_with(variable);
  }
  return count;
}

}  // namespace dibs
