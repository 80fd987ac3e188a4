// A stream that was closed when we started is a number that the next file opened gets, and what is
// meant for the person would be written into that file.
#pragma once

#include <string>

#include "base/result.h"

namespace dibs {

// Opens /dev/null on each of standard input, output and error that is closed. Call it first.
void fill_closed_streams();

// Everything that stands on standard input; an error when it is more than `most`.
[[nodiscard]] Result<std::string> read_standard_input(std::size_t most);

}  // namespace dibs
