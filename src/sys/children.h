// Several programs at once, watched by one loop: what each says, how it ends, and the signals that
// a person sends us meanwhile. Each is the leader of a process group of its own, and none outlives
// this: when a leader ends, the rest of its group is killed, and what left its group is adopted and
// killed at the end. `dibs run` is made of these.
//
//   Result<Children> children = Children::make();
//   const Result<ChildId> id = children->start({.command = {"make"}, .directory = "/src"});
//   while (…) for (const ChildNews& news : children->wait(1000)) …
#pragma once

#include <csignal>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "sys/descriptor.h"

namespace dibs {

struct ChildId {
  std::uint64_t value = 0;
  friend auto operator<=>(const ChildId&, const ChildId&) = default;
};

struct ChildCall {
  std::vector<std::string> command;  // looked up in PATH unless it holds a slash; no shell sees it
  std::string directory;
  std::vector<std::string> environment = {};  // over ours: NAME=value sets, NAME alone takes away
  std::string input = {};
  enum class Streams { together, apart };  // whether errors are told from output
  Streams streams = Streams::together;
  std::size_t kept = 64UL * 1024;  // of each stream, the last so many bytes
};

/// A leader that has ended, with the rest of its group.
struct ChildEnded {
  ChildId child;
  int exit_code = 0;  // 128 + N when signal N ended it
  std::string out;
  std::string err;
};
/// It has said something: Children::out() has it.
struct ChildSpoke {
  ChildId child;
};
enum class AskedBySignal { to_end, to_end_now, to_redraw };  // SIGINT; SIGTERM and SIGHUP; SIGWINCH
using ChildNews = std::variant<ChildEnded, ChildSpoke, AskedBySignal>;

class Children {
 public:
  // One at a time in a process: it takes signals over for as long as it is there.
  [[nodiscard]] static Result<Children> make();
  Children(Children&&) noexcept;
  Children& operator=(Children&&) = delete;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children();  // kills and waits for all

  [[nodiscard]] Result<ChildId> start(const ChildCall& call);
  enum class Force { ask, kill };
  void stop(ChildId child, Force force);  // the whole group; nothing when it has ended
  // What has happened, at the latest after `most_ms`, then perhaps nothing.
  [[nodiscard]] std::vector<ChildNews> wait(std::int64_t most_ms);
  // The end of what it has said so far; empty when it is not there any more.
  [[nodiscard]] std::string_view out(ChildId child) const;
  // Takes what was said off the front, up to the last whole line, for who reads as it comes.
  [[nodiscard]] std::string take_lines(ChildId child);
  // Kills what was adopted and has this NAME=value in its environment.
  void kill_adopted(std::string_view variable);

 private:
  struct Stream {
    Descriptor fd;
    std::string text;
  };
  struct Child {
    pid_t pid = 0;
    Descriptor in;
    std::string input;  // what it has not been given yet
    Stream out;
    Stream err;
    std::size_t kept = 0;
  };
  Children() = default;

  void read_signals(std::vector<ChildNews>& news);
  void reap(std::vector<ChildNews>& news);
  void end(ChildId id, pid_t pid, std::vector<ChildNews>& news);

  Descriptor signals_;
  sigset_t before_{};
  bool owns_signals_ = false;
  int adopted_before_ = 0;  // others of this process may be there, and go on
  std::uint64_t last_ = 0;
  std::map<ChildId, Child> children_;
};

}  // namespace dibs
