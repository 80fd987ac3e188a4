// A machine whose processes start and end when a test says so.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sys/machine.h"

namespace dibs {

class FakeMachine final : public Machine {
 public:
  [[nodiscard]] std::string host_name() override { return "host-1"; }
  [[nodiscard]] BootId boot_id() override { return boot_; }
  [[nodiscard]] std::uint64_t pid_namespace() override { return pid_namespace_; }
  [[nodiscard]] std::int64_t own_pid() override { return kOwnPid; }
  [[nodiscard]] std::optional<ProcessView> find_process(std::int64_t pid) override;
  [[nodiscard]] Presence presence(std::int64_t pid, std::uint64_t start_ticks) override;
  [[nodiscard]] Result<std::int64_t> start_detached(
      const std::vector<std::string>& arguments) override;

  void start(std::int64_t pid, std::uint64_t start_ticks);
  void end(std::int64_t pid);
  void leave_zombie(std::int64_t pid);
  void hide(std::int64_t pid);  // runs, but the system will not say
  void set_pid_namespace(std::uint64_t number) { pid_namespace_ = number; }
  void reboot(BootId boot);
  [[nodiscard]] const std::vector<std::vector<std::string>>& started() const { return started_; }

  static constexpr std::int64_t kOwnPid = 100;

 private:
  BootId boot_{"boot-1"};
  std::uint64_t pid_namespace_ = 4'026'531'836;
  std::map<std::int64_t, ProcessView> processes_;
  std::set<std::int64_t> hidden_;
  std::vector<std::vector<std::string>> started_;
};

}  // namespace dibs
