// A git object as the file that git keeps it in: named by its hash, wrapped in zlib's format.
// Written by us where starting git for it would cost a tenth of a claim.
#pragma once

#include <string>
#include <string_view>

namespace dibs {

enum class ObjectFormat { sha1, sha256 };

struct LooseObject {
  std::string name;   // in hex
  std::string bytes;  // of the file

  [[nodiscard]] std::string path() const { return name.substr(0, 2) + "/" + name.substr(2); }
};

// `type` is "commit" or "tree".
[[nodiscard]] LooseObject loose_object(ObjectFormat format, std::string_view type,
                                       std::string_view content);

}  // namespace dibs
