#include "cli/terminal.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "base/text.h"

namespace dibs::cli {

namespace {

bool write_all(std::FILE* stream, std::string_view text) {
  // What is said is gathered already: a buffer would only be asked for, filled and emptied.
  std::setvbuf(stream, nullptr, _IONBF, 0);
  return std::fwrite(text.data(), 1, text.size(), stream) == text.size() &&
         std::fflush(stream) == 0;
}

std::string_view code_of(Style style) {
  switch (style) {
    case Style::plain:
      return "";
    case Style::strong:
      return "\x1b[1m";
    case Style::good:
      return "\x1b[32m";
    case Style::bad:
      return "\x1b[31m";
    case Style::dim:
      return "\x1b[2m";
  }
  return "";
}

std::string colored(bool color, Style style, std::string_view text) {
  if (!color || style == Style::plain) return std::string(text);
  return fmt::format("{}{}\x1b[0m", code_of(style), text);
}

}  // namespace

bool is_terminal(int stream) { return ::isatty(stream) == 1; }

WindowSize window_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    return {};
  return {.columns = size.ws_col, .rows = size.ws_row};
}

bool wants_color(std::string_view choice, int stream, bool no_color, std::string_view term) {
  if (choice == "always") return true;
  if (choice == "never" || no_color || term == "dumb") return false;
  return is_terminal(stream);
}

void Terminal::say(std::string_view line) {
  if (options_.json || options_.quiet) return;
  out_ += line;
  out_ += '\n';
}

void Terminal::reply(const JsonObject& fields) {
  if (!options_.json) return;
  out_ += JsonObject().add("schema_version", 1).add_members(fields.members()).text();
  out_ += '\n';
}

void Terminal::show(std::string_view text) { out_ += text; }

bool Terminal::flush() {
  const bool written = write_all(stdout, out_);
  out_.clear();
  return written;
}

void Terminal::warn(std::string_view message) {
  if (options_.quiet) return;
  flush();
  if (options_.json) {
    write_all(stderr, JsonObject().add("schema_version", 1).add("warning", message).text() + "\n");
  } else {
    write_all(stderr, fmt::format("{} {}\n", colored(options_.color_err, Style::strong, "warning:"),
                                  message));
  }
}

bool Terminal::ask(std::string_view question) {
  flush();
  write_all(stdout, fmt::format("{} [y/N] ", question));
  constexpr std::size_t kAnswerMax = 100;
  std::string answer;
  for (int c = std::getchar(); c != EOF && c != '\n' && answer.size() < kAnswerMax;
       c = std::getchar())
    answer += static_cast<char>(c);
  return answer == "y" || answer == "yes";
}

void Terminal::fail(const Error& error) {
  flush();
  if (options_.json) {
    JsonObject inner;
    inner.add("code", name_of(error.kind))
        .add("exit", exit_code(error.kind))
        .add("message", error.message);
    if (!error.hint.empty()) inner.add("hint", error.hint);
    for (const ErrorField& field : error.fields) inner.add_raw(field.name, field.json);
    write_all(stderr,
              JsonObject().add("schema_version", 1).add_raw("error", inner.text()).text() + "\n");
    return;
  }
  std::string text =
      fmt::format("{} {}\n", colored(options_.color_err, Style::bad, "error:"), error.message);
  if (!error.hint.empty())
    text += fmt::format("{} {}\n", colored(options_.color_err, Style::strong, "hint:"), error.hint);
  write_all(stderr, text);
}

std::string Terminal::styled(Style style, std::string_view text) const {
  return colored(options_.color_out, style, text);
}

}  // namespace dibs::cli
