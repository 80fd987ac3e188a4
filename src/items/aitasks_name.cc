#include "items/aitasks_name.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace dibs {

namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::size_t kDigitsMax = 18;  // what fits a number

// The digits at the front, taken off; empty when there are none.
std::string_view take_digits(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of(kDigits), text.size());
  const std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  return digits.size() > kDigitsMax ? std::string_view() : digits;
}

struct Numbers {
  std::string_view parent;
  std::string_view child;  // empty: none
};

// "109" and "109_1", nothing before or behind.
std::optional<Numbers> numbers_of(std::string_view text) {
  Numbers numbers{.parent = take_digits(text), .child = {}};
  if (numbers.parent.empty()) return std::nullopt;
  if (text.empty()) return numbers;
  if (!text.starts_with('_')) return std::nullopt;
  text.remove_prefix(1);
  numbers.child = take_digits(text);
  if (numbers.child.empty() || !text.empty()) return std::nullopt;
  return numbers;
}

// "t109_name.md" with a given number of numbers in front.
std::optional<TaskName> named(std::string_view name, std::size_t numbers) {
  if (!name.starts_with('t') || !name.ends_with(".md")) return std::nullopt;
  std::string_view rest = name.substr(1, name.size() - 4);
  std::string id = "t";
  for (std::size_t i = 0; i < numbers; ++i) {
    const std::string_view digits = take_digits(rest);
    if (digits.empty() || !rest.starts_with('_')) return std::nullopt;
    id += (i > 0 ? "_" : "") + std::string(digits);
    rest.remove_prefix(1);
  }
  std::string title(rest);
  std::ranges::replace(title, '_', ' ');
  const std::string shown(trim(title));
  return TaskName{.id = {id}, .title = shown.empty() ? id : shown, .archived = false};
}

}  // namespace

std::optional<TaskName> task_name(std::string_view path) {
  const bool archived = path.starts_with(kTaskArchive);
  if (archived) path.remove_prefix(kTaskArchive.size());
  const std::size_t slash = path.find('/');
  const bool child = slash != std::string_view::npos;
  std::optional<TaskName> name = child ? named(path.substr(slash + 1), 2) : named(path, 1);
  if (!name) return std::nullopt;
  const std::string parent = name->id.text.substr(0, name->id.text.find('_'));
  if (child && path.substr(0, slash) != parent) return std::nullopt;
  name->archived = archived;
  return name;
}

ItemId task_id(std::string_view written) {
  return {(numbers_of(written) ? "t" : "") + std::string(written)};
}

std::optional<std::uint64_t> task_number(const ItemId& id) {
  if (!id.text.starts_with('t')) return std::nullopt;
  const auto numbers = numbers_of(std::string_view(id.text).substr(1));
  return numbers ? parse_unsigned(numbers->parent) : std::nullopt;
}

std::optional<std::string> task_path(const ItemId& id, std::string_view title) {
  if (!task_number(id)) return std::nullopt;
  std::string slug = slug_of(title);
  std::ranges::replace(slug, '-', '_');
  const std::size_t child = id.text.find('_');
  const std::string folder =
      child == std::string::npos ? std::string() : id.text.substr(0, child) + "/";
  return fmt::format("{}{}_{}.md", folder, id.text, slug);
}

ItemId next_task(std::uint64_t largest) { return {fmt::format("t{}", largest + 1)}; }

void TaskAliases::add(const ItemId& task, const ItemId& item) {
  items_[task] = item;
  tasks_[item] = task;
}

ItemId TaskAliases::item_of(const ItemId& task) const {
  const auto found = items_.find(task);
  return found == items_.end() ? task : found->second;
}

ItemId TaskAliases::task_of(const ItemId& item) const {
  const auto found = tasks_.find(item);
  return found == tasks_.end() ? item : found->second;
}

}  // namespace dibs
