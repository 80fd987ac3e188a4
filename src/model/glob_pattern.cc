#include "model/glob_pattern.h"

#include <algorithm>
#include <optional>
#include <ranges>

namespace dibs {

using Kind = GlobStep::Kind;

void GlobPattern::arrive(Position at, std::vector<Position>& out) const {
  while (at != end() && steps[at].kind == Kind::fork) {
    arrive(at + 1, out);
    at += 3;
  }
  out.push_back(at);
  if (at == end()) return;
  if (steps[at].kind == Kind::run || steps[at].kind == Kind::deep) arrive(at + 1, out);
}

void GlobPattern::advance(Position at, std::uint8_t byte, std::vector<Position>& out) const {
  if (at == end()) return;
  const GlobStep& step = steps[at];
  switch (step.kind) {
    case Kind::byte:
      if (step.byte == byte) arrive(at + 1, out);
      return;
    case Kind::set:
      if (sets[step.set].test(byte)) arrive(at + 1, out);
      return;
    case Kind::run:
      if (byte != '/') arrive(at, out);
      return;
    case Kind::deep:
      arrive(at, out);
      return;
    case Kind::fork:
      return;  // arrive() never stops at one
  }
}

bool GlobPattern::matches(std::string_view path) const {
  std::vector<Position> now;
  std::vector<Position> next;
  arrive(0, now);
  for (const char c : path) {
    next.clear();
    for (const Position at : now) advance(at, static_cast<std::uint8_t>(c), next);
    std::ranges::sort(next);
    const auto repeated = std::ranges::unique(next);
    next.erase(repeated.begin(), repeated.end());
    std::swap(now, next);
  }
  return std::ranges::find(now, end()) != now.end();
}

bool may_meet(const GlobPattern& one, const GlobPattern& other) {
  const std::string_view prefix = one.prefix;
  const std::string_view suffix = one.suffix;
  const std::size_t front = std::min(prefix.size(), other.prefix.size());
  const std::size_t back = std::min(suffix.size(), other.suffix.size());
  return other.prefix.starts_with(prefix.substr(0, front)) &&
         other.suffix.ends_with(suffix.substr(suffix.size() - back));
}

namespace {
class Compiler {
 public:
  explicit Compiler(std::string_view text) : text_(text) {}

  // Nothing when git would match nothing with it: a class without an end, a last backslash.
  std::optional<GlobPattern> compile() {
    while (at_ < text_.size()) {
      if (!read_step()) return std::nullopt;
    }
    return finished();
  }

  GlobPattern compile_as_spelled() {
    for (const char c : text_) add_byte(c);
    wild_ = true;
    return finished();
  }

 private:
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  void add(Kind kind) { pattern_.steps.push_back({.kind = kind}); }
  void add_byte(char c) {
    pattern_.steps.push_back({.kind = Kind::byte, .byte = static_cast<std::uint8_t>(c)});
  }

  bool read_step() {
    switch (text_[at_]) {
      case '*':
        read_stars();
        return true;
      case '?':
        add_set(~ByteSet().set('/'));
        ++at_;
        return true;
      case '[':
        return read_class();
      case '\\':
        if (++at_ == text_.size()) return false;
        break;
      default:
        break;
    }
    add_byte(text_[at_++]);
    return true;
  }

  void read_stars() {
    wild_ = true;
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_not_of('*', at_), text_.size());
    const bool whole_part = at_ - begin > 1 && (begin == 0 || text_[begin - 1] == '/');
    const std::string_view rest = text_.substr(at_);
    if (whole_part && rest.starts_with('/')) return read_directories();
    add(whole_part && (rest.empty() || rest.starts_with("\\/")) ? Kind::deep : Kind::run);
  }

  // "**/": any number of directories, or none.
  void read_directories() {
    ++at_;
    if (after_directories()) return;  // as many as before
    add(Kind::fork);
    add(Kind::deep);
    add_byte('/');
  }
  [[nodiscard]] bool after_directories() const {
    const std::vector<GlobStep>& steps = pattern_.steps;
    return steps.size() >= 3 && steps[steps.size() - 3].kind == Kind::fork;
  }

  bool read_class() {
    const std::optional<GlobClass> read = parse_class(text_.substr(at_));
    if (!read) return false;
    add_set(read->bytes);
    at_ += read->length;
    return true;
  }
  void add_set(const ByteSet& bytes) {
    wild_ = true;
    pattern_.steps.push_back(
        {.kind = Kind::set, .set = static_cast<std::uint16_t>(pattern_.sets.size())});
    pattern_.sets.push_back(bytes);
  }

  GlobPattern finished() {
    if (text_.ends_with('/')) {
      add(Kind::deep);
    } else if (!wild_) {  // a plain name: of a file, or of a directory with all below it
      add(Kind::fork);
      add_byte('/');
      add(Kind::deep);
    }
    set_prefix();
    set_suffix();
    return std::move(pattern_);
  }
  void set_prefix() {
    for (const GlobStep& step : pattern_.steps) {
      if (step.kind != Kind::byte) return;
      pattern_.prefix.push_back(static_cast<char>(step.byte));
    }
  }
  void set_suffix() {
    for (const GlobStep& step : std::views::reverse(pattern_.steps)) {
      if (step.kind != Kind::byte || step.byte == '/') break;
      pattern_.suffix.insert(pattern_.suffix.begin(), static_cast<char>(step.byte));
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool wild_ = false;
  GlobPattern pattern_;
};
}  // namespace

std::vector<GlobPattern> compile_patterns(std::string_view text) {
  std::vector<GlobPattern> patterns;
  if (std::optional<GlobPattern> pattern = Compiler(text).compile()) {
    patterns.push_back(std::move(*pattern));
  }
  if (text.find_first_of("[\\") != std::string_view::npos) {
    patterns.push_back(Compiler(text).compile_as_spelled());
  }
  return patterns;
}

}  // namespace dibs
