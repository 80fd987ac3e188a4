// What records and events say: leases, lines of waiting, the note of an unfinished landing.
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "fuzzing.h"
#include "model/event.h"
#include "model/lease.h"
#include "model/line.h"
#include "store/landing_file.h"

namespace dibs::fuzz {

namespace {

void try_lease(std::string_view text) {
  const Record record{.key = {"item:42"}, .value = std::string(text), .fence = {7}};
  const Result<Holding> holding = holding_of(record);
  if (!holding) return;
  const std::string written = to_json(*holding);
  const Result<Holding> again = holding_of({.key = record.key, .value = written, .fence = {7}});
  must(again.has_value(), "leases that were read can be written and read again");
  must(to_json(*again) == written, "and are the same then");
}

void try_event(std::string_view text) {
  const Result<Json> json = parse_json(text);
  if (!json) return;
  const Result<Event> event = event_from_json(*json);
  if (!event) return;
  const Result<Json> written = parse_json(to_json(*event));
  must(written.has_value(), "an event is written as JSON");
  const Result<Event> again = event_from_json(*written);
  must(again.has_value() && *again == *event, "and reads the same then");
}

void try_landing(std::string_view text) {
  const Result<PendingLanding> landing = pending_landing_from_json(text);
  if (!landing) return;
  const std::string written = to_json(*landing);
  const Result<PendingLanding> again = pending_landing_from_json(written);
  must(again && to_json(*again) == written, "a pending landing is written as it is read");
}

}  // namespace

void try_input(std::string_view input) {
  try_lease(input);
  try_event(input);
  try_landing(input);
  (void)line_of(Record{.key = {"line:item:42"}, .value = std::string(input)});
}

}  // namespace dibs::fuzz
