// Where the leases of a simulated world are kept: opened by processes as dibs opens its store, and
// looked at from outside by the witness.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "process.h"
#include "store/store.h"
#include "witness.h"

namespace dibs::sim {

class Site {
 public:
  virtual ~Site() = default;
  [[nodiscard]] virtual Result<std::unique_ptr<Store>> open(Process& process) = 0;
  // Tells the witness what came, and what went, since the last time.
  virtual void catch_up(Witness& witness) = 0;
  // How many entries of the chronicle nobody can overlook any more.
  [[nodiscard]] virtual std::size_t in_sight(const Witness& witness) {
    return witness.chronicle().size();
  }
  // Every record as a reader would see it now; nothing when that cannot be said without waiting.
  [[nodiscard]] virtual std::optional<std::vector<Record>> shown() { return std::nullopt; }
  // The branch that work lands on, and where it stands; nothing where nothing can land.
  [[nodiscard]] virtual std::optional<std::string> target() { return std::nullopt; }
  // How the commit is called that lands in the name of a lease.
  [[nodiscard]] virtual std::string landing_commit(const LeaseId& lease) { return lease.text; }
  // Puts away what old records left.
  virtual void tidy(Process& /*process*/) {}
  // What a person would have to repair.
  [[nodiscard]] virtual std::vector<std::string> troubles() { return {}; }
};

inline constexpr const char* kTarget = "refs/heads/main";

/// What a site is made of.
struct SiteParts {
  Schedule& schedule;
  std::vector<std::unique_ptr<Host>>& hosts;
  Witness& witness;
  Bug bug = Bug::none;
};

[[nodiscard]] std::unique_ptr<Site> make_site(Ground ground, const SiteParts& parts);
[[nodiscard]] std::unique_ptr<Site> memory_site(const SiteParts& parts);
[[nodiscard]] std::unique_ptr<Site> local_site(const SiteParts& parts);
[[nodiscard]] std::unique_ptr<Site> git_site(const SiteParts& parts);

}  // namespace dibs::sim
