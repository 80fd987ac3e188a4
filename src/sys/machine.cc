#include "sys/machine.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/text.h"
#include "sys/descriptor.h"

namespace dibs {

namespace {

// Files in /proc are small and made on reading: one read gets them whole.
std::string read_proc(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return {};
  std::array<char, 2048> buffer{};
  const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
  return got <= 0 ? std::string{} : std::string(buffer.data(), static_cast<std::size_t>(got));
}

// Fields of /proc/PID/stat after the command, which stands in parentheses and may hold anything.
constexpr std::size_t kStateField = 0;
constexpr std::size_t kStartTimeField = 19;

}  // namespace

BootId read_boot_id() {
  return BootId{std::string(trim(read_proc("/proc/sys/kernel/random/boot_id")))};
}

std::string LinuxMachine::host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "unknown";
}

BootId LinuxMachine::boot_id() { return read_boot_id(); }

// A process stays in its own. Whoever stands in a long line asks once for each of the others.
std::uint64_t LinuxMachine::pid_namespace() {
  struct stat status{};
  if (!pid_namespace_ && ::stat("/proc/self/ns/pid", &status) == 0) pid_namespace_ = status.st_ino;
  return pid_namespace_.value_or(0);
}

std::int64_t LinuxMachine::own_pid() { return ::getpid(); }

std::optional<ProcessView> LinuxMachine::find_process(std::int64_t pid) {
  const std::string text = read_proc("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t command_end = text.rfind(") ");
  if (command_end == std::string::npos) return std::nullopt;
  const auto fields = split(std::string_view(text).substr(command_end + 2), ' ');
  if (fields.size() <= kStartTimeField) return std::nullopt;
  const std::optional<std::uint64_t> start = parse_unsigned(fields[kStartTimeField]);
  if (!start) return std::nullopt;
  const std::string_view state = fields[kStateField];
  return ProcessView{.start_ticks = *start, .zombie = state == "Z" || state == "X"};
}

Presence LinuxMachine::presence(std::int64_t pid, std::uint64_t start_ticks) {
  if (const std::optional<ProcessView> seen = find_process(pid)) {
    return seen->start_ticks == start_ticks && !seen->zombie ? Presence::running : Presence::gone;
  }
  // No /proc entry: either it ended, or /proc hides other users' processes. Signal 0 knows which.
  const bool ended = ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
  return ended ? Presence::gone : Presence::unknown;
}

Result<std::int64_t> LinuxMachine::start_detached(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"dibs"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t streams;
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_init(&streams);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&streams, stream, "/dev/null", O_RDWR, 0);
  }
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, "/proc/self/exe", &streams, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&streams);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) return pid;
  return fail(ErrorKind::internal, std::string("cannot start a process: ") + std::strerror(error));
}

}  // namespace dibs
