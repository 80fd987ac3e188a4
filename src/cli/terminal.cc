#include "cli/terminal.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

constexpr std::string_view kPlainAgain = "\x1b[0m";

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
  return fmt::format("{}{}{}", code_of(style), text, kPlainAgain);
}

constexpr std::array kStyles{Style::strong, Style::good, Style::bad, Style::dim};
bool is_ascii_line(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= ' ' && c <= '~') || c == '\n'; });
}

// How many bytes at the front are ours to send to a terminal as they are.
std::size_t own_prefix(std::string_view text) {
  if (text.front() == '\n' || text.front() == '\t') return 1;
  if (text.starts_with(kPlainAgain)) return kPlainAgain.size();
  for (const Style style : kStyles)
    if (text.starts_with(code_of(style))) return code_of(style).size();
  return 0;
}

// What others wrote, in records, files and answers of a remote, stands in what is said. Whoever
// says it sees to it that it can be shown; this is for what was forgotten. Only our colours go
// through.
std::string safe(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t own = own_prefix(text);
    const std::optional<CodePoint> point = decode_utf8(text);
    const std::size_t length = own > 0 ? own : (point ? point->length : 1);
    const std::string_view next = text.substr(0, length);
    shown += own > 0 ? std::string(next) : printable(next);
    text.remove_prefix(length);
  }
  return shown;
}

// An error or a warning: safe, and not longer than anybody reads.
std::string told(std::string_view message) {
  constexpr std::size_t kToldMax = 4000;
  if (message.size() <= kToldMax)
    return is_ascii_line(message) ? std::string(message) : safe(message);
  return safe(message.substr(0, kToldMax)) + "…";
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
  if (is_ascii_line(line)) {
    out_ += line;
  } else {
    out_ += safe(line);
  }
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
    write_all(stderr,
              JsonObject().add("schema_version", 1).add("warning", told(message)).text() + "\n");
  } else {
    write_all(stderr, fmt::format("{} {}\n", colored(options_.color_err, Style::strong, "warning:"),
                                  told(message)));
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
        .add("message", told(error.message));
    if (!error.hint.empty()) inner.add("hint", told(error.hint));
    for (const ErrorField& field : error.fields) inner.add_raw(field.name, field.json);
    write_all(stderr,
              JsonObject().add("schema_version", 1).add_raw("error", inner.text()).text() + "\n");
    return;
  }
  std::string text = fmt::format("{} {}\n", colored(options_.color_err, Style::bad, "error:"),
                                 told(error.message));
  if (!error.hint.empty())
    text += fmt::format("{} {}\n", colored(options_.color_err, Style::strong, "hint:"),
                        told(error.hint));
  write_all(stderr, text);
}

std::string Terminal::styled(Style style, std::string_view text) const {
  return colored(options_.color_out, style, text);
}

}  // namespace dibs::cli
