// What a store keeps and how it is changed: records under keys, and transactions that move several
// of them at once if, and only if, nobody else moved first.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "model/event.h"
#include "model/ref_move.h"

namespace dibs {

inline constexpr std::size_t kRecordBytesMax = 64UL * 1024;
inline constexpr std::size_t kTransactionWritesMax = 256;

/// A record as a store gives it back. The value is JSON text that stores never look into.
struct Record {
  Key key;
  std::string value;
  Version version;  // of the last write
  Fence fence;      // of the last write; larger than any this key had before
  Nonce nonce;      // of the transaction that wrote it

  friend bool operator==(const Record&, const Record&) = default;
};

/// What must still be true for a transaction to count: the key is at this version, or absent.
struct Expectation {
  Key key;
  std::optional<Version> version;

  friend bool operator==(const Expectation&, const Expectation&) = default;
};

/// A new value, or none: then the record is removed. Its fence is never given again.
struct Write {
  Key key;
  std::optional<std::string> value;

  friend bool operator==(const Write&, const Write&) = default;
};

/// All expectations hold and all writes happen, or nothing does. The events explain the writes.
struct Transaction {
  Nonce nonce;
  std::vector<Expectation> expectations;
  std::vector<Write> writes;
  std::vector<Event> events;
  // Git refs of the repository that move in the same step: on the remote, where the store is there.
  std::vector<RefMove> refs = {};
  bool gives_back = false;  // only ends leases: a store on a full disk uses its reserve for it
};

}  // namespace dibs
