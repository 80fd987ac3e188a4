#include "world.h"

namespace dibs::sim {

namespace {
constexpr std::int64_t kCompareOneIn = 3;  // comparing every record costs more than anything else
constexpr std::int64_t kThinkMostMs = 6'000;
constexpr std::int64_t kThinkLongMs = 600'000;  // what was put back long ago is put away
}  // namespace

World::World(std::uint64_t seed, Ground where, Bug planted)
    : ground(where),
      bug(planted),
      schedule(seed),
      weather(any_weather(schedule.dice())),
      witness([this](const ProcessTie& process) { return is_gone(process); }) {
  const std::int64_t machines = ground == Ground::git ? schedule.dice().between(2, 3) : 1;
  for (int i = 0; i < machines; ++i) hosts.push_back(std::make_unique<Host>(schedule, weather, i));
  const bool is_slow = ground == Ground::git && schedule.dice().chance(20);
  think_most_ms = is_slow ? kThinkLongMs : kThinkMostMs;
  is_quiet = is_slow && schedule.dice().chance(50);
  site = make_site(ground, {.schedule = schedule, .hosts = hosts, .witness = witness, .bug = bug});
}

bool World::is_gone(const ProcessTie& process) const {
  for (const std::unique_ptr<Host>& host : hosts) {
    if (host->name() == process.host)
      return host->boot() != process.boot || !host->runs(process.pid);
  }
  return true;
}

void World::look_around() {
  site->catch_up(witness);
  witness.compare_beliefs();
  if (!schedule.dice().one_in(kCompareOneIn)) return;
  if (const std::optional<std::vector<Record>> shown = site->shown()) witness.compare_with(*shown);
}

std::unique_ptr<Site> make_site(Ground ground, const SiteParts& parts) {
  switch (ground) {
    case Ground::memory:
      return memory_site(parts);
    case Ground::local:
      return local_site(parts);
    case Ground::git:
      return git_site(parts);
  }
  return nullptr;
}

std::string_view name_of(Ground ground) {
  switch (ground) {
    case Ground::memory:
      return "memory";
    case Ground::local:
      return "local";
    case Ground::git:
      return "git";
  }
  return {};
}

std::optional<Ground> parse_ground(std::string_view name) {
  for (const Ground ground : {Ground::memory, Ground::local, Ground::git}) {
    if (name_of(ground) == name) return ground;
  }
  return std::nullopt;
}

}  // namespace dibs::sim
