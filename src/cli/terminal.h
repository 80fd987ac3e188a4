// The one place that writes to the person. Text or JSON, colour or not, quiet or not: decided here,
// so that no command has to.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace dibs::cli {

enum class Style { plain, strong, good, bad, dim };

struct TerminalOptions {
  bool json = false;
  bool quiet = false;
  bool color_out = false;
  bool color_err = false;
};

class Terminal {
 public:
  explicit Terminal(TerminalOptions options) : options_(options) {}

  [[nodiscard]] bool json() const { return options_.json; }
  [[nodiscard]] bool quiet() const { return options_.quiet; }

  // A line for a person; nothing with --json or --quiet. Foreign text in it must be printable();
  // what is not, and is none of our colours, is escaped.
  void say(std::string_view line);
  // The reply for a machine; nothing without --json. `schema_version` is put in front.
  void reply(const JsonObject& fields);
  // What was asked for as such (help, a completion script, metrics): always shown.
  void show(std::string_view text);
  void warn(std::string_view message);
  void fail(const Error& error);
  // A question that the person at the terminal answers with y or yes; anything else is no.
  bool ask(std::string_view question);
  // False once nobody reads our output any more.
  bool flush();

  [[nodiscard]] std::string styled(Style style, std::string_view text) const;

 private:
  TerminalOptions options_;
  std::string out_;
};

// Whether a stream is a terminal that wants colour, by --color, NO_COLOR and TERM.
[[nodiscard]] bool wants_color(std::string_view choice, int stream, bool no_color,
                               std::string_view term);
[[nodiscard]] bool is_terminal(int stream);

struct WindowSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};
// Of the terminal that we write to, as it is now; 80 by 24 where it does not say.
[[nodiscard]] WindowSize window_size();

}  // namespace dibs::cli
