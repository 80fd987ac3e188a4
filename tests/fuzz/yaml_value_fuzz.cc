// One value of front matter: any scalar and any list can be written so that it reads the same.
#include "base/text.h"
#include "fuzzing.h"
#include "items/yaml_value.h"

namespace dibs::fuzz {

namespace {

void check_scalar(const std::string& value) {
  const Result<YamlValue> read = read_yaml_value(" " + yaml_scalar(value) + "\n");
  must(read.has_value() && read->form == YamlForm::scalar, "a scalar that was written can be read");
  must(read->scalar == value, "and is the same then");
}

void check_list(std::string_view text) {
  std::vector<std::string> entries;
  for (const std::string_view entry : split(text, '\0')) entries.emplace_back(entry);
  if (entries.size() > kYamlEntriesMax) return;
  const Result<YamlValue> read = read_yaml_value(" " + yaml_flow_list(entries) + "\n");
  must(read.has_value() && read->form == YamlForm::flow_list,
       "a list that was written can be read");
  must(read->entries == entries, "and is the same then");
}

}  // namespace

void try_input(std::string_view input) {
  const Result<YamlValue> value = read_yaml_value(input);
  // A carriage return in the middle of a line is refused before anybody asks for values.
  const bool whole_lines = input.find('\r') == std::string_view::npos;
  if (value && whole_lines)
    must(value->begin <= value->end && value->end <= input.size(), "it lies in the text");
  if (!is_utf8(input)) return;
  check_scalar(std::string(input));
  check_list(input);
}

}  // namespace dibs::fuzz
