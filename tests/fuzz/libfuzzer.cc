// The door that libFuzzer comes in by.
#include "fuzzing.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  dibs::fuzz::try_input({reinterpret_cast<const char*>(data), size});
  return 0;
}
