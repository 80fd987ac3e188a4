// The cards of many items as one block of bytes, laid out by columns so that a question reads only
// what it needs: the ten best of 100,000 take a handful of small reads. Made once (catalog_writer),
// kept in a file or in memory, and never changed; docs/formats/items-index.md describes it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "items/broken_item.h"
#include "model/item.h"
#include "model/workflow.h"

namespace dibs {

inline constexpr std::uint32_t kItemsMax = 10'000'000;

/// The parts of an image, as its table has them. Numbers are little-endian; items are numbered by
/// id.
enum class Part : std::uint8_t {
  id_ends,       // u32 each: where in `ids` each ends
  ids,           // text
  states,        // u8 each: a number in `state_names`
  priorities,    // u8 each
  estimates,     // u32 each, 0 when there is none
  created,       // i64 each
  row_ends,      // u32 each: where in `depends_on` each item's dependencies end
  depends_on,    // u32 each: item numbers, kNoItem for an id that no item has
  ready,         // u32 each: what can be taken, best first
  path_lengths,  // u32 each: how many unfinished items wait behind it, at the longest
  word_ends,     // u32 each: where in `words` each ends
  words,         // text: the type and the labels of each, a line each
  file_ends,     // u32 each: where in `files` each ends
  files,         // text: the globs of each, a line each
  card_spans,    // a CardSpan each: where in `cards` it is
  cards,         // JSON, one after the other as they came
  state_names,   // a line each
  dangling,      // a line each: the ids that kNoItem stands for, in the order of `depends_on`
  broken,        // a line of JSON each
};
inline constexpr std::size_t kPartCount = 19;

struct CardSpan {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// What an image was made of.
struct CatalogOrigin {
  std::string_view commit = {};
  // The boot in which it was written, if it was not flushed: after another it may not be what was
  // written. Empty: it was flushed.
  std::string_view boot = {};
};

/// Stands at the end of an image, so that one that is cut short has none.
struct CatalogTable {
  std::array<char, 8> magic{};
  std::uint32_t checksum = 0;  // of what follows it in the table
  std::uint32_t workflow = 0;  // fingerprint of the table that `ready` was found by
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;           // of all parts together
  std::array<char, 64> made_from{};  // the commit, in hex
  std::array<char, 40> made_in{};    // the boot
  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  std::array<Place, kPartCount> parts{};

  [[nodiscard]] const Place& operator[](Part part) const {
    return parts[static_cast<std::size_t>(part)];
  }
  [[nodiscard]] Place& operator[](Part part) { return parts[static_cast<std::size_t>(part)]; }
  [[nodiscard]] std::string_view commit() const;
  [[nodiscard]] std::string_view boot() const;
  // All but the parts.
  void seal(const CatalogOrigin& origin, std::uint64_t count, const Workflow& table);
  [[nodiscard]] std::uint32_t own_checksum() const;
  // That it is one of ours, whole, and that no part lies outside the parts' bytes.
  [[nodiscard]] bool is_sound() const;
};

// Which states count as what; two tables with one fingerprint give one order.
[[nodiscard]] std::uint32_t fingerprint(const Workflow& workflow);

/// What an image is made of.
struct CatalogContents {
  const std::vector<Item>& items;
  const std::vector<BrokenItem>& broken;
};
[[nodiscard]] std::string catalog_image(const CatalogContents& contents, const Workflow& workflow,
                                        std::string_view commit);

}  // namespace dibs
