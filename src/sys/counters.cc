#include "sys/counters.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "sys/descriptor.h"

namespace dibs {

namespace {
constexpr std::size_t kFileBytes = 4096;
// The first slot tells our file from anything else that might lie there; the counts follow.
constexpr std::uint64_t kMark = 0x3173746e75636264;  // "dbcunts1", little-endian
}  // namespace

MappedCounters::~MappedCounters() {
  if (mapping_ != nullptr) ::munmap(mapping_, kFileBytes);
}

std::uint64_t* MappedCounters::slots() {
  if (mapping_ == nullptr) {
    const Descriptor file(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode_));
    struct stat status{};
    if (!file.is_open() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
      return nullptr;
    if (status.st_size < static_cast<off_t>(kFileBytes)) {
      // Real blocks, not a hole: a full disk must not turn an increment into a fatal signal.
      if (::posix_fallocate(file.get(), 0, kFileBytes) != 0) return nullptr;
      (void)::fchmod(file.get(), mode_);
    }
    void* mapping = ::mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (mapping == MAP_FAILED) return nullptr;
    mapping_ = mapping;
  }
  auto* words = static_cast<std::uint64_t*>(mapping_);
  std::uint64_t found = 0;
  std::atomic_ref(words[0]).compare_exchange_strong(found, kMark);
  return found == 0 || found == kMark ? words + 1 : nullptr;
}

void MappedCounters::add(std::size_t slot, std::uint64_t amount) {
  if (slot >= kCounterCount) return;
  if (std::uint64_t* counts = slots()) std::atomic_ref(counts[slot]).fetch_add(amount);
}

// Without mapping it: whoever only looks neither makes nor touches the file.
Counts MappedCounters::read() {
  Counts result{};
  std::array<std::uint64_t, kCounterCount + 1> words{};
  const Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.is_open() || ::pread(file.get(), words.data(), sizeof words, 0) != sizeof words)
    return result;
  if (words[0] == kMark) std::copy(words.begin() + 1, words.end(), result.begin());
  return result;
}

}  // namespace dibs
