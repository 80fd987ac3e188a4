// This machine: which boot it is in and which processes run on it. A lease tied to a process ends
// with it, so "is it gone?" must never be answered yes about a process that lives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace dibs {

[[nodiscard]] BootId read_boot_id();

struct ProcessView {
  std::uint64_t start_ticks = 0;  // tells it from a later process with the same pid
  bool zombie = false;            // ended, and only its parent has not looked yet
};

enum class Presence {
  running,
  gone,
  unknown,  // the system will not say (another user's, or /proc is hidden): treated as running
};

class Machine {
 public:
  virtual ~Machine() = default;
  [[nodiscard]] virtual std::string host_name() = 0;
  [[nodiscard]] virtual BootId boot_id() = 0;
  // Pids mean something only within one namespace; 0 when it cannot be read.
  [[nodiscard]] virtual std::uint64_t pid_namespace() = 0;
  [[nodiscard]] virtual std::int64_t own_pid() = 0;
  [[nodiscard]] virtual std::optional<ProcessView> find_process(std::int64_t pid) = 0;
  [[nodiscard]] virtual Presence presence(std::int64_t pid, std::uint64_t start_ticks) = 0;
  // Starts this same program with other arguments, in a session of its own, with nothing on its
  // standard streams; it outlives us. Returns its pid.
  [[nodiscard]] virtual Result<std::int64_t> start_detached(
      const std::vector<std::string>& arguments) = 0;
};

class LinuxMachine final : public Machine {
 public:
  [[nodiscard]] std::string host_name() override;
  [[nodiscard]] BootId boot_id() override;
  [[nodiscard]] std::uint64_t pid_namespace() override;
  [[nodiscard]] std::int64_t own_pid() override;
  [[nodiscard]] std::optional<ProcessView> find_process(std::int64_t pid) override;
  [[nodiscard]] Presence presence(std::int64_t pid, std::uint64_t start_ticks) override;
  [[nodiscard]] Result<std::int64_t> start_detached(
      const std::vector<std::string>& arguments) override;

 private:
  std::optional<std::uint64_t> pid_namespace_;  // once it was asked for
};

}  // namespace dibs
