// What a lock file says, and where it lies in the branch. The first fields are those that every
// tool on the branch writes (task_id, locked_by, …); those that begin with dibs_ come after them
// and hold the whole record. A file without them, or whose first fields somebody changed since, was
// written by another tool: it is a lease without a time limit of whoever locked_by names.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/record.h"
#include "store/lock_yaml.h"

namespace dibs {

// t42_lock.yaml for item:42, where other tools look for it; dibs/NAME.yaml for everything that has
// no such name.
[[nodiscard]] std::string lock_path(const Key& key);
// Whether a file there would be a lock, whatever it says.
[[nodiscard]] bool is_lock_path(std::string_view path);

// The record in the file at `path`. An error when it says nothing that dibs understands, as an
// empty, half-written or newer one.
[[nodiscard]] Result<Record> record_in(const std::string& path, std::string_view text);

/// Whom other tools are told that a lock is from.
struct LockHolder {
  std::string email;
  std::string host;
};

// The file for a record. `before` is what is at its path now (empty: nothing), of which it keeps
// the fields that dibs does not know. `holder` is asked only when the lease is another one than
// there.
[[nodiscard]] std::string lock_text(const Record& record, std::string_view before,
                                    const std::function<LockHolder()>& holder);

}  // namespace dibs
