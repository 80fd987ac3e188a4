// Times that others wrote: what is read is written as the same moment.
#include "base/time.h"
#include "fuzzing.h"
#include "items/foreign_words.h"

namespace dibs::fuzz {

void try_input(std::string_view input) {
  (void)shown_title(input, "fallback");
  if (const std::optional<std::int64_t> ms = parse_rfc3339(input)) {
    must(parse_rfc3339(rfc3339(*ms)) == *ms, "a time is written as it is read");
    must(parse_any_rfc3339(input) == *ms, "both ways to read a time agree");
  }
  if (const std::optional<std::int64_t> ms = parse_any_rfc3339(input)) (void)rfc3339(*ms);
}

}  // namespace dibs::fuzz
