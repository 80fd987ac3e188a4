#include "git/known_collisions.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/crc32c.h"
#include "base/text.h"

namespace dibs {

namespace {

constexpr std::string_view kHead = "dibs conflicts 1 ";

// Up to the next `end`, which is taken away as well; nothing when there is none.
std::optional<std::string_view> take(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at + 1);
  return part;
}

std::optional<std::size_t> take_number(std::string_view& text, char end) {
  const std::optional<std::string_view> digits = take(text, end);
  return digits ? parse_unsigned(*digits) : std::nullopt;
}

}  // namespace

std::string encode_collisions(const std::vector<std::string>& tips,
                              const std::vector<Collision>& collisions) {
  std::string body = fmt::format("{}\n", tips.size());
  for (const std::string& tip : tips) body += tip + "\n";
  for (const Collision& collision : collisions) {
    body += fmt::format("{} {} {}\n", collision.pair.first, collision.pair.second,
                        collision.files.size());
    for (const std::string& file : collision.files) {
      body += file;
      body += '\0';
    }
  }
  return fmt::format("{}{}\n{}", kHead, hex32(crc32c(0, body)), body);
}

KnownCollisions KnownCollisions::of(std::string_view text) {
  KnownCollisions known;
  return known.read(text) ? known : KnownCollisions{};
}

bool KnownCollisions::read(std::string_view text) {
  const std::optional<std::string_view> head = take(text, '\n');
  if (!head || *head != fmt::format("{}{}", kHead, hex32(crc32c(0, text)))) return false;
  const std::optional<std::size_t> tips = take_number(text, '\n');
  if (!tips || *tips > kTipsMax) return false;
  for (std::size_t i = 0; i < *tips; ++i) {
    const std::optional<std::string_view> tip = take(text, '\n');
    if (!tip) return false;
    numbers_.emplace(*tip, i);
  }
  while (!text.empty()) {
    const std::optional<std::size_t> first = take_number(text, ' ');
    const std::optional<std::size_t> second = take_number(text, ' ');
    const std::optional<std::size_t> count = take_number(text, '\n');
    if (!first || !second || !count || *count > text.size()) return false;
    std::vector<std::string>& files = files_[{.first = *first, .second = *second}];
    for (std::size_t i = 0; i < *count; ++i) {
      const std::optional<std::string_view> file = take(text, '\0');
      if (!file) return false;
      files.emplace_back(*file);
    }
  }
  return true;
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
