#include "base/ids.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "testing/property.h"

namespace dibs {
namespace {

// A ULID the slow way: 128 bits as a string of zeros and ones, cut into fives from the right.
std::string slow_ulid(std::uint64_t unix_ms, const std::array<std::uint8_t, 10>& random) {
  std::string bits = "00";  // 26 letters of five bits are 130
  for (int bit = 47; bit >= 0; --bit) bits += ((unix_ms >> bit) & 1U) != 0 ? '1' : '0';
  for (const std::uint8_t byte : random) {
    for (int bit = 7; bit >= 0; --bit) bits += ((byte >> bit) & 1) != 0 ? '1' : '0';
  }
  std::string text;
  for (std::size_t at = 0; at < bits.size(); at += 5)
    text += "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[std::stoul(bits.substr(at, 5), nullptr, 2)];
  return text;
}

TEST(Ulid, AgreesWithAnIndependentImplementation) {
  EXPECT_PROPERTY(300, 100, [] {
    const auto time = *any_in<std::uint64_t>(0, 1ULL << 48U);
    const auto random = *rc::gen::arbitrary<std::array<std::uint8_t, 10>>();
    const std::string made = make_ulid(static_cast<std::int64_t>(time), random);
    RC_ASSERT(made == slow_ulid(time, random));
    RC_ASSERT(is_ulid(made));
  });
}

TEST(Ulid, IsTheOneOfTheSpecification) {
  // The example of the ULID specification: this time has this prefix.
  EXPECT_EQ(make_ulid(1469918176385, {}).substr(0, 10), "01ARYZ6S41");
  EXPECT_EQ(make_ulid((1LL << 48) - 1, {}).substr(0, 10), "7ZZZZZZZZZ");
}

TEST(Ulid, SortsByTime) {
  const std::array<std::uint8_t, 10> high{255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
  EXPECT_LT(make_ulid(1000, high), make_ulid(1001, {}));
}

TEST(Ulid, IsToldFromOtherText) {
  EXPECT_TRUE(is_ulid("01ARYZ6S410000000000000000"));
  EXPECT_FALSE(is_ulid("81ARYZ6S410000000000000000")) << "129 bits";
  EXPECT_FALSE(is_ulid("01ARYZ6S41000000000000000"));
  EXPECT_FALSE(is_ulid("01ARYZ6S4100000000000000000"));
  EXPECT_FALSE(is_ulid("01aryz6s410000000000000000"));
  EXPECT_FALSE(is_ulid("01ARYZ6S41000000000000000U")) << "no U in this alphabet";
  EXPECT_FALSE(is_ulid(""));
}

TEST(Nonce, ComesBackFromItsHex) {
  EXPECT_PROPERTY(100, 100, [] {
    const Nonce nonce{*rc::gen::arbitrary<std::array<std::uint8_t, 16>>()};
    RC_ASSERT(Nonce::from_hex(nonce.hex()) == nonce);
  });
  EXPECT_EQ(Nonce{}.hex(), std::string(32, '0'));
}

TEST(Nonce, IsNotReadFromAnythingElse) {
  EXPECT_FALSE(Nonce::from_hex(""));
  EXPECT_FALSE(Nonce::from_hex(std::string(31, '0')));
  EXPECT_FALSE(Nonce::from_hex(std::string(33, '0')));
  EXPECT_FALSE(Nonce::from_hex(std::string(31, '0') + "g"));
  EXPECT_FALSE(Nonce::from_hex(std::string(31, '0') + "A"));
}

}  // namespace
}  // namespace dibs
