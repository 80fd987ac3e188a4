#include "items/folder_layout.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/name_encoding.h"
#include "base/text.h"

namespace dibs {

namespace {

using Parts = std::vector<std::string_view>;

// Names that git and every file system take as they are, and that nobody hides.
bool is_folder_name(std::string_view text) {
  return !text.empty() && text.front() != '.' && text.find('/') == std::string_view::npos &&
         is_printable(text);
}

// How many folders the state is, if `parts` go on with them from `start`, and something lies there.
std::size_t folders_matched(const Parts& parts, std::size_t start, std::string_view state) {
  const Parts folders = split(state, '/');
  if (parts.size() <= start + folders.size()) return 0;
  const auto from = parts.begin() + static_cast<std::ptrdiff_t>(start);
  return std::equal(folders.begin(), folders.end(), from) ? folders.size() : 0;
}

// "lostmypassword.md"; a README is about the folder that it lies in.
bool is_item_file(std::string_view name) {
  return name.ends_with(kMarkdown) && name.size() > kMarkdown.size() && name != kReadme;
}

std::string_view without_ending(std::string_view name) {
  return name.substr(0, name.size() - kMarkdown.size());
}

// What the usual states are in the folders of the preset.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kNearest{
    {{"backlog", "next"},
     {"ready", "next"},
     {"in_progress", "indevelopment"},
     {"in_review", "readyfortesting"},
     {"done", "archive/production"},
     {"rejected", "archive/production"}}};

bool is_hidden(const Parts& parts) {
  return std::ranges::any_of(parts, [](std::string_view part) { return part.starts_with('.'); });
}

}  // namespace

std::string FolderPlace::path() const {
  std::string path = category.empty() ? std::string() : category + "/";
  path += state + (shape == Shape::joined ? "-" : "/") + name;
  return shape == Shape::file ? path + std::string(kMarkdown) : path;
}

std::optional<FolderPlace> FolderLayout::in_state(const Parts& parts, std::size_t start) const {
  std::string_view longest;
  std::size_t folders = 0;
  for (const WorkState& state : workflow_->states()) {
    const std::size_t matched = folders_matched(parts, start, state.name);
    if (matched <= folders) continue;
    longest = state.name;
    folders = matched;
  }
  if (folders == 0) return std::nullopt;
  const std::size_t at = start + folders;
  FolderPlace place{.category = std::string(start == 0 ? "" : parts.front()),
                    .state = std::string(longest),
                    .name = std::string(parts[at])};
  if (at + 1 < parts.size()) return place;
  // A file without an ending of ours is nobody's item, but it does lie in this state.
  place.shape = FolderPlace::Shape::file;
  place.name = is_item_file(parts[at]) ? without_ending(parts[at]) : std::string_view();
  return place;
}

std::optional<FolderPlace> FolderLayout::joined(const Parts& parts, std::size_t start) const {
  if (parts.size() < start + 2) return std::nullopt;
  for (const WorkState& state : workflow_->states()) {
    const std::string begins = state.name + "-";
    if (state.kind != StateKind::waiting || !parts[start].starts_with(begins)) continue;
    return FolderPlace{.category = std::string(start == 0 ? "" : parts.front()),
                       .state = state.name,
                       .name = std::string(parts[start].substr(begins.size())),
                       .shape = FolderPlace::Shape::joined};
  }
  return std::nullopt;
}

std::optional<FolderPlace> FolderLayout::place_of(std::string_view path) const {
  const Parts parts = split(path, '/');
  std::optional<FolderPlace> place = in_state(parts, 0);
  if (!place) place = in_state(parts, 1);
  if (!place) place = joined(parts, 0);
  if (!place) place = joined(parts, 1);
  // A name that cannot be an id is still somebody's work: whoever reads it says so.
  const bool counts = place && !place->name.empty() && !place->name.starts_with('.') &&
                      !place->category.starts_with('.');
  return counts ? place : std::nullopt;
}

std::optional<FolderPlace> FolderLayout::stray(std::string_view path) const {
  const Parts parts = split(path, '/');
  if (parts.size() < 2 || is_hidden(parts) || in_state(parts, 0) || in_state(parts, 1) ||
      place_of(path))
    return std::nullopt;
  const bool is_file = is_item_file(parts.back()) && parts.size() <= 3;
  if (parts.size() == 2 && !is_file) return std::nullopt;
  const std::size_t last = is_file ? parts.size() - 1 : parts.size() == 3 ? 1 : 2;
  FolderPlace place{.name = std::string(is_file ? without_ending(parts[last]) : parts[last]),
                    .shape = is_file ? FolderPlace::Shape::file : FolderPlace::Shape::folder};
  if (last == 2) place.category = parts[0];
  place.state = parts[last - 1];
  return place;
}

std::string FolderLayout::folder_for(std::string_view state) const {
  if (state.empty()) return workflow_->initial();
  if (workflow_->find(state) != nullptr) return std::string(state);
  const auto* near =
      std::ranges::find(kNearest, state, [](const auto& pair) { return pair.first; });
  const std::string_view folder = near == kNearest.end() ? "pending" : near->second;
  return workflow_->find(folder) == nullptr ? workflow_->initial() : std::string(folder);
}

bool FolderLayout::has_category(std::string_view state) const {
  const WorkState* first = workflow_->find(workflow_->initial());
  return state != workflow_->initial() && (first == nullptr || state != first->lands_as);
}

std::string FolderLayout::category_for(std::string_view type) const {
  const auto begins_a_state = [&](const WorkState& state) {
    return split(state.name, '/').front() == type;
  };
  if (type == kNoCategoryType || !is_folder_name(type) ||
      std::ranges::any_of(workflow_->states(), begins_a_state))
    return {};
  return std::string(type);
}

std::string FolderLayout::name_for(const ItemId& id) {
  return is_folder_name(id.text) ? id.text : encode_name(id.text);
}

}  // namespace dibs
