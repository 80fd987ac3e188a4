#include "model/glob.h"

#include <fmt/core.h>

#include <algorithm>
#include <ranges>

#include "base/text.h"
#include "model/glob_braces.h"
#include "model/repository_path.h"

namespace dibs {

namespace {
constexpr std::string_view kFromTheTop =
    "name files from the top of the repository, for example: src/auth/**";

Done check_text(std::string_view text) {
  if (text.size() > kGlobBytesMax) {
    return fail(ErrorKind::usage, fmt::format("the glob is {} bytes long; at most {} are allowed",
                                              text.size(), kGlobBytesMax));
  }
  if (text.find('\0') != std::string_view::npos) {
    return fail(ErrorKind::usage,
                fmt::format("the glob '{}' has a NUL byte, which no path has", printable(text)));
  }
  return {};
}

tl::unexpected<Error> refuse(std::string_view text, std::string_view what) {
  return fail(ErrorKind::usage, fmt::format("the glob '{}' {}", printable(text), what),
              std::string(kFromTheTop));
}

// One alternative without the parts that mean nothing; `text` is the whole glob, for errors.
Result<std::string> tidy(std::string_view alternative, std::string_view text) {
  if (alternative.empty()) {
    return refuse(text, text.empty() ? "is empty" : "has an empty alternative");
  }
  if (alternative.starts_with('/')) return refuse(text, "is an absolute path");
  std::string tidied;
  std::string_view last;
  for (const std::string_view part : split(alternative, '/')) {
    if (part == "..") return refuse(text, "has a '..' in it");
    last = part;
    if (part.empty() || part == ".") continue;
    if (!tidied.empty()) tidied += '/';
    tidied += part;
  }
  if (tidied.empty()) return "**";
  if (last.empty() || last == ".") tidied += '/';
  return tidied;
}
}  // namespace

Result<Glob> Glob::parse(std::string_view text) {
  if (Done checked = check_text(text); !checked) return fail(checked.error());
  const Result<std::vector<std::string>> alternatives = expand_braces(text);
  if (!alternatives) return fail(alternatives.error());
  Glob glob;
  glob.text_ = std::string(text);
  for (const std::string& alternative : *alternatives) {
    const Result<std::string> tidied = tidy(alternative, text);
    if (!tidied) return fail(tidied.error());
    for (GlobPattern& pattern : compile_patterns(*tidied)) {
      glob.patterns_.push_back(std::move(pattern));
    }
  }
  return glob;
}

bool Glob::matches(std::string_view path) const {
  return is_repository_path(path) &&
         std::ranges::any_of(patterns_,
                             [&](const GlobPattern& pattern) { return pattern.matches(path); });
}

namespace {
Result<GlobSet::Entry> parse_entry(std::string_view text) {
  const bool takes = text.starts_with('!');
  Result<Glob> glob = Glob::parse(takes ? text.substr(1) : text);
  if (!glob) return fail(glob.error());
  return GlobSet::Entry{.sense = takes ? GlobSet::Sense::takes_away : GlobSet::Sense::gives,
                        .glob = std::move(*glob)};
}
}  // namespace

Result<GlobSet> GlobSet::parse(std::span<const std::string> texts) {
  if (texts.empty()) return fail(ErrorKind::usage, "no glob is given", std::string(kFromTheTop));
  if (texts.size() > kGlobsInASetMax) {
    return fail(ErrorKind::usage, fmt::format("{} globs are given; at most {} are allowed",
                                              texts.size(), kGlobsInASetMax));
  }
  if (texts.front().starts_with('!')) {
    return fail(ErrorKind::usage,
                fmt::format("'{}' takes away, but nothing before it gives anything",
                            printable(texts.front())),
                "put what it takes away from first, for example: 'src/**' '!src/gen/**'");
  }
  GlobSet set;
  for (const std::string& text : texts) {
    Result<Entry> entry = parse_entry(text);
    if (!entry) return fail(entry.error());
    set.entries_.push_back(std::move(*entry));
  }
  return set;
}

bool GlobSet::matches(std::string_view path) const {
  for (const Entry& entry : std::views::reverse(entries_)) {
    if (entry.glob.matches(path)) return entry.sense == Sense::gives;
  }
  return false;
}

}  // namespace dibs
