// A failure of the first call, then of the second, and so on, for tests that go through all calls
// that something makes.
//
//   NthFailure failure;   // asked by whatever makes the calls
//   failure.at_every_call([&] { … do it, and see that it says what is true … });
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace dibs {

class NthFailure {
 public:
  // Whether the call that asks is the one.
  [[nodiscard]] bool strikes() {
    if (left_ == 0 || --left_ > 0) return false;
    struck_ = true;
    return true;
  }
  [[nodiscard]] Done next(const std::string& what) {
    if (strikes()) return fail(ErrorKind::internal, what + " fails");
    return {};
  }
  // Nothing fails from here on.
  void is_over() { left_ = 0; }

  // Until `act` has got through without one.
  void at_every_call(const std::function<void()>& act) {
    constexpr std::uint64_t kCallsMax = 400;
    struck_ = true;
    for (std::uint64_t nth = 1; struck_ && !testing::Test::HasFailure(); ++nth) {
      SCOPED_TRACE("call " + std::to_string(nth));
      ASSERT_LE(nth, kCallsMax);
      left_ = nth;
      struck_ = false;
      act();
      is_over();
    }
  }

 private:
  std::uint64_t left_ = 0;
  bool struck_ = false;
};

}  // namespace dibs
