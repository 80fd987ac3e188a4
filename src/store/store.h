// Versioned records that all dibs processes share, changed by compare-and-swap. This is the one
// seam between the rules and the world: whatever can do these five things can carry leases.
//
//   Result<View> view = store.read(Selection::of({key}));
//   … decide …
//   Result<Outcome> outcome = store.commit(transaction);   // lost_race: read and decide again
//
// What every store promises (store_contract_test.h checks each):
// - A commit happens whole or not at all, and only if every expectation held at that moment.
// - `committed` means durable, as far as promises() says. A transaction without writes changes
//   nothing, and `committed` then means that what its expectations saw is durable.
// - Every commit gets a fence larger than any its keys ever had, through removal and reopening.
// - An error means that nothing happened. Where a store cannot know, it says OutcomeUnknown, and
// the
//   caller reads back and looks for the nonce; unknown is never taken for success or for free.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/event.h"
#include "model/record.h"

namespace dibs {

/// Which records to read: those with these keys, or those whose value mentions a text (every
/// record, when the text is empty). The second serves lookups by lease or session without an index.
struct Selection {
  std::vector<Key> keys;
  std::optional<std::string> mentioning;
  // A store that is slow to ask may answer from what it saw last, where that shows nobody there. A
  // commit finds out if it is not so any more.
  bool last_look_will_do = false;

  [[nodiscard]] static Selection of(std::vector<Key> keys) {
    return {.keys = std::move(keys), .mentioning = {}};
  }
  [[nodiscard]] static Selection with_text(std::string text) {
    return {.keys = {}, .mentioning = std::move(text)};
  }
  [[nodiscard]] static Selection everything() { return with_text({}); }
};

/// A place in a store's history: everything up to this sequence number has been seen.
struct Cursor {
  std::uint64_t seq = 0;
  friend auto operator<=>(const Cursor&, const Cursor&) = default;
};

/// The selected records at one moment of the store's own time.
struct View {
  Instant now;
  std::int64_t margin_ms = 0;   // how far `now` may be from another reader's
  bool one_machine = false;     // every session in this store runs on this machine
  bool last_look = false;       // not asked for now: nothing may be refused because of it
  std::vector<Record> records;  // by key; a record that is not there is absent
  Cursor cursor;
  // Whatever the store keeps up while the view is looked at, such as a lock after a lost race.
  std::shared_ptr<const void> hold;

  [[nodiscard]] const Record* find(const Key& key) const;
};

struct Committed {
  Fence fence;
};
struct LostRace {};
/// The records are as expected, but a git ref that was to move with them is not where it was.
struct RefsMoved {
  std::string why;
};
struct OutcomeUnknown {
  std::string why;
};
using Outcome = std::variant<Committed, LostRace, RefsMoved, OutcomeUnknown>;

/// Which past events to read.
struct HistoryQuery {
  Cursor since;                           // those after this
  std::optional<Key> resource;            // only about this resource
  std::optional<std::string> mentioning;  // only lines with this text: a lease id, a nonce in hex
  std::size_t newest = 1000;              // at most this many, the newest; returned oldest first
  std::vector<Op> ops = {};               // only these; none: all
  // Only of the newest so many entries, so that asking costs the same however long history is.
  std::uint64_t last_entries = UINT64_MAX;
};
// For stores: whether an event is one of those asked for, as far as it tells by itself.
[[nodiscard]] bool is_about(const PastEvent& past, const HistoryQuery& query);
// For stores: the query with nothing but `since` left to say where it begins.
[[nodiscard]] HistoryQuery begun_at(HistoryQuery query, Cursor newest);

struct History {
  std::vector<PastEvent> events;
  Cursor cursor;  // where reading ended: the next query's `since`
  // Events with numbers up to the cursor can still turn up: changes that knew nothing of each other
  // may have one number.
  bool may_be_late = false;
};
// For stores: of events in order, the last so many.
void keep_newest(std::vector<PastEvent>& events, std::size_t newest);

/// What a store may honestly claim: one row of `dibs promises`.
struct Promises {
  std::string_view store;
  std::string_view pause;
  std::string_view partition;
  std::string_view clock_jump;
  std::string_view power_loss;
  std::string_view waiters;
  std::string_view offline;
};

class Store {
 public:
  virtual ~Store() = default;
  [[nodiscard]] virtual Result<View> read(const Selection& selection) = 0;
  [[nodiscard]] virtual Result<Outcome> commit(const Transaction& transaction) = 0;
  // Returns once there is something after `since`, or something new that is late, or at the
  // deadline; says how far history goes.
  [[nodiscard]] virtual Result<Cursor> wait(Cursor since, std::int64_t most_ms) = 0;
  [[nodiscard]] virtual Result<History> history(const HistoryQuery& query) = 0;
  [[nodiscard]] virtual Promises promises() const = 0;
};

}  // namespace dibs
