// Identifiers as types, so that an agent cannot be passed where a lease is wanted, and the two
// random identifiers dibs makes: ULIDs (leases) and nonces (transactions).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dibs {

template <class Tag>
struct Id {
  std::string text;

  [[nodiscard]] bool empty() const { return text.empty(); }
  friend auto operator<=>(const Id&, const Id&) = default;
};

using LeaseId = Id<struct LeaseTag>;
using SessionId = Id<struct SessionTag>;
using WorktreeId = Id<struct WorktreeTag>;
using BootId = Id<struct BootTag>;

/// Orders grants of one resource. A larger fence is a later grant.
struct Fence {
  std::uint64_t value = 0;
  friend auto operator<=>(const Fence&, const Fence&) = default;
};

/// Which write of a key this is; what a compare-and-swap compares.
struct Version {
  std::uint64_t value = 0;
  friend auto operator<=>(const Version&, const Version&) = default;
};

/// 128 random bits that name one transaction for ever, so that a lost reply can be looked up.
struct Nonce {
  std::array<std::uint8_t, 16> bytes{};

  [[nodiscard]] std::string hex() const;
  [[nodiscard]] static std::optional<Nonce> from_hex(std::string_view text);
  friend auto operator<=>(const Nonce&, const Nonce&) = default;
};

/// A ULID: 48 bits of milliseconds, 80 random bits, in Crockford's base 32; sorts by time.
inline constexpr std::size_t kUlidLength = 26;
[[nodiscard]] std::string make_ulid(std::int64_t unix_ms,
                                    const std::array<std::uint8_t, 10>& random);
[[nodiscard]] bool is_ulid(std::string_view text);

}  // namespace dibs
