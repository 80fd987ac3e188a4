// Other programs, as one sees them to whom something happens: before every start a test may do what
// somebody else does in that moment, or answer in the program's place.
#pragma once

#include <functional>
#include <optional>

#include "sys/programs.h"

namespace dibs {

class HookedPrograms final : public Programs {
 public:
  // An answer is taken for the program's, which is not started then.
  using Hook = std::function<std::optional<Result<ProgramEnd>>(const ProgramCall& call)>;

  explicit HookedPrograms(Programs& programs) : programs_(programs) {}
  void before_each(Hook hook) { hook_ = std::move(hook); }

  [[nodiscard]] Result<ProgramEnd> run(const ProgramCall& call) override {
    if (hook_) {
      if (auto answer = hook_(call)) return *std::move(answer);
    }
    return programs_.run(call);
  }

 private:
  Programs& programs_;
  Hook hook_;
};

}  // namespace dibs
