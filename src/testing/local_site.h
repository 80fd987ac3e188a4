// A local store on a fake disk, and the plain steps that tests of it are made of.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/local.h"
#include "testing/fake_clock.h"
#include "testing/fake_disk.h"
#include "testing/seeded_random.h"

namespace dibs {

// Small enough that every few commits make an index and close a segment.
inline constexpr LocalLimits kTinyLimits{.segment_bytes = 1500, .tail_bytes = 400};

struct LocalSite {
  explicit LocalSite(LocalLimits chosen = {}, std::uint64_t seed = 1);

  // Another object on the same store, as another process would have it.
  [[nodiscard]] std::unique_ptr<LocalStore> open();

  [[nodiscard]] std::string path(const std::string& name) const { return directory + "/" + name; }
  [[nodiscard]] std::string log() { return disk.contents(path("claims.jsonl")).value_or(""); }

  std::string directory = "/repo/.git/dibs";
  LocalLimits limits;
  FakeClock clock;
  FakeDisk disk;
  SeededRandom random;
  std::vector<std::string> notices;
};

// Key to value.
using Contents = std::map<std::string, std::string>;

// Writes one record, or removes it, whatever was there.
[[nodiscard]] Transaction writing(Random& random, const std::string& key,
                                  const std::optional<std::string>& value);
[[nodiscard]] Result<Outcome> put(Store& store, Random& random, const std::string& key,
                                  const std::optional<std::string>& value);
[[nodiscard]] bool is_committed(const Result<Outcome>& outcome);

// Every record.
[[nodiscard]] Result<Contents> contents_of(Store& store);

}  // namespace dibs
