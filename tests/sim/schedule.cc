#include "schedule.h"

#include <fmt/core.h>
#include <ucontext.h>

#include <algorithm>
#include <csetjmp>
#include <limits>

namespace dibs::sim {

namespace {
constexpr std::size_t kStackBytes = 512UL * 1024;
constexpr std::int64_t kTurnsMax = 5'000'000;
constexpr std::int64_t kPassOneIn = 3;  // the turn is not always taken away: that costs time
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
}  // namespace

struct Schedule::Fiber {
  ucontext_t context{};  // where it begins
  jmp_buf left{};        // where it passed the turn
  bool begun = false;
  std::unique_ptr<char[]> stack;
  std::function<void()> body;
  const std::function<bool()>* until = nullptr;
  std::int64_t wakes_ms = 0;
  bool ended = false;
};

namespace {
Schedule* g_entered = nullptr;  // makecontext passes no pointers
}

Schedule::Schedule(std::uint64_t seed) : dice_(seed), scheduler_(std::make_unique<Fiber>()) {}

// A fiber that never ended is left as it is: nothing can unwind it.
Schedule::~Schedule() {
  for (std::unique_ptr<Fiber>& fiber : fibers_) {
    [[maybe_unused]] const Fiber* left = fiber->ended ? nullptr : fiber.release();
  }
}

void Schedule::enter() {
  Schedule& schedule = *g_entered;
  schedule.current_->body();
  schedule.current_->ended = true;
  schedule.yield();
}

void Schedule::start(std::function<void()> body) {
  auto fiber = std::make_unique<Fiber>();
  fiber->body = std::move(body);
  fiber->stack.reset(new char[kStackBytes]);  // not set to zero: most of it is never touched
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack.get();
  fiber->context.uc_stack.ss_size = kStackBytes;
  fiber->context.uc_link = nullptr;
  fiber->wakes_ms = now_ms_;
  makecontext(&fiber->context, &Schedule::enter, 0);
  fibers_.push_back(std::move(fiber));
}

// A context is only what a fiber begins with: changing to one makes a system call for a signal
// mask that nobody here has, and a jump makes none.
void Schedule::resume(Fiber& fiber) {
  g_entered = this;
  current_ = &fiber;
  if (_setjmp(scheduler_->left) == 0) {
    if (fiber.begun) _longjmp(fiber.left, 1);
    fiber.begun = true;
    setcontext(&fiber.context);
  }
  current_ = nullptr;
}

void Schedule::yield() {
  if (_setjmp(current_->left) == 0) _longjmp(scheduler_->left, 1);
}

void Schedule::find_ready() {
  ready_.clear();
  for (const std::unique_ptr<Fiber>& fiber : fibers_) {
    if (fiber->wakes_ms <= now_ms_ || (fiber->until != nullptr && (*fiber->until)()))
      ready_.push_back(fiber.get());
  }
}

bool Schedule::skip_to_the_next_wake_up() {
  std::int64_t next = kNever;
  for (const std::unique_ptr<Fiber>& fiber : fibers_) next = std::min(next, fiber->wakes_ms);
  if (next == kNever) return false;
  now_ms_ = std::max(now_ms_, next);
  return true;
}

bool Schedule::run() {
  for (std::int64_t turn = 0; turn < kTurnsMax; ++turn) {
    std::erase_if(fibers_, [](const auto& fiber) { return fiber->ended; });
    if (fibers_.empty()) return true;
    find_ready();
    if (!ready_.empty()) {
      const std::int64_t next = dice_.below(static_cast<std::int64_t>(ready_.size()));
      resume(*ready_[static_cast<std::size_t>(next)]);
    } else if (!skip_to_the_next_wake_up()) {
      return false;
    }
  }
  return false;
}

void Schedule::pass() {
  if (dice_.one_in(2)) ++now_ms_;
  if (!dice_.one_in(kPassOneIn)) return;
  current_->wakes_ms = now_ms_;
  yield();
}

void Schedule::sleep_ms(std::int64_t ms) {
  current_->wakes_ms = now_ms_ + std::max<std::int64_t>(ms, 0);
  yield();
}

bool Schedule::wait(const std::function<bool()>& until, std::int64_t deadline_ms) {
  if (until()) return true;
  bool so = false;
  const std::function<bool()> noted = [&] { return so = so || until(); };
  current_->until = &noted;
  current_->wakes_ms = std::max(deadline_ms, now_ms_);
  yield();
  current_->until = nullptr;
  return so || until();
}

void Schedule::note(std::string_view text) {
  const std::string line = fmt::format("{:>9} {}\n", now_ms_, text);
  for (const char c : line) hash_ = (hash_ ^ static_cast<std::uint8_t>(c)) * 0x100000001b3U;
  if (keeps_trace_) trace_ += line;
}

}  // namespace dibs::sim
