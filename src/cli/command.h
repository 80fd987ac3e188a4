// A command as data: what it is called, what it takes, and what runs. Parsing, help, completion and
// the manual are all made from this, so they cannot disagree.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dibs::cli {

struct Invocation;

enum class Takes { nothing, text, number };

struct Option {
  std::string_view name;  // "--ttl"
  Takes takes = Takes::nothing;
  std::string_view value = {};  // "SECS", for help
  std::string_view meaning;
  std::int64_t least = 0;  // numbers
  std::int64_t most = INT64_MAX;
  std::string_view choices = {};  // separated by '|'; any text when empty
  bool hidden = false;            // works, but is for dibs itself
  bool repeats = false;           // may be given several times
};

struct Positional {
  std::string_view name;  // "RESOURCE"
  std::string_view meaning;
  std::size_t least = 1;
  std::size_t most = 1;
};

/// The words of one invocation, checked against its command.
class Args {
 public:
  [[nodiscard]] bool has(std::string_view option) const { return values_.contains(option); }
  [[nodiscard]] std::optional<std::string> text(std::string_view option) const;
  // Of an option that repeats: all of them, in their order.
  [[nodiscard]] std::vector<std::string> texts(std::string_view option) const;
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view option) const;
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }
  [[nodiscard]] std::optional<std::string> word(std::size_t i) const;

  void set(std::string_view option, std::string value) {
    values_[std::string(option)] = {std::move(value)};
  }
  void add(std::string_view option, std::string value) {
    values_[std::string(option)].push_back(std::move(value));
  }
  void set_words(std::vector<std::string> words) { words_ = std::move(words); }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> words_;
};

struct Command {
  std::string_view name;     // "claim acquire"
  std::string_view summary;  // one line, no full stop
  std::string_view details;  // paragraphs for --help
  std::span<const Positional> positionals;
  std::span<const Option> options;
  std::string_view example;
  Done (*run)(Invocation&) = nullptr;
};

// Every command, in the order that help shows them. The parts are constants, one file a group.
[[nodiscard]] const std::vector<Command>& commands();
[[nodiscard]] std::span<const Option> global_options();
[[nodiscard]] std::span<const Command> claim_commands();
[[nodiscard]] std::span<const Command> item_commands();
[[nodiscard]] std::span<const Command> item_view_commands();
[[nodiscard]] std::span<const Command> item_exchange_commands();
[[nodiscard]] std::span<const Command> item_sync_commands();
[[nodiscard]] std::span<const Command> item_stamp_commands();
[[nodiscard]] std::span<const Command> item_failure_commands();
[[nodiscard]] std::span<const Command> conflict_commands();
[[nodiscard]] std::span<const Command> landing_commands();
[[nodiscard]] std::span<const Command> lease_view_commands();
[[nodiscard]] std::span<const Command> queue_commands();
[[nodiscard]] std::span<const Command> setup_commands();
[[nodiscard]] std::span<const Command> trust_commands();
[[nodiscard]] std::span<const Command> gate_commands();
[[nodiscard]] std::span<const Command> worktree_commands();
[[nodiscard]] std::span<const Command> observe_commands();
[[nodiscard]] std::span<const Command> run_commands();
[[nodiscard]] std::span<const Command> demo_commands();
[[nodiscard]] std::span<const Command> help_commands();

struct Parsed {
  const Command* command = nullptr;  // null: none was named
  std::string group;                 // "claim", when only that was named
  Args args;                         // global options included
};
[[nodiscard]] Result<Parsed> parse_arguments(const std::vector<std::string>& arguments);

}  // namespace dibs::cli
