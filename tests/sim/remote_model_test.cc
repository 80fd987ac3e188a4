// The model of a git remote against the real one: the same script of pushes and looks, with the
// same answers.
#include "remote_model.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "dice.h"
#include "git/remote_refs.h"
#include "testing/git_site.h"

namespace dibs::sim {
namespace {

constexpr int kSteps = 60;
const std::array<std::string, 4> kRefs{"refs/dibs/r/a", "refs/dibs/r/b", "refs/dibs/r/ab",
                                       "refs/dibs/ledger"};

class Undisturbed final : public Connection {
 public:
  bool goes_on() override { return true; }
  Mishap mishap() override { return Mishap::none; }
  bool took_longer_than(std::int64_t) override { return false; }
};

/// The remote and two clones of it, twice: real and modelled.
class Twins {
 public:
  Twins() {
    for (std::size_t clone = 0; clone < 2; ++clone) {
      disks_[clone] = std::make_unique<FakeDisk>(clock_);
      disks_[clone]->make_durable_directory("/repo/.git/dibs/remotes");
      models_[clone] = std::make_unique<GitModel>(*disks_[clone], remote, undisturbed_);
      gits_[clone] =
          std::make_unique<GitProgram>(*models_[clone], [] { return std::vector<std::string>{}; });
      modelled.emplace_back(*disks_[clone], *gits_[clone],
                            RemotePlace{.directory = "/repo/.git/dibs/remotes/origin.git",
                                        .common_dir = "/repo/.git",
                                        .remote = "origin",
                                        .prefix = "refs/dibs/"});
      EXPECT_TRUE(modelled[clone].open(kPrivateDirectory));
      real.push_back(site_.refs("clone" + std::to_string(clone)));
    }
  }

  // What a server that died leaves behind.
  void lock(const std::string& ref) {
    if (remote.gone) return;
    (void)PosixFileSystem().make_directory(site_.remote() + "/refs/dibs", 0755);
    (void)PosixFileSystem().make_directory(site_.remote() + "/refs/dibs/r", 0755);
    std::ofstream(site_.remote() + "/" + ref + ".lock");
    remote.stale_locks.insert(ref);
  }
  void unlock() {
    if (remote.gone) return;
    for (const std::string& ref : remote.stale_locks)
      (void)PosixFileSystem().remove(site_.remote() + "/" + ref + ".lock");
    remote.stale_locks.clear();
  }
  void set_gone(bool gone) {
    if (gone == remote.gone) return;
    const std::string away = site_.remote() + ".away";
    (void)PosixFileSystem().rename(gone ? site_.remote() : away, gone ? away : site_.remote());
    remote.gone = gone;
  }

  RemoteModel remote;
  std::vector<RemoteRefs> modelled;
  std::vector<RemoteRefs> real;

 private:
  FakeClock clock_;
  GitSite site_;
  Undisturbed undisturbed_;
  std::array<std::unique_ptr<FakeDisk>, 2> disks_;
  std::array<std::unique_ptr<GitModel>, 2> models_;
  std::array<std::unique_ptr<GitProgram>, 2> gits_;
};

std::string in_order(std::vector<std::string> lines) {
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string text_of(const Result<PushEnd>& end) {
  if (!end) return "error";
  return std::to_string(static_cast<int>(end->kind)) + " " + in_order(end->lost_at);
}

std::string text_of(const Result<std::vector<SeenRef>>& refs) {
  if (!refs) return "error";
  std::vector<std::string> lines;
  for (const SeenRef& ref : *refs)
    lines.push_back(fmt::format("{} {} {}", ref.name, ref.commit, ref.message));
  return in_order(std::move(lines));
}

std::string text_of(const Result<std::vector<std::string>>& messages) {
  return messages ? in_order(*messages) : "error";
}

class Script {
 public:
  explicit Script(std::uint64_t seed) : dice_(seed) {}

  void run() {
    for (int step = 0; step < kSteps && !testing::Test::HasFailure(); ++step) {
      const auto clone = static_cast<std::size_t>(dice_.below(2));
      const std::int64_t choice = dice_.below(100);
      if (choice < 60)
        push(clone, step);
      else if (choice < 85)
        look(clone);
      else if (choice < 90)
        twins_.lock(any_ref());
      else if (choice < 95)
        twins_.unlock();
      else
        twins_.set_gone(!twins_.remote.gone);
    }
  }

 private:
  const std::string& any_ref() {
    return kRefs[static_cast<std::size_t>(dice_.below(kRefs.size()))];
  }

  void push(std::size_t clone, int step) {
    std::vector<std::string> parents;
    const std::string message = fmt::format("change {}\n", step);
    const Result<std::string> commit = twins_.modelled[clone].write_commit(parents, message, step);
    ASSERT_EQ(twins_.real[clone].write_commit(parents, message, step).value(), commit.value());
    std::vector<RefMove> moves;
    for (const std::string& ref : kRefs) {
      if (dice_.chance(50)) moves.push_back(any_move(clone, ref, *commit));
    }
    if (moves.empty()) return;
    std::string told = fmt::format("step {} clone {}\n", step, clone);
    for (const RefMove& move : moves)
      told += fmt::format("{} from '{}' to '{}'\n", move.name, move.from, move.to);
    SCOPED_TRACE(told);
    EXPECT_EQ(text_of(twins_.modelled[clone].push(moves)), text_of(twins_.real[clone].push(moves)));
    compare_seen(clone);
  }
  // From where it is, from where it was seen, or from nowhere; to a new place, to where it is, or
  // away.
  RefMove any_move(std::size_t clone, const std::string& ref, const std::string& commit) {
    const auto there = twins_.remote.refs.find(ref);
    const std::string at = there == twins_.remote.refs.end() ? std::string() : there->second;
    RefMove move{.name = ref, .from = at, .to = commit};
    const std::string seen = twins_.modelled[clone].commit_at(ref).value();
    if (dice_.chance(25)) move.from = seen;
    if (dice_.chance(10)) move.from.clear();
    if (dice_.chance(25) && !seen.empty()) move.to = seen;
    if (dice_.chance(10) && !at.empty()) move.to.clear();
    return move;
  }
  void look(std::size_t clone) {
    std::vector<std::string> names{dice_.chance(50) ? "refs/dibs/r/" : any_ref(), kRefs[3]};
    EXPECT_EQ(text_of(twins_.modelled[clone].look(names)), text_of(twins_.real[clone].look(names)));
    compare_seen(clone);
  }
  void compare_seen(std::size_t clone) {
    const std::vector<std::string> all(kRefs.begin(), kRefs.end());
    EXPECT_EQ(text_of(twins_.modelled[clone].seen(all)), text_of(twins_.real[clone].seen(all)));
    EXPECT_EQ(text_of(twins_.modelled[clone].seen_below("r/")),
              text_of(twins_.real[clone].seen_below("r/")));
    EXPECT_EQ(text_of(twins_.modelled[clone].messages()), text_of(twins_.real[clone].messages()));
  }

  Dice dice_;
  Twins twins_;
};

TEST(RemoteModel, AnswersAsTheRealGitDoes) {
  for (std::uint64_t seed = 1; seed <= 4 && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Script(seed).run();
  }
}

}  // namespace
}  // namespace dibs::sim
