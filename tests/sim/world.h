// All there is in one simulation: machines, agents, the store they share, and the witness.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host.h"
#include "planted.h"
#include "site.h"
#include "witness.h"

namespace dibs::sim {

struct World {
  World(std::uint64_t seed, Ground ground, Bug bug);

  // The machine that a process says it is on.
  [[nodiscard]] bool is_gone(const ProcessTie& process) const;
  // The witness looks at everything.
  void look_around();

  Ground ground;
  Bug bug;
  Schedule schedule;
  Weather weather;
  std::vector<std::unique_ptr<Host>> hosts;
  Witness witness;
  std::unique_ptr<Site> site;
  int agents_at_work = 0;
  std::int64_t think_most_ms = 0;  // between two commands of an agent
  bool is_quiet = false;           // nobody looks at more than it needs
};

}  // namespace dibs::sim
