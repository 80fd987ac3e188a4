// Commands that a configuration file names: gates that work has to pass, kinds of workers,
// resolvers of conflicts. What the repository itself names runs only once it was trusted
// (verbs/trust).
//
//   [gates.test]
//   command = "make test"          # a line for the shell; or a list: ["make", "test"]
//   stage = "postcheck"            # on the merged result; "precheck": before work begins
//   timeout = 600
//   required = true
//
//   [gates.review]
//   manual = true                  # passed by a person: dibs gate pass ITEM review --reason TEXT
//
//   [workers.fast]
//   command = ["agent", "--fast"]
//   count = 4
//   labels = ["small"]
//
//   [resolvers.union]
//   command = "merge-lines"
//
// Rules for conflicts ([[conflicts]]) are in model/conflict_rule.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/conflict_rule.h"

namespace dibs {

inline constexpr std::size_t kConfiguredMax = 100;  // of each kind
inline constexpr std::size_t kCommandWordsMax = 100;
inline constexpr std::size_t kCommandBytesMax = 8192;
inline constexpr std::size_t kConfiguredNameMax = 64;
inline constexpr std::int64_t kCommandSecsMax = 86'400;
inline constexpr std::int64_t kWorkersMax = 1000;

/// Who wrote the file. What is committed came with the repository, from whoever that was.
enum class ConfigSource { person, committed, clone };

struct ConfiguredCommand {
  std::string kind;  // "gate", "worker" or "resolver"
  std::string name;
  std::vector<std::string> words;
  ConfigSource source = ConfigSource::committed;
  std::string origin;  // "file:line"

  friend bool operator==(const ConfiguredCommand&, const ConfiguredCommand&) = default;
};

// Kind, name and every word; not where it stands.
[[nodiscard]] std::string fingerprint(const ConfiguredCommand& command);
// As it could be typed.
[[nodiscard]] std::string shown(const ConfiguredCommand& command);

enum class GateStage { precheck, postcheck };
[[nodiscard]] constexpr std::string_view name_of(GateStage stage) {
  return stage == GateStage::precheck ? "precheck" : "postcheck";
}

struct Gate {
  ConfiguredCommand command;  // no words: somebody has to pass it by hand
  GateStage stage = GateStage::postcheck;
  bool required = true;
  std::int64_t timeout_secs = 600;
  bool manual = false;
};

struct WorkerKind {
  ConfiguredCommand command;
  std::int64_t count = 1;
  std::vector<std::string> labels;
  std::string model;
  std::uint32_t cost_hundredths = 0;
  std::int64_t capacity = 1;
};

struct Resolver {
  ConfiguredCommand command;
  std::int64_t timeout_secs = 600;
};

/// By name, in the order of their names; rules in their own, of which the first that fits counts.
struct Configured {
  std::vector<Gate> gates;
  std::vector<WorkerKind> workers;
  std::vector<Resolver> resolvers;
  std::vector<ConflictRule> conflicts;
};

// Sections that hold tables by name, which are read here and not as settings.
[[nodiscard]] bool is_configured_section(std::string_view section);

// Errors name file and line, and what would be right.
[[nodiscard]] Result<Configured> parse_configured(std::string_view toml, const std::string& file,
                                                  ConfigSource source);
// What a stronger file names replaces what has the same name; its rules come first.
void overlay(Configured& under, Configured over);

}  // namespace dibs
