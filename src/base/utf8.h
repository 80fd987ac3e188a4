// A code point as bytes. The way back is decode_utf8 (base/text).
#pragma once

#include <string>

namespace dibs {

void append_utf8(std::string& out, char32_t point);

}  // namespace dibs
