// A git object as the file that git keeps it in: named by its hash, wrapped in zlib's format.
// Written by us where starting git for it would cost a tenth of a claim.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dibs {

enum class ObjectFormat { sha1, sha256 };

// By the length of an object's name in hex.
[[nodiscard]] ObjectFormat format_of(std::string_view name);

struct LooseObject {
  std::string name;   // in hex
  std::string bytes;  // of the file

  [[nodiscard]] std::string path() const { return name.substr(0, 2) + "/" + name.substr(2); }
};

// `type` is "commit", "tree" or "blob".
[[nodiscard]] LooseObject loose_object(ObjectFormat format, std::string_view type,
                                       std::string_view content);

// What an object with this content is called.
[[nodiscard]] std::string object_name(ObjectFormat format, std::string_view type,
                                      std::string_view content);

// The content of an object from its file, whoever made that; nothing when it is of another type, is
// not what its name says, or is larger than kObjectMax.
inline constexpr std::size_t kObjectMax = 16UL * 1024 * 1024;  // larger ones are git's
[[nodiscard]] std::optional<std::string> unwrapped(std::string_view bytes, std::string_view type,
                                                   std::string_view name);

}  // namespace dibs
