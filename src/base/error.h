// What went wrong, as a value: a kind that fixes the exit code, a sentence for the person, and the
// command to type next. Errors travel in Result<T>; nothing throws across layers.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dibs {

// The values are the exit codes of the command contract: stable, and documented in `help
// exit-codes`.
enum class ErrorKind : int {
  internal = 1,
  held = 3,
  not_found = 4,
  lease_lost = 5,
  nothing_ready = 6,
  timed_out = 7,
  refused = 8,
  deadlock_victim = 9,
  not_set_up = 10,
  unreachable = 11,
  contended = 12,
  usage = 64,
};

constexpr int exit_code(ErrorKind kind) { return static_cast<int>(kind); }

// The word that `--json` errors carry as "code".
std::string_view name_of(ErrorKind kind);

// One extra fact for machines, such as the holder of what was refused. `json` is JSON text.
struct ErrorField {
  std::string name;
  std::string json;

  friend bool operator==(const ErrorField&, const ErrorField&) = default;
};

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;  // what happened, one sentence, no full stop needed by callers
  std::string hint;     // what to type next; empty when there is nothing to type
  std::vector<ErrorField> fields;

  friend bool operator==(const Error&, const Error&) = default;
};

}  // namespace dibs
