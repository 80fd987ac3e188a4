#include "testing/fake_machine.h"

#include <utility>

namespace dibs {

std::optional<ProcessView> FakeMachine::find_process(std::int64_t pid) {
  const auto found = processes_.find(pid);
  if (found == processes_.end() || hidden_.contains(pid)) return std::nullopt;
  return found->second;
}

Presence FakeMachine::presence(std::int64_t pid, std::uint64_t start_ticks) {
  if (hidden_.contains(pid)) return Presence::unknown;
  const std::optional<ProcessView> seen = find_process(pid);
  const bool runs = seen && seen->start_ticks == start_ticks && !seen->zombie;
  return runs ? Presence::running : Presence::gone;
}

Result<std::int64_t> FakeMachine::start_detached(const std::vector<std::string>& arguments) {
  started_.push_back(arguments);
  return kOwnPid + static_cast<std::int64_t>(started_.size());
}

void FakeMachine::start(std::int64_t pid, std::uint64_t start_ticks) {
  processes_[pid] = {.start_ticks = start_ticks, .zombie = false};
}

void FakeMachine::end(std::int64_t pid) { processes_.erase(pid); }

void FakeMachine::leave_zombie(std::int64_t pid) { processes_[pid].zombie = true; }

void FakeMachine::hide(std::int64_t pid) { hidden_.insert(pid); }

void FakeMachine::reboot(BootId boot) {
  boot_ = std::move(boot);
  processes_.clear();
  hidden_.clear();
}

}  // namespace dibs
