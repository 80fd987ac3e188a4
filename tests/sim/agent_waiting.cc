// Standing in line, as verbs/waiting does it: join, look when something may have changed, say now
// and then that one is still there, and leave at the end of one's patience.
#include <algorithm>

#include "agent.h"
#include "agent_habits.h"

namespace dibs::sim {

namespace {
constexpr std::int64_t kLookMostMs = 3'000;
constexpr int kLooksMax = 200;
}  // namespace

bool Agent::join(Asked& asked, const WaitRequest& request) {
  const Heard<Joined> heard =
      command<Joined>(asked, Selection::everything(),
                      [&](const Board& board) { return dibs::join(board, request); });
  if (!heard || !*heard) return false;
  world_.witness.told(asked, (*heard)->fence, {});
  return !(*heard)->reply.must_give_way;
}

void Agent::leave(Asked& asked, const WaitRequest& request) {
  std::vector<Key> keys;
  for (const Resource& resource : request.resources) keys.push_back(line_key(resource.key()));
  asked.verb = "leave";
  (void)command<std::monostate>(
      asked, Selection::of(keys), [&](const Board& board) -> Result<Decision<std::monostate>> {
        return dibs::leave(board, request.id, request.resources, "its time was over");
      });
}

void Agent::watch_whose_turn_it_is(Asked& asked, const Outlook& outlook) {
  const std::int64_t now_ms = world_.schedule.now_ms();
  if (outlook.has_its_turn != has_its_turn_) {
    has_its_turn_ = outlook.has_its_turn;
    its_turn_since_ms_ = now_ms;
  } else if (has_its_turn_ && now_ms - its_turn_since_ms_ >= kTurnMs) {
    asked.place.passed_over.push_back(*has_its_turn_);
  }
}

Agent::Heard<Grants> Agent::take_turn(Asked& asked, AcquireRequest& request) {
  std::vector<Key> keys;
  for (const Resource& resource : request.resources) keys.push_back(resource.key());
  for (const Resource& resource : request.resources) keys.push_back(line_key(resource.key()));
  request.place = asked.place;
  Outlook seen;
  Heard<Grants> heard = settle(asked, Selection::of(keys), [&](const Board& board) {
    seen = outlook(board, request.resources, *asked.place.id, request.policy);
    if (world_.bug == Bug::the_second_in_line_is_served) {
      for (const Waiter& waiter : board.line(request.resources.front().key()).waiters)
        request.place.passed_over.push_back(waiter.id);
    }
    return dibs::acquire(board, request);
  });
  watch_whose_turn_it_is(asked, seen);
  return heard;
}

WaitRequest Agent::wait_request(const AcquireRequest& request) {
  WaitRequest waiting{.who = request.who,
                      .resources = request.resources,
                      .id = {process_->random().lease_id(host_.now().unix_ms).text},
                      .mode = request.mode,
                      .priority = static_cast<int>(dice().between(1, 3)),
                      .sign_of_life_ms = kSignOfLifeMs,
                      .resolve = dice().chance(20) ? Resolve::evict : Resolve::tell,
                      .policy = request.policy};
  waiting.who.process = process_->tie();
  return waiting;
}

void Agent::wait() {
  std::vector<Resource> resources{any_resource()};
  if (dice().chance(30)) resources.push_back(resource_number(std::stoll(resources[0].name) + 1));
  std::ranges::sort(resources);
  AcquireRequest request = acquire_request(resources);
  request.ttl_secs = std::max(request.ttl_secs, kTtlLeastSecs);
  const WaitRequest waiting = wait_request(request);
  Asked asked = asks("wait", resources);
  asked.place.id = waiting.id;
  asked.may_evict = waiting.resolve == Resolve::evict;
  if (join(asked, waiting)) stand_in_line(asked, waiting, request);
}

void Agent::stand_in_line(Asked& asked, const WaitRequest& waiting, AcquireRequest& request) {
  const std::int64_t deadline_ms = world_.schedule.now_ms() + dice().below(kPatienceMostMs);
  std::int64_t sign_due_ms = world_.schedule.now_ms() + kSignEveryMs;
  for (int looks = 0; looks < kLooksMax && !world_.witness.broken(); ++looks) {
    if (!take_or_stay(asked, waiting, request, deadline_ms)) return;
    process_->sleep_ms(dice().below(kLookMostMs));
    if (!process_->alive()) return;
    if (world_.schedule.now_ms() < sign_due_ms) continue;
    sign_due_ms = world_.schedule.now_ms() + kSignEveryMs;
    if (!join(asked, waiting)) return;
    beat();
    if (!process_->alive()) return;
  }
}

// False when it stands there no more, for one reason or another.
bool Agent::take_or_stay(Asked& asked, const WaitRequest& waiting, AcquireRequest& request,
                         std::int64_t deadline_ms) {
  Asked turn = asked;
  turn.verb = "turn";
  turn.may_evict = false;
  const Heard<Grants> heard = take_turn(turn, request);
  asked.place = turn.place;
  if (!heard) return false;
  if (*heard) {
    believe((*heard)->reply);
    return false;
  }
  if ((*heard).error().kind == ErrorKind::held && world_.schedule.now_ms() < deadline_ms)
    return true;
  leave(asked, waiting);
  return false;
}

}  // namespace dibs::sim
