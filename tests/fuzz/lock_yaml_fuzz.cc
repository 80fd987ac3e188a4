// Lock files on a branch that other tools write too: whatever is read keeps its bytes, and what we
// write over it is what we wrote.
#include "base/text.h"
#include "fuzzing.h"
#include "store/lock_file.h"

namespace dibs::fuzz {

namespace {

constexpr const char* kPath = "t42_lock.yaml";

void check_scalar(std::string_view value) {
  const LockField field = lock_field("key", value);
  const Result<LockFields> read = parse_lock_yaml(field.text);
  must(read.has_value() && value_in(*read, "key") == field.value, "a field reads as it is written");
}

// Somebody's file with our record written over it is our record.
void check_written_over(std::string_view before) {
  const Record record{
      .key = {"item:42"}, .value = R"({"leases":[]})", .version = {7}, .fence = {7}, .nonce = {}};
  const std::string text = lock_text(
      record, before, [] { return LockHolder{.email = "a@example.com", .host = "here"}; });
  const Result<Record> read = record_in(kPath, text);
  must(read.has_value(), "a lock file that we write can be read");
  must(read->key == record.key && read->value == record.value, "and says what it was given");
}

}  // namespace

void try_input(std::string_view input) {
  (void)is_lock_path(input);
  (void)record_in(kPath, input);
  if (is_utf8(input)) check_scalar(input);
  check_written_over(input);
  const Result<LockFields> fields = parse_lock_yaml(input);
  if (!fields) return;
  const Result<LockFields> again = parse_lock_yaml(to_yaml(*fields));
  must(again.has_value() && again->size() == fields->size(), "fields are written as they are read");
  for (const LockField& field : *fields)
    must(value_in(*again, field.key) == field.value, "and have the same values");
}

}  // namespace dibs::fuzz
