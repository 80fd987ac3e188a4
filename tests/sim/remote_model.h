// A git remote in memory, and the git program that talks to it, as far as dibs uses them: refs that
// move by compare-and-swap, all or none, "up to date", locks that a dead server left, replies that
// get lost. remote_model_test.cc runs the same script against the real git and compares.
//
// Between the steps of a push and a fetch the turn can pass to others: a push compares with what
// the remote advertised at its beginning, and the remote with what is there at its end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/ref_move.h"
#include "sys/programs.h"
#include "testing/fake_disk.h"

namespace dibs::sim {

inline constexpr std::string_view kUnreachable = "fatal: Could not read from remote repository.\n";

struct RemoteModel {
  struct Commit {
    std::vector<std::string> parents;
    std::string message;
  };
  std::map<std::string, std::string> refs;
  std::map<std::string, Commit> commits;
  std::set<std::string> locks;        // refs that are being moved
  std::set<std::string> stale_locks;  // that were when a server died
  bool gone = false;
  // Hears which refs move together, at the moment when that is decided.
  std::function<void(const std::vector<RefMove>&)> moved = [](const std::vector<RefMove>&) {};
  // And when everybody can see it.
  std::function<void(const std::vector<RefMove>&)> shown = [](const std::vector<RefMove>&) {};
};

/// What can go wrong with one conversation, and how long its parts take.
class Connection {
 public:
  enum class Mishap {
    none,
    no_answer,      // before anything is said
    server_dies,    // with its locks in place, before anything moved
    reply_is_lost,  // after everything moved
  };
  virtual ~Connection() = default;
  // Time passes. False: whoever runs git is not there any more.
  [[nodiscard]] virtual bool goes_on() = 0;
  [[nodiscard]] virtual Mishap mishap() = 0;
  [[nodiscard]] virtual bool took_longer_than(std::int64_t ms) = 0;
};

class GitModel final : public Programs {
 public:
  GitModel(FakeDisk& disk, RemoteModel& remote, Connection& connection)
      : disk_(disk), remote_(remote), connection_(connection) {}

  [[nodiscard]] Result<ProgramEnd> run(const ProgramCall& call) override;

 private:
  /// A command line, taken apart.
  struct Words {
    std::string git_dir;
    std::string command;
    std::vector<std::string> options;
    std::vector<std::string> others;

    [[nodiscard]] bool has(std::string_view option) const;
  };
  struct Push;
  [[nodiscard]] static Words words_of(const ProgramCall& call);
  [[nodiscard]] ProgramEnd init(const Words& words);
  [[nodiscard]] ProgramEnd for_each_ref(const Words& words);
  [[nodiscard]] ProgramEnd fetch(const Words& words);
  [[nodiscard]] ProgramEnd push(const Words& words, const ProgramCall& call);
  [[nodiscard]] ProgramEnd update_ref(const Words& words, std::string_view input);
  [[nodiscard]] ProgramEnd log(const Words& words);
  [[nodiscard]] ProgramEnd show_commit(const Words& words);

  // Of the repository that git runs in: the refs at these paths, and all in folders that are there.
  [[nodiscard]] std::map<std::string, std::string> own_refs(const std::string& git_dir,
                                                            std::vector<std::string> paths);
  void put_ref(const std::string& git_dir, const std::string& ref, const std::string& commit);
  [[nodiscard]] bool take_in_object(const std::string& commit, const ProgramCall& call,
                                    const Words& words);

  // One push (remote_push.cc).
  [[nodiscard]] Result<Push> push_of(const Words& words, const ProgramCall& call);
  [[nodiscard]] ProgramEnd send(Push& push, Connection::Mishap mishap);
  void judge(Push& push);
  void transact(Push& push);
  void move_all(Push& push);
  void remember(const Push& push, const std::string& git_dir);

  FakeDisk& disk_;
  RemoteModel& remote_;
  Connection& connection_;
};

}  // namespace dibs::sim
