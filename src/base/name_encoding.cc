#include "base/name_encoding.h"

#include "base/sha.h"
#include "base/text.h"

namespace dibs {

namespace {
bool stands_for_itself(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

bool is_harmless_dot(std::string_view id, std::size_t at) {
  return id[at] == '.' && at > 0 && at + 1 < id.size() && stands_for_itself(id[at - 1]) &&
         stands_for_itself(id[at + 1]) && id.substr(at) != ".lock";
}
}  // namespace

std::string encode_name(std::string_view id) {
  std::string name;
  for (std::size_t i = 0; i < id.size(); ++i) {
    // A leading '-' would read as an option wherever the name is an argument.
    const bool plain = stands_for_itself(id[i]) && !(i == 0 && id[i] == '-');
    if (plain || is_harmless_dot(id, i)) {
      name += id[i];
    } else {
      name += '_';
      append_hex(name, static_cast<std::uint8_t>(id[i]));
    }
  }
  if (name.size() <= kEncodedNameMax) return name;
  // 'h' is no hex digit, so "_h" cannot come from the escape above.
  constexpr std::size_t kHashedTail = 2 + 64;
  return name.substr(0, kEncodedNameMax - kHashedTail) + "_h" + sha256_hex(id);
}

}  // namespace dibs
