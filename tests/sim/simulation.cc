#include "simulation.h"

#include <fmt/core.h>

#include "agent.h"

namespace dibs::sim {

namespace {

constexpr int kAgents = 4;
constexpr int kCommandsLeast = 8;
constexpr int kCommandsMost = 24;
constexpr std::int64_t kWeatherMostMs = 30'000;
constexpr std::int64_t kSleepMostMs = 60'000;
constexpr std::int64_t kClockJumpMostMs = 1'800'000;
// Longer than any lease, also by a wall clock that was set back before a reboot.
constexpr std::int64_t kQuietMs = 3 * kClockJumpMostMs;

// On one machine a clock may be set anyhow; between machines it stays within the margin.
std::int64_t wrong_clock_ms(World& world) {
  const std::int64_t most = world.ground == Ground::git ? world.weather.skew_ms : kClockJumpMostMs;
  return world.schedule.dice().between(-most, most);
}

void let_something_happen(World& world) {
  Dice& dice = world.schedule.dice();
  Host& host = *world.hosts[static_cast<std::size_t>(
      dice.below(static_cast<std::int64_t>(world.hosts.size())))];
  if (world.weather.clocks_are_set && dice.chance(40)) {
    world.witness.forget_ended_beliefs();
    host.set_wall_clock_wrong_by(wrong_clock_ms(world));
    world.schedule.note(host.name() + "'s wall clock is set");
  }
  if (world.weather.machines_sleep && dice.chance(20)) {
    host.suspend_for(dice.below(kSleepMostMs));
    world.schedule.note(host.name() + " is suspended");
  }
}

// Until the agents are through; then everything is fine again, and what is free can be taken.
void live_through(World& world) {
  while (world.agents_at_work > 0) {
    world.schedule.sleep_ms(world.schedule.dice().below(kWeatherMostMs));
    let_something_happen(world);
  }
  world.weather.clear_up();
  world.schedule.sleep_ms(kQuietMs);
  if (world.witness.broken()) return;
  std::vector<Resource> all;
  for (int i = 0; i < kResources; ++i) all.push_back(resource_number(i));
  Agent(world, kAgents, *world.hosts.front()).inherit(all);
  world.look_around();
  for (const std::string& trouble : world.site->troubles()) world.witness.accuse("I17", trouble);
}

}  // namespace

Verdict simulate(const Plan& plan) {
  World world(plan.seed, plan.ground, plan.bug);
  if (plan.keeps_trace) world.schedule.keep_trace();
  std::vector<std::unique_ptr<Agent>> agents;
  world.agents_at_work = kAgents;
  for (int i = 0; i < kAgents; ++i) {
    Host& host = *world.hosts[static_cast<std::size_t>(i) % world.hosts.size()];
    agents.push_back(std::make_unique<Agent>(world, i, host));
    const auto commands =
        static_cast<int>(world.schedule.dice().between(kCommandsLeast, kCommandsMost));
    world.schedule.start([agent = agents.back().get(), commands] { agent->live(commands); });
  }
  world.schedule.start([&world] { live_through(world); });
  if (!world.schedule.run()) world.witness.accuse("I15", "nobody gets on any more");
  if (world.witness.broken())
    world.schedule.note(fmt::format("broken: {}: {}", world.witness.broken()->invariant,
                                    world.witness.broken()->what));
  return {.broken = world.witness.broken(),
          .trace_hash = world.schedule.trace_hash(),
          .entries = world.witness.chronicle().size(),
          .trace = world.schedule.trace()};
}

}  // namespace dibs::sim
