// Counts of what leaves no entry in a store, such as refusals. Many processes add to them at once
// without a lock or a flush: one small file, mapped into memory, a slot a count. They are for `dibs
// metrics`; nothing is decided by them, and a power loss may cost the last few.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace dibs {

enum class Counter : std::size_t {
  acquisition_micros,  // time that granting leases took, of those that were timed
  conflicts,           // claims refused: held by another
  failed,              // claims that ended in any other error
  stale_claimed,       // leases ended for a claim because they had lapsed, died or gone stale
  acquisitions_timed,
  granted,  // leases; only where the store's history has those of other clones too
};
inline constexpr std::size_t kCounterCount = 32;
using Counts = std::array<std::uint64_t, kCounterCount>;

class Counters {
 public:
  virtual ~Counters() = default;
  virtual void add(std::size_t slot, std::uint64_t amount) = 0;
  void add(Counter counter, std::uint64_t amount) {
    add(static_cast<std::size_t>(counter), amount);
  }
  [[nodiscard]] virtual Counts read() = 0;
};

class MappedCounters final : public Counters {
 public:
  MappedCounters(std::string path, unsigned mode) : path_(std::move(path)), mode_(mode) {}
  MappedCounters(const MappedCounters&) = delete;
  MappedCounters& operator=(const MappedCounters&) = delete;
  ~MappedCounters() override;

  // Counting never fails a command: where the file cannot be had, nothing is counted.
  using Counters::add;
  void add(std::size_t slot, std::uint64_t amount) override;
  [[nodiscard]] Counts read() override;

 private:
  [[nodiscard]] std::uint64_t* slots();

  std::string path_;
  unsigned mode_;
  void* mapping_ = nullptr;
};

}  // namespace dibs
