#include "ledger/ledger.h"

#include <fmt/core.h>

#include <algorithm>

namespace dibs {

namespace {
constexpr int kRacesMax = 16;
constexpr int kUnknownsMax = 3;
constexpr std::uint64_t kFirstPauseMs = 2;
constexpr std::uint64_t kLongestPauseMs = 500;

// Every store can rely on these, and none has to check them.
Done within_bounds(const Transaction& transaction) {
  if (transaction.writes.size() > kTransactionWritesMax) {
    return fail(ErrorKind::refused,
                fmt::format("that changes {} records at once; at most {} go together",
                            transaction.writes.size(), kTransactionWritesMax),
                "name fewer resources in one command");
  }
  for (const Write& write : transaction.writes) {
    if (write.value && write.value->size() > kRecordBytesMax) {
      return fail(ErrorKind::refused,
                  fmt::format("too many share {}: its record would be {} bytes, and at most {} fit",
                              write.key.text, write.value->size(), kRecordBytesMax),
                  "wait until some of them release it");
    }
  }
  return {};
}

Result<Seat> seat_of(const Record& record) {
  Seat seat;
  seat.version = record.version;
  if (resource_of(record.key)) {
    Result<Holding> holding = holding_of(record);
    if (!holding) return fail(holding.error());
    seat.holding = *std::move(holding);
  } else if (waited_for(record.key)) {
    Result<Line> line = line_of(record);
    if (!line) return fail(line.error());
    seat.line = *std::move(line);
  }
  return seat;
}
}  // namespace

Result<Board> Ledger::look(const Selection& selection) {
  const Result<View> view = store_.read(selection);
  if (!view) return fail(view.error());
  return board_of(*view);
}

Result<std::optional<Fence>> Ledger::settle_changes(const Selection& selection,
                                                    const Judge& judge) {
  int unknowns = 0;
  for (int race = 0; race < kRacesMax; ++race) {
    if (race > 1) {
      // The first lost race is tried again at once: a store that can holds its lock for it.
      const std::uint64_t pause_ms =
          std::min(kFirstPauseMs << static_cast<unsigned>(race), kLongestPauseMs);
      clock_.sleep_ms(static_cast<std::int64_t>(random_.below(pause_ms)));
    }
    Selection asked = selection;
    asked.last_look_will_do = race == 0;
    const Result<View> view = store_.read(asked);
    if (!view) return fail(view.error());
    const Result<Board> board = board_of(*view);
    if (!board) return fail(board.error());
    Result<Changes> changes = judge(*board);
    if (!changes && view->last_look) continue;
    if (!changes) return fail(changes.error());
    if (changes->writes.empty() && changes->expectations.empty()) return std::optional<Fence>();
    const bool only_confirms = changes->writes.empty();

    const Transaction transaction{.nonce = random_.nonce(),
                                  .expectations = std::move(changes->expectations),
                                  .writes = std::move(changes->writes),
                                  .events = std::move(changes->events),
                                  .refs = std::move(changes->refs),
                                  .gives_back = changes->gives_back};
    if (Done fits = within_bounds(transaction); !fits) return fail(fits.error());
    const Result<Outcome> outcome = store_.commit(transaction);
    if (!outcome) return fail(outcome.error());
    const Result<std::optional<Fence>> fence = fence_of(transaction, *outcome);
    if (!fence) return fail(fence.error());
    if (fence->has_value()) return only_confirms ? std::optional<Fence>() : *fence;
    // It did not happen, and it was not another who was faster.
    const auto* unknown = std::get_if<OutcomeUnknown>(&*outcome);
    if (unknown != nullptr && ++unknowns == kUnknownsMax) {
      return fail(ErrorKind::unreachable,
                  fmt::format("the store does not take the change: {}", unknown->why),
                  "see what is wrong with: dibs doctor");
    }
  }
  return fail(ErrorKind::contended, fmt::format("others were faster {} times in a row", kRacesMax),
              "run the command again");
}

// Nothing when it did not happen and may be tried again.
Result<std::optional<Fence>> Ledger::fence_of(const Transaction& transaction,
                                              const Outcome& outcome) {
  if (const auto* unknown = std::get_if<OutcomeUnknown>(&outcome))
    return look_for(transaction, unknown->why);
  if (const auto* moved = std::get_if<RefsMoved>(&outcome)) {
    return fail(ErrorKind::contended,
                fmt::format("a branch is not where it was any more: {}", moved->why),
                "run the command again");
  }
  const auto* committed = std::get_if<Committed>(&outcome);
  return committed == nullptr ? std::nullopt : std::optional(committed->fence);
}

Done Ledger::confirm(const Key& key) {
  const Judge same = [&](const Board& board) -> Result<Changes> {
    return Changes{.expectations = {{.key = key, .version = board.seat(key).version}}};
  };
  const Result<std::optional<Fence>> settled = settle_changes(Selection::of({key}), same);
  return settled ? Done{} : fail(settled.error());
}

Result<std::optional<Fence>> Ledger::look_for(const Transaction& transaction,
                                              const std::string& why) {
  const Error unknown{
      .kind = ErrorKind::unreachable,
      .message = fmt::format("it is not known whether the change was made: {}", why),
      .hint = "see how things stand before you go on: dibs claim list",
      .fields = {}};
  std::vector<Key> keys;
  for (const Expectation& expected : transaction.expectations) keys.push_back(expected.key);
  for (const Write& write : transaction.writes) keys.push_back(write.key);
  const Result<View> view = store_.read(Selection::of(keys));
  if (!view) return fail(unknown);
  // What was only expected may have the nonce too, where a store writes it again as it was; its
  // fence is an older one.
  for (const Write& write : transaction.writes) {
    const Record* record = view->find(write.key);
    if (record != nullptr && record->nonce == transaction.nonce) return record->fence;
  }
  const bool untouched =
      std::ranges::all_of(transaction.expectations, [&](const Expectation& expected) {
        const Record* record = view->find(expected.key);
        return expected.version ==
               (record == nullptr ? std::nullopt : std::optional(record->version));
      });
  if (untouched) return std::optional<Fence>();
  // What was removed leaves no record with the nonce, but its line is in the history.
  const Result<History> history = store_.history(
      {.since = {}, .resource = {}, .mentioning = transaction.nonce.hex(), .newest = 1});
  if (history && !history->events.empty()) return Fence{history->events.back().seq};
  return fail(unknown);
}

Result<Board> Ledger::board_of(const View& view) {
  Board board;
  board.now = view.now;
  board.margin_ms = view.margin_ms;
  for (const Record& record : view.records) {
    Result<Seat> seat = seat_of(record);
    if (!seat) return fail(seat.error());
    for (const Lease& lease : seat->holding.leases) {
      if (!lease.process) continue;
      if (auto ended = how_it_ended(*lease.process, view))
        board.gone.emplace(lease.id, *std::move(ended));
    }
    for (const Waiter& waiter : seat->line.waiters) {
      if (!waiter.process) continue;
      if (auto ended = how_it_ended(*waiter.process, view))
        board.gone_waiters.emplace(waiter.id, *std::move(ended));
    }
    board.seats.emplace(record.key, *std::move(seat));
  }
  return board;
}

// Only what is certain: a process of another machine, or of another container, may well be running.
std::optional<std::string> Ledger::how_it_ended(const ProcessTie& process, const View& view) {
  // A store of many machines has no boot of its own; a process of this one can be told all the
  // same.
  const BootId here = view.now.boot.empty() ? machine_.boot_id() : view.now.boot;
  if (here.empty()) return std::nullopt;
  if (process.boot != here) {
    if (!view.one_machine) return std::nullopt;
    return fmt::format("the machine was restarted, and process {} with it", process.pid);
  }
  if (process.pid_namespace == 0 || process.pid_namespace != machine_.pid_namespace())
    return std::nullopt;
  if (machine_.presence(process.pid, process.start_ticks) != Presence::gone) return std::nullopt;
  return fmt::format("process {} is gone", process.pid);
}

}  // namespace dibs
