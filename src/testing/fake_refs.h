// Refs in memory that are durable at once. A test can have git die after the first of them moved,
// which leaves the next one locked, or refuse; once the machine is out of power nothing moves.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "git/local_refs.h"

namespace dibs {

/// What outlives the store that uses it.
struct FakeRefs {
  std::map<std::string, std::string> refs;
  std::map<std::string, std::string> locks;  // ref: what its lock says
  std::size_t dies_after = SIZE_MAX;         // of the moves of one transaction
  bool dies_before_writing = false;          // its lock is still empty then
  std::function<bool()> power_is_out = [] { return false; };
};

class FakeLocalRefs final : public LocalRefs {
 public:
  explicit FakeLocalRefs(FakeRefs& state) : state_(state) {}

  Result<End> move(const std::vector<RefMove>& moves, const std::string& /*reason*/,
                   const FileLock* /*under*/) override {
    if (state_.power_is_out()) return fail(ErrorKind::internal, "the power is out");
    for (const RefMove& move : moves) {
      if (state_.locks.contains(move.name))
        return fail(ErrorKind::contended, move.name + " is locked");
      if (at(move.name) != move.from)
        return End{.kind = End::Kind::turned_down, .why = move.name + " is elsewhere"};
    }
    std::size_t moved = 0;
    for (const RefMove& move : moves) {
      if (moved++ == state_.dies_after) {
        state_.dies_after = SIZE_MAX;
        if (!move.to.empty()) state_.locks[move.name] = state_.dies_before_writing ? "" : move.to;
        return End{.kind = End::Kind::unknown, .why = "killed"};
      }
      state_.refs[move.name] = move.to;
    }
    return End{.kind = End::Kind::moved, .why = {}};
  }
  Result<std::string> commit_at(const std::string& ref) override { return at(ref); }
  // Histories are the commits' names: "a/b" follows "a".
  Result<bool> contains(const std::string& ref, const std::string& commit) override {
    return at(ref) == commit || at(ref).starts_with(commit + "/");
  }
  Done clear_lock(const RefMove& move) override {
    const auto lock = state_.locks.find(move.name);
    if (lock != state_.locks.end() && !move.to.empty() && lock->second == move.to)
      state_.locks.erase(lock);
    return {};
  }

 private:
  std::string at(const std::string& ref) const {
    const auto found = state_.refs.find(ref);
    return found == state_.refs.end() ? std::string() : found->second;
  }

  FakeRefs& state_;
};

}  // namespace dibs
