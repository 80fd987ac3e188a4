#include "model/glob_braces.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "base/text.h"

namespace dibs {

namespace {
constexpr std::string_view kEscape = "for the character itself, write \\{";

// One '{' and where it leads: its '}' and the commas that are its own. No '}': `end` is npos.
struct Group {
  std::size_t begin = 0;
  std::size_t end = std::string_view::npos;
  std::size_t depth = 0;
  std::vector<std::size_t> commas;
};

Group group_at(std::string_view text, std::size_t begin) {
  Group group{.begin = begin, .commas = {}};
  std::size_t depth = 0;
  for (std::size_t at = begin; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '{')
      group.depth = std::max(group.depth, ++depth);
    else if (text[at] == ',' && depth == 1)
      group.commas.push_back(at);
    else if (text[at] == '}' && --depth == 0) {
      group.end = at;
      return group;
    }
  }
  return group;
}

// The first '{' of the text that is not escaped, from `from` on.
std::size_t next_brace(std::string_view text, std::size_t from) {
  for (std::size_t at = from; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '{')
      return at;
  }
  return std::string_view::npos;
}

Done check_braces(std::string_view text) {
  std::size_t at = next_brace(text, 0);
  while (at != std::string_view::npos) {
    const Group group = group_at(text, at);
    if (group.end == std::string_view::npos) {
      return fail(ErrorKind::usage,
                  fmt::format("the glob '{}' has a {{ without its }}", printable(text)),
                  std::string(kEscape));
    }
    if (group.depth > kBraceDepthMax) {
      return fail(ErrorKind::usage, fmt::format("the glob '{}' has braces more than {} deep",
                                                printable(text), kBraceDepthMax));
    }
    at = next_brace(text, group.end);
  }
  return {};
}

// The first group that stands for alternatives, if there is one.
std::optional<Group> first_choice(std::string_view text) {
  std::size_t at = next_brace(text, 0);
  while (at != std::string_view::npos) {
    Group group = group_at(text, at);
    if (group.end != std::string_view::npos && !group.commas.empty()) return group;
    at = next_brace(text, at + 1);
  }
  return std::nullopt;
}

std::vector<std::string> choices_of(std::string_view text, const Group& group) {
  std::vector<std::size_t> edges = {group.begin};
  edges.insert(edges.end(), group.commas.begin(), group.commas.end());
  edges.push_back(group.end);
  std::vector<std::string> choices;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    const std::string_view choice = text.substr(edges[i] + 1, edges[i + 1] - edges[i] - 1);
    choices.push_back(std::string(text.substr(0, group.begin)) + std::string(choice) +
                      std::string(text.substr(group.end + 1)));
  }
  return choices;
}
}  // namespace

Result<std::vector<std::string>> expand_braces(std::string_view text) {
  if (Done checked = check_braces(text); !checked) return fail(checked.error());
  std::deque<std::string> waiting = {std::string(text)};
  std::vector<std::string> done;
  while (!waiting.empty()) {
    if (waiting.size() + done.size() > kBracesMax) {
      return fail(ErrorKind::usage,
                  fmt::format("the braces of the glob '{}' stand for more than {} alternatives",
                              printable(text), kBracesMax),
                  "write several globs instead");
    }
    const std::string next = std::move(waiting.front());
    waiting.pop_front();
    if (const std::optional<Group> choice = first_choice(next)) {
      const std::vector<std::string> choices = choices_of(next, *choice);
      waiting.insert(waiting.begin(), choices.begin(), choices.end());
    } else {
      done.push_back(next);
    }
  }
  return done;
}

}  // namespace dibs
