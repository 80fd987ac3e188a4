// A unit of work, and the JSON file that says so. Every source of items (dibs' own ref, folders,
// Markdown, JSONL) is read into this and written back from it; members that dibs does not know are
// kept.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/json.h"
#include "base/result.h"

namespace dibs {

using ItemId = Id<struct ItemTag>;

inline constexpr std::size_t kItemIdMax = 200;  // what a resource's name may be
inline constexpr std::size_t kTitleMax = 500;
inline constexpr std::size_t kBodyBytesMax = 1024UL * 1024;
inline constexpr std::size_t kItemFileBytesMax = 4UL * 1024 * 1024;  // with comments and the rest
inline constexpr std::size_t kCardBytesMax = 4096;
inline constexpr std::size_t kWordMax = 100;  // a label, a state, a type
inline constexpr std::size_t kLabelsMax = 100;
inline constexpr std::size_t kDependenciesMax = 900;
inline constexpr std::size_t kGlobsMax = 200;
inline constexpr std::size_t kGlobMax = 1000;
inline constexpr std::size_t kCommentsMax = 900;
inline constexpr std::int64_t kEstimateMinMax = 1'000'000;
inline constexpr std::int64_t kItemTriesMax = 1'000'000;
inline constexpr int kPriorityDefault = 2;
inline constexpr int kPriorityLeast = 4;  // 0 is the most urgent

struct Comment {
  std::string by;  // an agent, or a name that another tool wrote
  std::int64_t unix_ms = 0;
  std::string text;

  friend bool operator==(const Comment&, const Comment&) = default;
};

struct Item {
  ItemId id;
  std::string title;
  std::string body;
  // As stored; what is shown may follow from dependencies and leases. Empty: where work begins.
  std::string state;
  int priority = kPriorityDefault;
  std::vector<std::string> labels;
  std::vector<ItemId> depends_on;
  std::vector<std::string> files;  // globs of what the work will touch
  std::optional<std::int64_t> estimate_min;
  std::string type = "task";
  std::int64_t created_unix_ms = 0;
  std::int64_t updated_unix_ms = 0;
  std::string created_by;
  std::string came_from;   // the state before it had to wait for an answer
  std::int64_t tries = 0;  // how often work on it has failed since somebody last looked at it
  std::vector<Comment> comments;
  std::string unknown_members;  // as JSON members, in their order
  // On a card that would be too long: body, comments and unknown members are where the item is.
  bool is_shortened = false;

  friend bool operator==(const Item&, const Item&) = default;
};

// A printable name without blanks at its ends; anything else is no id.
[[nodiscard]] Result<ItemId> parse_item_id(std::string_view text);

// "fix-login-b5c6d7e8": what the title is about, and enough chance that no two clones make the same
// one.
[[nodiscard]] ItemId make_item_id(std::string_view title,
                                  const std::array<std::uint8_t, 4>& chance);
// The first half of it: lower-case letters, digits and dashes. "item" when nothing is left.
[[nodiscard]] std::string slug_of(std::string_view title);

// The first thing about it that no item may have, named with its member; every edge asks this.
[[nodiscard]] Done check_item(const Item& item);

// What `--json` shows: the members in the order of the command contract.
[[nodiscard]] std::string public_members(const Item& item);

// The whole item as a file, one member a line, so that git shows and merges changes of one member.
[[nodiscard]] std::string item_file(const Item& item);
// The same in one line, for an index; shortened when it would be more than kCardBytesMax.
[[nodiscard]] std::string item_card(const Item& item);

// Reads either form. An error says what is wrong in words that fit after "it cannot be read: ".
[[nodiscard]] Result<Item> item_from_json(std::string_view text);

}  // namespace dibs
