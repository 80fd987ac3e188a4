#include "verbs/waiting.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "verbs/heartbeat.h"
#include "verbs/item_failure.h"

namespace dibs::verbs {

namespace {

constexpr std::int64_t kSignOfLifeMs = 300'000;
constexpr std::int64_t kSignEveryMs = kSignOfLifeMs / 3;
// That a process has died is no event. Whoever is next looks for it this often, the others less.
constexpr std::int64_t kLookMs = 1'000;
constexpr std::int64_t kLongestLookMs = 60'000;
// Many who wait shall not all look at every change at once: the further back, the later.
constexpr std::int64_t kStepBackMs = 10;
constexpr std::int64_t kStepBackMostMs = 1'000;
// How long one whose turn it is may leave a free resource lying: it may be stopped.
constexpr std::int64_t kTurnMs = 5'000;
constexpr std::int64_t kTurnOnRemoteMs = 60'000;

class InLine {
 public:
  InLine(Workspace& workspace, Ledger& ledger, WaitRequest wait, const Turn& turn)
      : workspace_(workspace), ledger_(ledger), wait_(std::move(wait)), turn_(turn) {}

  [[nodiscard]] Result<Grants> take(std::int64_t most_ms);

 private:
  [[nodiscard]] std::int64_t now_ms() { return workspace_.system().clock.now().boot_ms; }
  [[nodiscard]] Done join();
  [[nodiscard]] Result<Grants> attempt();
  [[nodiscard]] Result<Grants> take_or_wait(std::int64_t deadline_ms);
  [[nodiscard]] Done pause(std::int64_t deadline_ms);
  [[nodiscard]] Done keep_alive();
  void tell_of_eviction(const HeldLease& held);
  void watch_whose_turn_it_is();
  void leave(const std::string& why);
  [[nodiscard]] Error timed_out(std::int64_t most_ms, const Error& last) const;

  Workspace& workspace_;
  Ledger& ledger_;
  WaitRequest wait_;
  const Turn& turn_;
  PlaceInLine place_;
  Outlook outlook_;
  Cursor cursor_;
  std::int64_t sign_due_ms_ = 0;
  std::optional<std::int64_t> beat_due_ms_;  // none: the session holds nothing
  std::optional<WaitId> has_its_turn_;
  std::int64_t its_turn_since_ms_ = 0;
};

Done InLine::join() {
  auto settled = ledger_.settle<Joined>(Selection::everything(), [&](const Board& board) {
    if (!beat_due_ms_ && !leases_of(board, wait_.who.session).extended.empty()) beat_due_ms_ = 0;
    return dibs::join(board, wait_);
  });
  if (!settled) return fail(settled.error());
  sign_due_ms_ = now_ms() + kSignEveryMs;
  if (settled->reply.must_give_way)
    return fail(gives_way(in_words(settled->reply.deadlocks.back())));
  for (const HeldLease& held : settled->reply.evicted) tell_of_eviction(held);
  return {};
}

// Its item is there for others again, with one try more.
void InLine::tell_of_eviction(const HeldLease& held) {
  workspace_.warn(fmt::format("{} was in a deadlock with this, and has lost {}",
                              printable(held.lease.session.text), printable(held.resource.text)));
  const std::optional<Resource> resource = resource_of(held.resource);
  if (!resource || resource->kind != ResourceKind::item) return;
  const Result<FailedItem> failed = fail_item(
      workspace_, {.item = resource->name,
                   .reason = fmt::format("{} gave way in a deadlock", held.lease.agent.text)});
  // Leases are taken on what dibs has no item for, too.
  if (!failed && failed.error().kind != ErrorKind::not_found)
    workspace_.warn(failed.error().message);
}

Result<Grants> InLine::attempt() {
  auto settled = ledger_.settle<Grants>(turn_.selection, [&](const Board& board) {
    outlook_ = outlook(board, wait_.resources, wait_.id, wait_.policy);
    return turn_.take(board, place_);
  });
  if (!settled) return fail(settled.error());
  if (settled->fence) stamp(settled->reply, *settled->fence);
  return std::move(settled->reply);
}

// What is free and stays lying is not waited for without end. Only what was seen counts: who comes
// later knows nothing of it.
void InLine::watch_whose_turn_it_is() {
  if (outlook_.has_its_turn != has_its_turn_) {
    has_its_turn_ = outlook_.has_its_turn;
    its_turn_since_ms_ = now_ms();
    return;
  }
  const Result<const StoreBackend*> backend = workspace_.backend();
  const std::int64_t grace_ms = backend && (*backend)->is_remote ? kTurnOnRemoteMs : kTurnMs;
  if (has_its_turn_ && now_ms() - its_turn_since_ms_ >= grace_ms)
    place_.passed_over.push_back(*has_its_turn_);
}

// A sign of life keeps the place; it is also when a deadlock is found that no wait has closed.
Done InLine::keep_alive() {
  if (now_ms() >= sign_due_ms_) {
    if (Done joined = join(); !joined) return joined;
  }
  if (!beat_due_ms_ || now_ms() < *beat_due_ms_) return {};
  const Result<const Settings*> settings = workspace_.settings();
  if (!settings) return fail(settings.error());
  const Result<Beat> beat = heartbeat_for(workspace_, wait_.who);
  if (!beat) {
    workspace_.warn(beat.error().message);
    beat_due_ms_ = now_ms() + kLookMs;
    return {};
  }
  const std::int64_t every_secs = (*settings)->integer("coordination.heartbeat_interval_secs");
  beat_due_ms_ = now_ms() + pace_ms(beat->extended, every_secs);
  if (beat->extended.empty()) beat_due_ms_.reset();
  return {};
}

Done InLine::pause(std::int64_t deadline_ms) {
  const auto ahead = static_cast<std::int64_t>(outlook_.ahead);
  std::int64_t ms = std::min(kLookMs * (ahead + 1), kLongestLookMs);
  if (outlook_.lapse_ms) ms = std::min(ms, *outlook_.lapse_ms + 1);
  if (beat_due_ms_) ms = std::min(ms, *beat_due_ms_ - now_ms());
  ms = std::max<std::int64_t>(std::min(ms, deadline_ms - now_ms()), 0);
  const std::int64_t began_ms = now_ms();
  const Result<Cursor> cursor = ledger_.store().wait(cursor_, ms);
  if (!cursor) return fail(cursor.error());
  const bool woken = *cursor > cursor_;
  cursor_ = *cursor;
  const std::int64_t left_ms = ms - (now_ms() - began_ms);
  const std::int64_t back_ms = std::min({ahead * kStepBackMs, kStepBackMostMs, left_ms});
  if (woken && back_ms > 0) workspace_.system().clock.sleep_ms(back_ms);
  return {};
}

Result<Grants> InLine::take_or_wait(std::int64_t deadline_ms) {
  while (true) {
    Result<Grants> grants = attempt();
    if (grants || grants.error().kind != ErrorKind::held) return grants;
    if (now_ms() >= deadline_ms) return grants;
    watch_whose_turn_it_is();
    if (Done paused = pause(deadline_ms); !paused) return fail(paused.error());
    if (Done alive = keep_alive(); !alive) return fail(alive.error());
  }
}

void InLine::leave(const std::string& why) {
  std::vector<Key> keys;
  for (const Resource& resource : wait_.resources) keys.push_back(line_key(resource.key()));
  const auto left = ledger_.settle<std::monostate>(
      Selection::of(keys), [&](const Board& board) -> Result<Decision<std::monostate>> {
        return dibs::leave(board, wait_.id, wait_.resources, why);
      });
  // Who cannot say that it leaves is found out: its process will be gone.
  (void)left;
}

Error InLine::timed_out(std::int64_t most_ms, const Error& last) const {
  Error error = last;
  error.kind = ErrorKind::timed_out;
  error.message = fmt::format("waited {}, and {}", duration_text(most_ms), last.message);
  error.hint = fmt::format("see who waits, and how long it takes: dibs queue list {}",
                           shell_word(wait_.resources.front().key().text));
  return error;
}

Result<Grants> InLine::take(std::int64_t most_ms) {
  const std::int64_t deadline_ms = now_ms() + most_ms;
  // Where history stands before the first look: what happens after it ends the first pause.
  const Result<Cursor> cursor = ledger_.store().wait({}, 0);
  if (!cursor) return fail(cursor.error());
  cursor_ = *cursor;
  if (Done joined = join(); !joined) return fail(joined.error());
  place_.id = wait_.id;
  Result<Grants> grants = take_or_wait(deadline_ms);
  if (!grants) {
    leave(grants.error().kind == ErrorKind::held ? "its time was over" : "it gave up");
    if (grants.error().kind == ErrorKind::held) return fail(timed_out(most_ms, grants.error()));
  }
  return grants;
}

}  // namespace

Result<Grants> take_in_line(Workspace& workspace, Ledger& ledger, const WaitRequest& wait,
                            const Turn& turn, std::int64_t most_secs) {
  // Most that is asked for is free: then there is no line to stand in.
  auto at_once = ledger.settle<Grants>(turn.selection,
                                       [&](const Board& board) { return turn.take(board, {}); });
  if (at_once && at_once->fence) stamp(at_once->reply, *at_once->fence);
  if (at_once) return std::move(at_once->reply);
  if (at_once.error().kind != ErrorKind::held) return fail(at_once.error());
  const Result<ProcessTie> own = workspace.own_process();
  if (!own) return fail(own.error());
  WaitRequest request = wait;
  request.id = {workspace.system().random.lease_id(workspace.system().clock.now().unix_ms).text};
  request.who.process = *own;
  request.sign_of_life_ms = kSignOfLifeMs;
  return InLine(workspace, ledger, std::move(request), turn).take(most_secs * 1000);
}

}  // namespace dibs::verbs
