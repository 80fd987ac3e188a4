// One value of the YAML that stands above Markdown: a scalar or a list of scalars, in any of the
// forms that people and tools write. Everything else is told apart and left alone. No YAML library:
// one would give back a document of its own making, and every comment would be gone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dibs {

inline constexpr std::size_t kYamlEntriesMax = 2000;

enum class YamlForm {
  scalar,
  flow_list,   // [a, b]
  block_list,  // one "- a" a line
  other,       // maps, block scalars, lists of lists
};

struct YamlValue {
  YamlForm form = YamlForm::scalar;
  std::string scalar = {};
  std::vector<std::string> entries = {};
  // Where it stands in the text, without blanks and comments around it; what stands in the lines
  // below its key begins with the line end before it.
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string indent = {};  // of a block list's entries

  [[nodiscard]] bool is_list() const {
    return form == YamlForm::flow_list || form == YamlForm::block_list;
  }
};

// From behind a key's colon to the end of its last line. A quote or a list that does not end, or
// goes on after its end, is an error.
[[nodiscard]] Result<YamlValue> read_yaml_value(std::string_view text);

// As it may stand behind "key: " or between the commas of a list: plain where that can be read back
// as it was, because many tools do not take quotes off.
[[nodiscard]] std::string yaml_scalar(std::string_view value);
[[nodiscard]] std::string yaml_flow_list(const std::vector<std::string>& entries);

}  // namespace dibs
