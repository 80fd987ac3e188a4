#include "sys/randomness.h"

#include <sys/random.h>

#include <cerrno>
#include <cstdlib>

namespace dibs {

Nonce Random::nonce() {
  Nonce nonce;
  fill(nonce.bytes);
  return nonce;
}

LeaseId Random::lease_id(std::int64_t unix_ms) {
  std::array<std::uint8_t, 10> bytes{};
  fill(bytes);
  return LeaseId{make_ulid(unix_ms, bytes)};
}

std::uint64_t Random::below(std::uint64_t bound) {
  std::array<std::uint8_t, 8> bytes{};
  fill(bytes);
  std::uint64_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8U | byte;
  return bound == 0 ? 0 : value % bound;
}

void SystemRandom::fill(std::span<std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    // Without randomness two grants could share an identity; there is nothing safe left to do.
    if (got <= 0) std::abort();
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace dibs
