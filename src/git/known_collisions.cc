#include "git/known_collisions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/crc32c.h"
#include "base/text.h"

namespace dibs {

namespace {

constexpr std::string_view kHead = "dibs conflicts 2 ";

/// Takes from the front of a text; once something is not as it should be, all is nothing.
class Taking {
 public:
  explicit Taking(std::string_view text) : text_(text) {}

  // Up to the next `end`, which is taken away as well.
  std::string_view word(char end) {
    const std::size_t at = good_ ? text_.find(end) : std::string_view::npos;
    if (at == std::string_view::npos) return stop();
    const std::string_view part = text_.substr(0, at);
    text_.remove_prefix(at + 1);
    return part;
  }
  std::size_t number(char end) {
    const auto value = parse_unsigned(word(end));
    if (!value) stop();
    return value.value_or(0);
  }
  // How many follow, of which each has a byte at least.
  std::size_t count(char end) {
    const std::size_t many = number(end);
    if (many > text_.size()) stop();
    return good_ ? many : 0;
  }
  std::vector<std::string> paths(std::size_t many) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < many && good_; ++i) all.emplace_back(word('\0'));
    return all;
  }
  [[nodiscard]] std::string_view rest() const { return text_; }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool ended() const { return good_ && text_.empty(); }

 private:
  std::string_view stop() {
    good_ = false;
    return {};
  }

  std::string_view text_;
  bool good_ = true;
};

void add_paths(std::string& text, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    text += path;
    text += '\0';
  }
}

std::string encode(const BranchPast& past) {
  std::string text = fmt::format("{}\n{}\n", past.base, past.commits.size());
  for (const HistoryCommit& commit : past.commits)
    text += fmt::format("{} {}\n", commit.id, fmt::join(commit.parents, " "));
  text += fmt::format("{}\n", past.changes.size());
  for (const auto& [stretch, paths] : past.changes) {
    text += fmt::format("{} {} {} {} {}\n", stretch.from, stretch.to, paths.all.size(),
                        paths.added.size(), paths.deleted.size());
    for (const auto* some : {&paths.all, &paths.added, &paths.deleted}) add_paths(text, *some);
  }
  return text;
}

BranchPast take_past(Taking& text) {
  BranchPast past{.base = std::string(text.word('\n')), .commits = {}, .changes = {}};
  const std::size_t commits = text.count('\n');
  for (std::size_t i = 0; i < commits && text.good(); ++i)
    past.commits.push_back(history_commit(text.word('\n')));
  const std::size_t stretches = text.count('\n');
  for (std::size_t i = 0; i < stretches && text.good(); ++i) {
    Stretch stretch;
    stretch.from = text.word(' ');
    stretch.to = text.word(' ');
    const std::size_t all = text.count(' ');
    const std::size_t added = text.count(' ');
    const std::size_t deleted = text.count('\n');
    ChangedPaths& paths = past.changes[std::move(stretch)];
    paths.all = text.paths(all);
    paths.added = text.paths(added);
    paths.deleted = text.paths(deleted);
  }
  return past;
}

}  // namespace

std::string encode_collisions(const std::vector<std::string>& tips,
                              const std::vector<Collision>& collisions, const BranchPast& past) {
  std::string body = fmt::format("{}\n", tips.size());
  for (const std::string& tip : tips) body += tip + "\n";
  body += fmt::format("{}\n", collisions.size());
  for (const Collision& collision : collisions) {
    body += fmt::format("{} {} {}\n", collision.pair.first, collision.pair.second,
                        collision.files.size());
    add_paths(body, collision.files);
  }
  const std::string kept = encode(past);
  body += kept.size() <= kKeptPastBytesMax ? kept : encode(BranchPast());
  return fmt::format("{}{}\n{}", kHead, hex32(crc32c(0, body)), body);
}

KnownCollisions KnownCollisions::of(std::string_view text) {
  KnownCollisions known;
  return known.read(text) ? known : KnownCollisions{};
}

bool KnownCollisions::read(std::string_view whole) {
  Taking text(whole);
  const std::string_view head = text.word('\n');
  if (head != fmt::format("{}{}", kHead, hex32(crc32c(0, text.rest())))) return false;
  const std::size_t tips = text.count('\n');
  if (tips > kTipsMax) return false;
  for (std::size_t i = 0; i < tips; ++i) numbers_.emplace(text.word('\n'), i);
  const std::size_t collisions = text.count('\n');
  for (std::size_t i = 0; i < collisions && text.good(); ++i) {
    TipPair pair;
    pair.first = text.number(' ');
    pair.second = text.number(' ');
    files_[pair] = text.paths(text.count('\n'));
  }
  past_ = take_past(text);
  return text.ended();
}

const std::vector<std::string>* KnownCollisions::files(const std::string& one,
                                                       const std::string& other) const {
  const auto a = numbers_.find(one);
  const auto b = numbers_.find(other);
  if (a == numbers_.end() || b == numbers_.end()) return nullptr;
  const auto found = files_.find(
      {.first = std::min(a->second, b->second), .second = std::max(a->second, b->second)});
  return found == files_.end() ? nullptr : &found->second;
}

}  // namespace dibs
