// The index of items: a damaged image is none or says so when it is asked, and never leads outside
// itself. The first byte says whether the table's checksum is put right, or that the input is a
// line of changes.
#include <cstring>

#include "fuzzing.h"
#include "items/catalog.h"
#include "items/catalog_change.h"
#include "model/workflow.h"
#include "testing/fake_disk.h"

namespace dibs::fuzz {

namespace {

constexpr const char* kPath = "/dibs/items.index";

std::string with_checksum(std::string image) {
  CatalogTable table;
  if (image.size() < sizeof table) return image;
  char* const at = image.data() + image.size() - sizeof table;
  std::memcpy(&table, at, sizeof table);
  table.bytes = image.size() - sizeof table;
  table.checksum = table.own_checksum();
  std::memcpy(at, &table, sizeof table);
  return image;
}

void ask(const Catalog& catalog) {
  (void)catalog.find("t7");
  (void)catalog.starting_with("t", 10);
  (void)catalog.ready(10);
  (void)catalog.ready_order();
  (void)catalog.cards();
  (void)catalog.broken();
  (void)catalog.columns();
  for (std::uint32_t item = 0; item < std::min(catalog.size(), 8U); ++item) {
    (void)catalog.id(item);
    (void)catalog.words(item);
    (void)catalog.files(item);
  }
}

void try_image(std::string image) {
  FakeClock clock;
  FakeDisk disk(clock);
  disk.make_durable_directory("/dibs");
  disk.put(kPath, std::move(image));
  Result<std::unique_ptr<File>> file = disk.open(kPath, Open::read, kPrivateFile);
  must(file && *file != nullptr, "the image is there");
  Result<std::optional<Catalog>> catalog = Catalog::open(*std::move(file), Workflow::standard());
  if (!catalog || !catalog->has_value()) return;
  ask(**catalog);
  if (!(*catalog)->apply({.cards = {{.id = {"t7"}, .title = "seven"}}, .gone = {{"t8"}}})) return;
  ask(**catalog);
}

void try_step(std::string_view line) {
  const std::optional<CatalogStep> step = step_from(line);
  if (!step) return;
  const std::optional<CatalogStep> again = step_from(to_line(*step));
  must(again && to_line(*again) == to_line(*step), "a step is written as it is read");
}

}  // namespace

void try_input(std::string_view input) {
  Pieces pieces(input);
  switch (pieces.byte() % 3) {
    case 0:
      return try_image(std::string(pieces.rest()));
    case 1:
      return try_image(with_checksum(std::string(pieces.rest())));
    default:
      return try_step(pieces.rest());
  }
}

}  // namespace dibs::fuzz
