// A whole log: replayed, searched, salvaged, and made into an index, which must all say the same.
// The first byte says whether checksums are put right.
#include "fuzzing.h"
#include "resealed.h"
#include "store/segments.h"
#include "testing/fake_disk.h"

namespace dibs::fuzz {

namespace {

constexpr const char* kDirectory = "/dibs";
constexpr const char* kIndex = "/dibs/claims.index.json";

void check_tail(FakeDisk& disk, const Records& records, std::string_view text) {
  const Result<std::unique_ptr<File>> file =
      disk.open("/dibs/claims.jsonl", Open::read, kPrivateFile);
  must(file && *file != nullptr, "the log is there");
  LogTail tail;
  must(tail.read(**file).has_value(), "a log that replays can be read");
  for (const auto& [key, record] : records) {
    // A key that somebody wrote in other words than we would is found by replaying alone.
    if (!contains(text, write_mark(key))) continue;
    const auto last = tail.last_write_of(key, {});
    must(last && last->has_value() && (*last)->record == record,
         "searching finds what replay does");
  }
  (void)tail.keys_mentioning("item:");
}

void check_index(FakeDisk& disk, const Replay& replay) {
  disk.put(kIndex, encode_index({.position = replay.end}, replay.records, 0));
  const std::unique_ptr<ClaimsIndex> index = ClaimsIndex::open(disk, kIndex);
  must(index != nullptr, "an index of what was replayed is intact");
  for (const auto& [key, record] : replay.records) {
    // A number in its text is for salvaged records; others have that of their line.
    const Result<std::optional<Record>> found = index->find(key);
    must(found && found->has_value(), "the index has every record");
    must((*found)->value == record.value && (*found)->version == record.version,
         "the index says what the log says");
  }
}

}  // namespace

void try_input(std::string_view input) {
  Pieces pieces(input);
  const bool sealed = pieces.byte() % 2 == 1;
  FakeClock clock;
  FakeDisk disk(clock);
  disk.make_durable_directory(kDirectory);
  const std::string text =
      sealed ? resealed(pieces.rest(), Chain::each_on_the_one_before) : std::string(pieces.rest());
  disk.put("/dibs/claims.jsonl", text);
  (void)read_history(disk, kDirectory, {});
  (void)salvage_log(disk, kDirectory);
  (void)mend_torn({}, pieces.rest());
  const Result<Replay> replay = replay_log(disk, kDirectory);
  if (!replay) return;
  check_tail(disk, replay->records, text);
  check_index(disk, *replay);
}

}  // namespace dibs::fuzz
