// Reading TOML, for the few files that are written in it. Only .cc files of model/ include this:
// the library is large.
#pragma once

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_FLOAT_CHARCONV 1
// The library asserts what some texts break ("[}"), and has an error for them behind the assertion.
#define TOML_ASSERT(expression) static_cast<void>(0)
#include <fmt/core.h>
#include <toml++/toml.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"

namespace dibs {

// "config.toml:4"
[[nodiscard]] inline std::string toml_place(const std::string& file,
                                            const toml::source_region& source) {
  return fmt::format("{}:{}", file, source.begin.line);
}

[[nodiscard]] inline Result<toml::table> parse_toml(std::string_view text,
                                                    const std::string& file) {
  toml::parse_result parsed = toml::parse(text);
  if (parsed) return std::move(parsed).table();
  return fail(ErrorKind::usage,
              fmt::format("{}: {}", printable(toml_place(file, parsed.error().source())),
                          printable(parsed.error().description())),
              "mend the file by hand");
}

}  // namespace dibs
