// Result<T>: a value or an Error. The way every fallible function in dibs answers.
//
//   Result<Lease> lease = parse_lease(text);
//   if (!lease) return fail(lease.error());
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "base/error.h"

namespace dibs {

template <class T>
using Result = tl::expected<T, Error>;

// For functions that only succeed or fail.
using Done = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorKind kind, std::string message,
                                                std::string hint = {}) {
  return fail(
      Error{.kind = kind, .message = std::move(message), .hint = std::move(hint), .fields = {}});
}

}  // namespace dibs
