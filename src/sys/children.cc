#include "sys/children.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "sys/processes.h"
#include "sys/spawn.h"

namespace dibs {

namespace {

void set_nonblocking(const Descriptor& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

// One read, so that one who never stops keeps nobody else waiting. False once there is no more.
bool read_once(Descriptor& fd, std::string& into, std::size_t kept) {
  std::array<char, 64UL * 1024> buffer{};
  const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
  if (got > 0) into.append(buffer.data(), static_cast<std::size_t>(got));
  if (into.size() > 2 * kept) into.erase(0, into.size() - kept);
  if (got > 0) return true;
  if (got < 0 && errno == EINTR) return true;
  if (got == 0 || errno != EAGAIN) fd = Descriptor();
  return false;
}

void feed(Descriptor& fd, std::string& input) {
  const ssize_t put = ::write(fd.get(), input.data(), input.size());
  if (put > 0) input.erase(0, static_cast<std::size_t>(put));
  const bool gone = put < 0 && errno != EAGAIN && errno != EINTR;  // it does not want more
  if (gone || input.empty()) fd = Descriptor();
}

sigset_t watched_signals() {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCHLD}) sigaddset(&watched, signal);
  return watched;
}

}  // namespace

Result<Children> Children::make() {
  Children children;
  const sigset_t watched = watched_signals();
  ::pthread_sigmask(SIG_BLOCK, &watched, &children.before_);
  children.owns_signals_ = true;
  children.signals_ = Descriptor(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!children.signals_.is_open())
    return fail(ErrorKind::internal, std::string("cannot watch signals: ") + std::strerror(errno));
  // Whatever a child leaves behind becomes ours, and is not lost from sight.
  ::prctl(PR_GET_CHILD_SUBREAPER, &children.adopted_before_);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  return children;
}

Children::Children(Children&& other) noexcept
    : signals_(std::move(other.signals_)),
      before_(other.before_),
      owns_signals_(std::exchange(other.owns_signals_, false)),
      adopted_before_(other.adopted_before_),
      last_(other.last_),
      children_(std::move(other.children_)) {}

Children::~Children() {
  if (!owns_signals_) return;
  for (auto& [id, child] : children_) stop(id, Force::kill);
  constexpr int kRoundsMax = 100;  // what is killed may still be starting others
  for (int round = 0; round < kRoundsMax; ++round) {
    for (const pid_t pid : own_children()) ::kill(pid, SIGKILL);
    if (::waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) break;
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, adopted_before_);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

Result<ChildId> Children::start(const ChildCall& call) {
  Result<Pipe> in = make_pipe();
  Result<Pipe> out = make_pipe();
  Result<Pipe> err = call.streams == ChildCall::Streams::apart ? make_pipe() : Pipe{};
  for (const Result<Pipe>* pipe : {&in, &out, &err})
    if (!*pipe) return fail(pipe->error());
  const bool apart = err->write_end.is_open();
  const Result<pid_t> pid = spawn({.command = call.command,
                                   .directory = call.directory,
                                   .environment = changed_environment(call.environment),
                                   .in = in->read_end.get(),
                                   .out = out->write_end.get(),
                                   .err = apart ? err->write_end.get() : out->write_end.get(),
                                   .leads = Spawn::Leads::group});
  if (!pid) return fail(pid.error());
  for (const Descriptor* fd : {&in->write_end, &out->read_end, &err->read_end})
    if (fd->is_open()) set_nonblocking(*fd);
  Child child{.pid = *pid,
              .in = call.input.empty() ? Descriptor() : std::move(in->write_end),
              .input = call.input,
              .out = {.fd = std::move(out->read_end), .text = {}},
              .err = {.fd = std::move(err->read_end), .text = {}},
              .kept = call.kept};
  const ChildId id{++last_};
  children_.emplace(id, std::move(child));
  return id;
}

void Children::stop(ChildId child, Force force) {
  const auto found = children_.find(child);
  if (found == children_.end()) return;
  ::kill(-found->second.pid, force == Force::kill ? SIGKILL : SIGTERM);
  if (force == Force::ask) ::kill(-found->second.pid, SIGCONT);  // stopped ones would not hear
}

std::vector<ChildNews> Children::wait(std::int64_t most_ms) {
  std::vector<pollfd> polled{{.fd = signals_.get(), .events = POLLIN, .revents = 0}};
  std::vector<ChildId> order;
  // A negative descriptor is passed over by poll.
  for (const auto& [id, child] : children_) {
    order.push_back(id);
    polled.push_back({.fd = child.in.get(), .events = POLLOUT, .revents = 0});
    polled.push_back({.fd = child.out.fd.get(), .events = POLLIN, .revents = 0});
    polled.push_back({.fd = child.err.fd.get(), .events = POLLIN, .revents = 0});
  }
  std::vector<ChildNews> news;
  const auto timeout = static_cast<int>(std::clamp<std::int64_t>(most_ms, 0, 60'000));
  if (::poll(polled.data(), polled.size(), timeout) <= 0) return news;
  for (std::size_t i = 0; i < order.size(); ++i) {
    Child& child = children_.at(order[i]);
    if (polled[3 * i + 1].revents != 0) feed(child.in, child.input);
    if (polled[3 * i + 2].revents != 0 && read_once(child.out.fd, child.out.text, child.kept))
      news.emplace_back(ChildSpoke{.child = order[i]});
    if (polled[3 * i + 3].revents != 0) (void)read_once(child.err.fd, child.err.text, child.kept);
  }
  if (polled.front().revents != 0) read_signals(news);
  return news;
}

void Children::read_signals(std::vector<ChildNews>& news) {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGINT) news.emplace_back(AskedBySignal::to_end);
    if (signal == SIGTERM || signal == SIGHUP) news.emplace_back(AskedBySignal::to_end_now);
    if (signal == SIGWINCH) news.emplace_back(AskedBySignal::to_redraw);
  }
  reap(news);
}

void Children::reap(std::vector<ChildNews>& news) {
  while (true) {
    siginfo_t info{};
    // Looked at and left: until it is collected, its number names its group and nobody else's.
    const int found = ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT);
    if (found != 0 || info.si_pid == 0) return;
    const pid_t pid = info.si_pid;
    const auto child =
        std::ranges::find_if(children_, [&](const auto& entry) { return entry.second.pid == pid; });
    if (child == children_.end()) {
      ::waitpid(pid, nullptr, 0);  // adopted
    } else {
      end(child->first, pid, news);
    }
  }
}

void Children::end(ChildId id, pid_t pid, std::vector<ChildNews>& news) {
  ::kill(-pid, SIGKILL);  // what it started and did not wait for
  int status = 0;
  ::waitpid(pid, &status, 0);
  auto node = children_.extract(id);
  Child& child = node.mapped();
  constexpr int kReadsMax = 64;  // a pipe holds 64 KiB; what was not in its group may go on writing
  for (Stream* stream : {&child.out, &child.err}) {
    for (int i = 0; i < kReadsMax && stream->fd.is_open(); ++i) {
      if (!read_once(stream->fd, stream->text, child.kept)) break;
    }
    if (stream->text.size() > child.kept) stream->text.erase(0, stream->text.size() - child.kept);
  }
  news.emplace_back(
      ChildEnded{.child = id,
                 .exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
                 .out = std::move(child.out.text),
                 .err = std::move(child.err.text)});
}

std::string_view Children::out(ChildId child) const {
  const auto found = children_.find(child);
  return found == children_.end() ? std::string_view() : std::string_view(found->second.out.text);
}

std::string Children::take_lines(ChildId child) {
  const auto found = children_.find(child);
  if (found == children_.end()) return {};
  std::string& text = found->second.out.text;
  const std::size_t end = text.rfind('\n');
  if (end == std::string::npos) return {};
  std::string lines = text.substr(0, end + 1);
  text.erase(0, end + 1);
  return lines;
}

void Children::kill_adopted(std::string_view variable) {
  for (const pid_t pid : own_children()) {
    const bool known =
        std::ranges::any_of(children_, [&](const auto& entry) { return entry.second.pid == pid; });
    if (!known && has_variable(pid, variable)) ::kill(pid, SIGKILL);
  }
}

}  // namespace dibs
