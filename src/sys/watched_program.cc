#include "sys/watched_program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include "base/text.h"
#include "sys/clock.h"
#include "sys/descriptor.h"
#include "sys/spawn.h"

namespace dibs {

namespace {

tl::unexpected<Error> failed(const char* what) {
  return fail(ErrorKind::internal, std::string(what) + ": " + std::strerror(errno));
}

constexpr std::array kEndingSignals{SIGINT, SIGTERM, SIGHUP};

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kEndingSignals) sigaddset(&set, signal);
  return set;
}

/// Signals that would end us are held back while this lives, and come after it.
class HeldSignals {
 public:
  HeldSignals() {
    const sigset_t set = ending_signals();
    ::sigprocmask(SIG_BLOCK, &set, &before_);
    seen_ = Descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

  // It is only looked at, never read: whoever waits for it here gets it when we are gone.
  [[nodiscard]] int descriptor() const { return seen_.get(); }

 private:
  sigset_t before_{};
  Descriptor seen_;
};

/// What it says, of which the last is kept.
class Tail {
 public:
  Tail(Descriptor from, std::size_t most) : from_(std::move(from)), most_(most) {}

  [[nodiscard]] int descriptor() const { return from_.get(); }  // -1 once it has ended
  // Whether there was something.
  bool read_some() {
    std::array<char, 64UL * 1024> buffer{};
    const ssize_t got = ::read(from_.get(), buffer.data(), buffer.size());
    if (got > 0) keep({buffer.data(), static_cast<std::size_t>(got)});
    const bool later = got < 0 && (errno == EINTR || errno == EAGAIN);
    if (got <= 0 && !later) from_ = Descriptor();
    return got > 0;
  }
  void move_to(WatchedEnd& end) {
    end.tail = std::move(text_);
    end.said_more = said_more_;
  }

 private:
  void keep(std::string_view bytes) {
    text_ += bytes;
    if (text_.size() <= most_) return;
    text_.erase(0, text_.size() - most_);
    said_more_ = true;
  }

  Descriptor from_;
  std::size_t most_;
  std::string text_;
  bool said_more_ = false;
};

/// The watch over one process: until it ends, or is made to.
class Watch {
 public:
  Watch(const WatchedCall& call, pid_t pid, Descriptor process, Descriptor out)
      : call_(call),
        pid_(pid),
        process_(std::move(process)),
        tail_(std::move(out), call.tail_bytes) {
    const std::int64_t now_ms = monotonic_ms();
    deadline_ms_ = now_ms + call.most_ms;
    ask_ms_ = now_ms + call.ask_every_ms;
  }

  WatchedEnd run(int signals) {
    WatchedEnd end;
    while (!look(signals)) {
      const std::int64_t now_ms = monotonic_ms();
      if (kill_ms_ && now_ms >= *kill_ms_) ::kill(-pid_, SIGKILL);
      if (!kill_ms_) stop_if_need_be(now_ms, end);
    }
    end.exit_code = reap();
    constexpr int kReadsMax = 64;  // what a survivor goes on saying is not waited for
    for (int i = 0; i < kReadsMax && tail_.descriptor() >= 0 && tail_.read_some(); ++i) {
    }
    tail_.move_to(end);
    return end;
  }

 private:
  // Waits for the next thing that happens; whether the process has ended.
  bool look(int signals) {
    std::array<pollfd, 3> polled{
        {{.fd = process_.get(), .events = POLLIN, .revents = 0},
         {.fd = tail_.descriptor(), .events = POLLIN, .revents = 0},
         {.fd = signalled_ ? -1 : signals, .events = POLLIN, .revents = 0}}};
    const std::int64_t until_ms =
        kill_ms_ ? *kill_ms_ + kKillAgainMs : std::min(deadline_ms_, ask_ms_);
    const std::int64_t wait_ms = std::clamp<std::int64_t>(until_ms - monotonic_ms(), 0, kLookMs);
    if (::poll(polled.data(), polled.size(), static_cast<int>(wait_ms)) <= 0) return false;
    if (polled[1].revents != 0) tail_.read_some();
    if (polled[2].revents != 0) signalled_ = true;
    return polled[0].revents != 0;
  }

  void stop_if_need_be(std::int64_t now_ms, WatchedEnd& end) {
    bool stopped = signalled_;
    if (!stopped && call_.may_go_on && now_ms >= ask_ms_) {
      stopped = !call_.may_go_on();
      ask_ms_ = monotonic_ms() + call_.ask_every_ms;
    }
    if (!stopped && now_ms < deadline_ms_) return;
    end.cut = stopped ? WatchedEnd::Cut::stopped : WatchedEnd::Cut::timed_out;
    ::kill(-pid_, SIGTERM);
    kill_ms_ = now_ms + call_.grace_ms;
  }

  // Whatever it left running goes with it; while it is not waited for, its group is still its own.
  int reap() {
    ::kill(-pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  static constexpr std::int64_t kLookMs = 1000;
  static constexpr std::int64_t kKillAgainMs = 100;

  const WatchedCall& call_;
  pid_t pid_;
  Descriptor process_;
  Tail tail_;
  std::int64_t deadline_ms_ = 0;
  std::int64_t ask_ms_ = 0;
  std::optional<std::int64_t> kill_ms_;  // when it is killed; none: it has not been told to end
  bool signalled_ = false;
};

}  // namespace

Result<WatchedEnd> run_watched(const WatchedCall& call) {
  Result<Pipe> said = make_pipe();
  if (!said) return fail(said.error());
  ::fcntl(said->read_end.get(), F_SETFL, O_NONBLOCK);
  const HeldSignals signals;
  Result<pid_t> pid = spawn({.command = call.command,
                             .directory = call.directory,
                             .environment = call.environment,
                             .out = said->write_end.get(),
                             .err = said->write_end.get(),
                             .heard = {kEndingSignals.begin(), kEndingSignals.end()}});
  if (!pid) {
    pid.error().kind = ErrorKind::refused;  // it is the user's command, and so it is theirs to mend
    return fail(pid.error());
  }
  said->write_end = Descriptor();
  Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)));
  if (!process.is_open()) {
    Error error = failed("cannot watch a process").value();
    ::kill(-*pid, SIGKILL);
    ::waitpid(*pid, nullptr, 0);
    return fail(std::move(error));
  }
  return Watch(call, *pid, std::move(process), std::move(said->read_end)).run(signals.descriptor());
}

}  // namespace dibs
