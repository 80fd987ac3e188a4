#include "items/keyed_merge.h"

#include <unordered_map>

namespace dibs {

namespace {

using Texts = std::unordered_map<std::string_view, std::string_view>;
using Keys = std::vector<std::string_view>;

Texts by_key(const std::vector<KeyedText>& list) {
  Texts texts;
  for (const KeyedText& entry : list) texts.emplace(entry.key, entry.text);
  return texts;
}

std::optional<std::string_view> text_of(const Texts& texts, std::string_view key) {
  const auto found = texts.find(key);
  return found == texts.end() ? std::nullopt : std::optional(found->second);
}

// Those that the other list has too, in this one's order.
Keys common(const std::vector<KeyedText>& list, const Texts& other) {
  Keys keys;
  for (const KeyedText& entry : list) {
    if (other.contains(entry.key)) keys.emplace_back(entry.key);
  }
  return keys;
}

// The keys of `other` that `spine` lacks, by the last one before them that it has; "" before all.
std::unordered_map<std::string_view, Keys> added_behind(const std::vector<KeyedText>& other,
                                                        const Texts& spine) {
  std::unordered_map<std::string_view, Keys> added;
  std::string_view behind;
  for (const KeyedText& entry : other) {
    if (spine.contains(entry.key)) {
      behind = entry.key;
    } else {
      added[behind].emplace_back(entry.key);
    }
  }
  return added;
}

// All keys of both. Between two that both have, those of the spine come first.
Keys merged_order(const std::vector<KeyedText>& spine, const std::vector<KeyedText>& other) {
  const Texts in_other = by_key(other);
  const auto added = added_behind(other, by_key(spine));
  Keys order;
  const auto add_behind = [&](std::string_view key) {
    const auto more = added.find(key);
    if (more != added.end()) order.insert(order.end(), more->second.begin(), more->second.end());
  };
  std::string_view behind;
  for (const KeyedText& entry : spine) {
    if (in_other.contains(entry.key)) {
      add_behind(behind);
      behind = entry.key;
    }
    order.emplace_back(entry.key);
  }
  add_behind(behind);
  return order;
}

}  // namespace

Settled settle(const std::optional<std::string_view>& base,
               const std::optional<std::string_view>& ours,
               const std::optional<std::string_view>& theirs) {
  if (ours == theirs || theirs == base) return Settled::ours;
  if (ours == base) return Settled::theirs;
  if (ours && theirs) return Settled::clash;
  return ours ? Settled::ours : Settled::theirs;
}

std::vector<KeyedVersions> merged_list(const std::vector<KeyedText>& base,
                                       const std::vector<KeyedText>& ours,
                                       const std::vector<KeyedText>& theirs) {
  const Texts in_base = by_key(base);
  const Texts in_ours = by_key(ours);
  const Texts in_theirs = by_key(theirs);
  const bool ours_as_before = common(ours, in_base) == common(base, in_ours);
  const Keys order = ours_as_before && common(theirs, in_base) != common(base, in_theirs)
                         ? merged_order(theirs, ours)
                         : merged_order(ours, theirs);
  std::vector<KeyedVersions> merged;
  for (const std::string_view key : order) {
    KeyedVersions versions{.key = std::string(key),
                           .base = text_of(in_base, key),
                           .ours = text_of(in_ours, key),
                           .theirs = text_of(in_theirs, key)};
    const Settled settled = settle(versions.base, versions.ours, versions.theirs);
    const bool gone = (settled == Settled::ours && !versions.ours) ||
                      (settled == Settled::theirs && !versions.theirs);
    if (!gone) merged.push_back(std::move(versions));
  }
  return merged;
}

}  // namespace dibs
