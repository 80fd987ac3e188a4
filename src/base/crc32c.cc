#include "base/crc32c.h"

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#ifdef __clang__
// NOLINTNEXTLINE(bugprone-reserved-identifier): glibc's header is for C, and only g++ forgives it
#define _Bool bool
#endif
#include <sys/platform/x86.h>
#endif

#include <array>
#include <cstddef>
#include <cstring>

namespace dibs {

namespace {

// Slicing by eight: table k gives the effect of a byte that k more bytes follow, so that eight
// bytes are folded in at once. About five times the speed of one table, on every processor.
constexpr std::size_t kSlices = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

constexpr Tables make_tables() {
  constexpr std::uint32_t kReversedPolynomial = 0x82f63b78U;
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ ((crc & 1U) != 0 ? kReversedPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    for (std::size_t k = 1; k < kSlices; ++k) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = before >> 8U ^ tables[0][before & 0xffU];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

std::uint32_t load_little_endian(const char* bytes) {
  std::uint32_t word = 0;
  for (unsigned i = 0; i < 4; ++i)
    word |= std::uint32_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
  return word;
}

std::uint32_t by_tables(std::uint32_t crc, std::string_view bytes) {
  for (; bytes.size() >= kSlices; bytes.remove_prefix(kSlices)) {
    const std::uint32_t low = crc ^ load_little_endian(bytes.data());
    const std::uint32_t high = load_little_endian(bytes.data() + 4);
    crc = kTables[7][low & 0xffU] ^ kTables[6][low >> 8U & 0xffU] ^ kTables[5][low >> 16U & 0xffU] ^
          kTables[4][low >> 24U] ^ kTables[3][high & 0xffU] ^ kTables[2][high >> 8U & 0xffU] ^
          kTables[1][high >> 16U & 0xffU] ^ kTables[0][high >> 24U];
  }
  for (const char c : bytes)
    crc = crc >> 8U ^ kTables[0][(crc ^ static_cast<std::uint8_t>(c)) & 0xffU];
  return crc;
}

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
// The processor's own instruction: a claim checks a log tail of up to 32 KiB, and this takes a
// fifteenth of the tables' time.
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::uint32_t crc,
                                                               std::string_view bytes) {
  std::uint64_t wide = crc;
  for (; bytes.size() >= sizeof(std::uint64_t); bytes.remove_prefix(sizeof(std::uint64_t))) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof(word));
    wide = __builtin_ia32_crc32di(wide, word);
  }
  auto narrow = static_cast<std::uint32_t>(wide);
  for (const char c : bytes) narrow = __builtin_ia32_crc32qi(narrow, static_cast<std::uint8_t>(c));
  return narrow;
}

std::uint32_t best(std::uint32_t crc, std::string_view bytes) {
  // Asked of the C library, which knows: the compiler's own question runs CPUID again, and that
  // costs a virtual machine more than the tables do.
  return x86_cpu_active(x86_cpu_SSE4_2) ? by_instruction(crc, bytes) : by_tables(crc, bytes);
}
#else
std::uint32_t best(std::uint32_t crc, std::string_view bytes) { return by_tables(crc, bytes); }
#endif

}  // namespace

std::uint32_t crc32c(std::uint32_t seed, std::string_view bytes) { return ~best(~seed, bytes); }

std::uint32_t crc32c_by_tables(std::uint32_t seed, std::string_view bytes) {
  return ~by_tables(~seed, bytes);
}

}  // namespace dibs
