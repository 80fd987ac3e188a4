// How records lie on a git remote. The store does what all layouts share (one process of a machine
// at a time, the last look, tries, numbers); a layout says which refs hold a record and how they
// move when it changes. It only reads and prepares: pushing is the store's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/record.h"
#include "model/ref_move.h"
#include "store/log_line.h"
#include "store/upkeep.h"

namespace dibs {

/// A record as last seen on the remote. One that was removed may still be seen, without a value.
struct Seen {
  std::string commit;  // where its ref stands, or the commit that it was read from
  std::uint64_t seq = 0;
  std::int64_t unix_ms = 0;
  std::optional<Record> record;
  std::vector<Key> along_with;  // what the same change wrote, this record included
  bool gone = false;            // its ref was there and went without having been put away
};
using Sight = std::map<Key, Seen>;

/// The place of a change among the others: it gets the number after `before`.
struct Turn {
  std::uint64_t before = 0;
  std::int64_t now_ms = 0;
  Nonce nonce;         // makes what is written in this turn unlike anything else
  bool fresh = false;  // the remote was looked at for it
};

// Anybody may put up a hundred thousand refs that say nothing; a terminal is told of the first few.
inline constexpr std::size_t kUnreadNoticesMax = 10;
[[nodiscard]] std::string more_unread(std::size_t count);

// What the commit of a change says: the line that the local log would have for it.
[[nodiscard]] Result<std::string> change_text(const LogLine& line, const Turn& turn);

class GitLayout {
 public:
  virtual ~GitLayout() = default;

  // A ref that has to be on the remote before the first change; none when it was seen there.
  [[nodiscard]] virtual Result<std::optional<RefMove>> beginning(std::int64_t now_ms) = 0;
  // The records as last seen; no keys: all of them. A record that is there and cannot be read is
  // an error when it was asked for by its key, and a notice when all were.
  [[nodiscard]] virtual Result<Sight> seen(const std::vector<Key>& keys) = 0;
  // The same, after a look at the remote.
  [[nodiscard]] virtual Result<Sight> look(const std::vector<Key>& keys) = 0;
  // All numbers up to this were given, as far as was seen.
  [[nodiscard]] virtual Result<std::uint64_t> floor() = 0;
  // How refs have to move to make the change. `sight` is of all its keys, and its expectations hold
  // there.
  [[nodiscard]] virtual Result<std::vector<RefMove>> prepare(const Transaction& transaction,
                                                             const Sight& sight, Turn turn) = 0;
  // What the commits say that made the records what they are, in any order: each a log line.
  [[nodiscard]] virtual Result<std::vector<std::string>> messages() = 0;

  /// What can be put away: how refs move for it, and how many records that concerns.
  struct Tidying {
    std::vector<RefMove> moves;
    std::size_t records = 0;
  };
  [[nodiscard]] virtual bool wants_tidying() = 0;  // must be cheap
  [[nodiscard]] virtual Result<Tidying> tidying(const Sight& all, Turn turn) = 0;
  // What a doctor says about this layout on this remote.
  [[nodiscard]] virtual std::vector<Finding> inspect(const Sight& all) = 0;
};

}  // namespace dibs
