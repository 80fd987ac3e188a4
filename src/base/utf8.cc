#include "base/utf8.h"

namespace dibs {

void append_utf8(std::string& out, char32_t point) {
  const auto byte = [](char32_t bits) { return static_cast<char>(bits); };
  const auto following = [&](unsigned shift) { return byte(0x80U | (point >> shift & 0x3fU)); };
  if (point < 0x80) {
    out += byte(point);
  } else if (point < 0x800) {
    out += {byte(0xc0U | point >> 6U), following(0)};
  } else if (point < 0x10000) {
    out += {byte(0xe0U | point >> 12U), following(6), following(0)};
  } else {
    out += {byte(0xf0U | point >> 18U), following(12), following(6), following(0)};
  }
}

}  // namespace dibs
