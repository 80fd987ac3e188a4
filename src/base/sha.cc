#include "base/sha.h"

#include <array>
#include <bit>
#include <cstdint>

#include "base/text.h"

namespace dibs {

namespace {

constexpr std::size_t kBlockBytes = 64;

constexpr std::array<std::uint32_t, 64> kRoundConstants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State256 = std::array<std::uint32_t, 8>;
using State1 = std::array<std::uint32_t, 5>;

void absorb(State256& state, const char* block) {
  std::array<std::uint32_t, 64> words{};
  for (std::size_t i = 0; i < kBlockBytes; ++i) {
    words[i / 4] = words[i / 4] << 8U | static_cast<std::uint8_t>(block[i]);
  }
  for (std::size_t i = 16; i < words.size(); ++i) {
    const std::uint32_t near = words[i - 15];
    const std::uint32_t far = words[i - 2];
    words[i] = words[i - 16] + words[i - 7] +
               (std::rotr(near, 7) ^ std::rotr(near, 18) ^ near >> 3U) +
               (std::rotr(far, 17) ^ std::rotr(far, 19) ^ far >> 10U);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                              ((e & f) ^ (~e & g)) + kRoundConstants[i] + words[i];
    const std::uint32_t two =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
  }
  const State256 mixed{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += mixed[i];
}

// What differs between the four quarters of SHA-1's rounds.
std::uint32_t mixed_by_round(std::size_t round, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  if (round < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (round < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}

void absorb(State1& state, const char* block) {
  std::array<std::uint32_t, 80> words{};
  for (std::size_t i = 0; i < kBlockBytes; ++i) {
    words[i / 4] = words[i / 4] << 8U | static_cast<std::uint8_t>(block[i]);
  }
  for (std::size_t i = 16; i < words.size(); ++i)
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  auto [a, b, c, d, e] = state;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t next = std::rotl(a, 5) + mixed_by_round(i, b, c, d) + e + words[i];
    e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
  }
  const State1 mixed{a, b, c, d, e};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += mixed[i];
}

template <class State>
std::string hash_hex(State state, std::string_view bytes) {
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (; bytes.size() >= kBlockBytes; bytes.remove_prefix(kBlockBytes)) absorb(state, bytes.data());

  // The rest, a one bit, zeros, and the length in bits fill one or two last blocks.
  std::string last(bytes);
  last += '\x80';
  while (last.size() % kBlockBytes != kBlockBytes - 8) last += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) last += static_cast<char>(bits >> shift);
  for (std::size_t at = 0; at < last.size(); at += kBlockBytes) absorb(state, last.data() + at);

  std::string text;
  for (const std::uint32_t word : state) text += hex32(word);
  return text;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  return hash_hex(State256{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                           0x1f83d9ab, 0x5be0cd19},
                  bytes);
}

std::string sha1_hex(std::string_view bytes) {
  return hash_hex(State1{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}, bytes);
}

}  // namespace dibs
