// CRC-32C and SHA-256 against published vectors, and CRC-32C against its definition.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/crc32c.h"
#include "base/sha.h"
#include "testing/property.h"

namespace dibs {
namespace {

// Bit by bit, as the polynomial says.
std::uint32_t slow_crc32c(const std::string& bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const char c : bytes) {
    crc ^= static_cast<std::uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0x82f63b78U : 0U);
  }
  return ~crc;
}

std::string ascending() {
  std::string bytes;
  for (int i = 0; i < 32; ++i) bytes += static_cast<char>(i);
  return bytes;
}

TEST(Crc32c, HasTheValuesOfRfc3720) {
  EXPECT_EQ(crc32c(0, ""), 0U);
  EXPECT_EQ(crc32c(0, "123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(0, std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(0, std::string(32, '\xff')), 0x62a8ab43U);
  EXPECT_EQ(crc32c(0, ascending()), 0x46dd794eU);
}

TEST(Crc32c, IsTheSameBitByBitByTablesAndByTheProcessor) {
  EXPECT_PROPERTY(200, 300, [](const std::string& bytes) {
    RC_ASSERT(crc32c(0, bytes) == slow_crc32c(bytes));
    RC_ASSERT(crc32c_by_tables(0, bytes) == slow_crc32c(bytes));
  });
}

TEST(Crc32c, RunsOnFromWhatCameBefore) {
  EXPECT_PROPERTY(200, 100, [](const std::string& a, const std::string& b) {
    RC_ASSERT(crc32c(crc32c(0, a), b) == crc32c(0, a + b));
    RC_ASSERT(crc32c_by_tables(crc32c(0, a), b) == crc32c(0, a + b));
  });
}

TEST(Sha256, HasTheValuesOfFips180) {
  EXPECT_EQ(sha1_hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(sha1_hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(sha1_hex(std::string(1'000'000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, HasTheRightPaddingAtEveryLengthOfTheLastBlock) {
  // Published for 55, 56, 63, 64 and 65 letters 'a'.
  EXPECT_EQ(sha256_hex(std::string(55, 'a')),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(sha256_hex(std::string(56, 'a')),
            "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(sha256_hex(std::string(63, 'a')),
            "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
  EXPECT_EQ(sha256_hex(std::string(64, 'a')),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
  EXPECT_EQ(sha256_hex(std::string(65, 'a')),
            "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0");
}

}  // namespace
}  // namespace dibs
