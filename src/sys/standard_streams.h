// A stream that was closed when we started is a number that the next file opened gets, and what is
// meant for the person would be written into that file.
#pragma once

namespace dibs {

// Opens /dev/null on each of standard input, output and error that is closed. Call it first.
void fill_closed_streams();

}  // namespace dibs
