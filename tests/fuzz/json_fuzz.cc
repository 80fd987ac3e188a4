// JSON as texts: what is taken apart without a tree must agree with what is read into one.
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "fuzzing.h"
#include "items/json_line.h"

namespace dibs::fuzz {

namespace {

void try_line(std::string_view text) {
  Result<JsonLine> line = JsonLine::parse(text);
  if (!line) return;
  must(line->text() == text, "a line that nobody changes keeps its bytes");
  line->set("dibs", R"({"a":[1,"}"]})");
  must(line->raw("dibs") == R"({"a":[1,"}"]})", "a member that was set is there");
  must(JsonLine::parse(line->text()).has_value(), "a line with a member set can be read");
  line->remove("dibs");
  const Result<Json> without = parse_json(line->text());
  must(without.has_value() && !without->contains("dibs"), "a member that was removed is gone");
}

}  // namespace

void try_input(std::string_view input) {
  (void)skip_json_value(input, 0);
  (void)members_in(input);
  const Result<Json> quoted = parse_json(json_string(input));
  must(quoted.has_value() && quoted->is_string(), "any text can be quoted");
  const Result<Json> json = parse_json(input);
  if (!json) return;
  const Result<Json> again = parse_json(json->dump());
  must(again.has_value() && *again == *json, "JSON that was read can be written and read again");
  if (json->is_object()) {
    const Result<Json> spread = parse_json(one_member_a_line(json->dump()));
    must(spread.has_value() && *spread == *json, "one member a line says the same");
  }
  try_line(input);
}

}  // namespace dibs::fuzz
