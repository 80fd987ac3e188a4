// The index of claims: a damaged one is none, and a found record is one that the file has. The
// first byte says whether checksums are put right.
#include "fuzzing.h"
#include "resealed.h"
#include "store/claims_index.h"
#include "testing/fake_disk.h"

namespace dibs::fuzz {

namespace {

constexpr const char* kPath = "/dibs/claims.index.json";

// What ends the header is behind its checksum, so that is put right by itself.
std::string sealed_index(std::string_view text) {
  constexpr std::string_view kHeaderEnd = ",\"active\":[";
  const std::size_t newline = std::min(text.find('\n'), text.size());
  const std::string_view header = text.substr(0, newline);
  if (!header.ends_with(kHeaderEnd)) return resealed(text, Chain::each_line_alone);
  std::string first =
      resealed(std::string(header.substr(0, header.size() - kHeaderEnd.size())) + "}",
               Chain::each_line_alone);
  first.pop_back();
  std::string lines;
  for (const std::string_view line : split(text.substr(newline), '\n')) {
    const bool comma = line.ends_with(',');
    lines += resealed(comma ? line.substr(0, line.size() - 1) : line, Chain::each_line_alone);
    lines += comma ? ",\n" : "\n";
  }
  lines.pop_back();
  return first + std::string(kHeaderEnd) + lines;
}

}  // namespace

void try_input(std::string_view input) {
  Pieces pieces(input);
  const bool sealed = pieces.byte() % 2 == 1;
  FakeClock clock;
  FakeDisk disk(clock);
  disk.make_durable_directory("/dibs");
  disk.put(kPath, sealed ? sealed_index(pieces.rest()) : std::string(pieces.rest()));
  const std::unique_ptr<ClaimsIndex> index = ClaimsIndex::open(disk, kPath);
  if (index == nullptr) return;
  (void)index->find({"item:42"});
  const Result<std::vector<Record>> all = index->mentioning("");
  if (!all) return;
  for (const Record& record : *all) {
    const Result<std::optional<Record>> found = index->find(record.key);
    if (found && found->has_value()) must((*found)->key == record.key, "found is what was sought");
  }
}

}  // namespace dibs::fuzz
