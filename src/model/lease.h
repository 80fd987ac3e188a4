// The right to a resource, and the record that says who has it. A Holding is the typed form of one
// record: no lease, one exclusive lease, or any number of shared ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "model/agent.h"
#include "model/process_tie.h"
#include "model/record.h"

namespace dibs {

inline constexpr std::int64_t kTtlSecsMax = 30LL * 86'400;
inline constexpr std::size_t kReasonMax = 1000;
inline constexpr std::size_t kBranchNameMax = 250;
inline constexpr std::size_t kSharedHoldersMax = 64;

enum class Mode { exclusive, shared };

[[nodiscard]] constexpr std::string_view name_of(Mode mode) {
  return mode == Mode::exclusive ? "exclusive" : "shared";
}
[[nodiscard]] constexpr std::optional<Mode> parse_mode(std::string_view name) {
  if (name == name_of(Mode::exclusive)) return Mode::exclusive;
  if (name == name_of(Mode::shared)) return Mode::shared;
  return std::nullopt;
}

struct Lease {
  LeaseId id;
  AgentId agent;
  SessionId session;
  WorktreeId worktree;
  std::string branch;
  // What the item's visible branch begins with, where the store shows one: as it was made, whatever
  // becomes of the item's state. Empty: as the store's settings say.
  std::string claim_state = {};
  Mode mode = Mode::exclusive;
  Fence fence;                // zero until the commit that grants it has said which
  std::int64_t ttl_secs = 0;  // zero: indefinite
  std::int64_t acquired_unix_ms = 0;
  Instant beat;                    // the last sign of life: acquired, renewed or heartbeat
  std::optional<Instant> expires;  // none when indefinite
  std::optional<ProcessTie> process;
  std::string reason;
  std::string unknown_members;  // what a newer dibs wrote and this one keeps, as JSON members

  [[nodiscard]] bool indefinite() const { return ttl_secs == 0; }
  friend bool operator==(const Lease&, const Lease&) = default;
};

// A lock that another tool took on a store it shares with us. It gives no sign of life, so silence
// says nothing about it. No session of ours can have a slash in its name.
inline constexpr std::string_view kAnotherTool = "another-tool/";
[[nodiscard]] inline bool is_of_another_tool(const Lease& lease) {
  return lease.session.text.starts_with(kAnotherTool);
}

struct Holding {
  std::vector<Lease> leases;

  friend bool operator==(const Holding&, const Holding&) = default;
};

[[nodiscard]] std::string to_json(const Holding& holding);

// A lease whose fence is not in the text yet was granted by the very commit that wrote the record,
// so it has the record's fence: a store knows the fence only while it commits.
[[nodiscard]] Result<Holding> holding_of(const Record& record);

// The fields that people and scripts see; the record form has more.
[[nodiscard]] std::string public_members(const Lease& lease, const Key& resource);

}  // namespace dibs
