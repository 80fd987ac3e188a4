#include "model/repository_path.h"

namespace dibs {

namespace {
PathPlace after_dot(PathPlace place) {
  if (place == PathPlace::part_begins) return PathPlace::dot;
  if (place == PathPlace::dot) return PathPlace::two_dots;
  return PathPlace::in_part;
}
}  // namespace

std::optional<PathPlace> after(PathPlace place, std::uint8_t byte) {
  if (byte == '\0') return std::nullopt;
  if (byte == '.') return after_dot(place);
  if (byte != '/') return PathPlace::in_part;
  if (may_end_at(place)) return PathPlace::part_begins;
  return std::nullopt;
}

bool is_repository_path(std::string_view path) {
  PathPlace place = PathPlace::part_begins;
  for (const char c : path) {
    const std::optional<PathPlace> next = after(place, static_cast<std::uint8_t>(c));
    if (!next) return false;
    place = *next;
  }
  return may_end_at(place);
}

}  // namespace dibs
