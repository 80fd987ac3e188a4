#include "items/catalog_cache.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "items/items_at.h"
#include "sys/replacement.h"

namespace dibs {

namespace {

constexpr std::size_t kChangesBytesMax = 4UL * 1024 * 1024;
// Lines cost a reader some microseconds each, an image its writer about one an item.
constexpr std::size_t kLinesLeast = 64;
constexpr std::size_t kItemsALine = 500;
constexpr std::size_t kFilesAStepMax = 400;

bool are_many(std::size_t changed, std::uint32_t items) {
  return changed > std::max<std::size_t>(kLinesLeast, items / kItemsALine);
}

}  // namespace

Result<std::optional<CatalogCache::Led>> CatalogCache::led(const std::string& goal,
                                                           const Workflow& workflow) {
  Result<std::unique_ptr<File>> file = files_.open(index(), Open::read);
  if (!file) return fail(file.error());
  if (*file == nullptr) return std::nullopt;
  Result<std::optional<Catalog>> image = Catalog::open(*std::move(file), workflow);
  if (!image) return fail(image.error());
  if (!image->has_value()) return std::nullopt;
  if (const std::string_view boot = (*image)->boot(); !boot.empty() && boot != place_.boot)
    return std::nullopt;
  Led led{.catalog = **std::move(image), .to = {}};
  led.to = led.catalog.commit();
  if (led.to == goal) return led;
  const Result<std::optional<std::string>> lines = files_.read_file(changes(), kChangesBytesMax);
  if (!lines || !lines->has_value()) return led;
  led.bytes = (*lines)->size();
  for (const std::string_view line : split(**lines, '\n')) {
    if (line.empty()) continue;
    std::optional<CatalogStep> step = step_from(line);
    led.whole = step.has_value();
    if (!step || step->from != led.to) continue;
    if (Done applied = led.catalog.apply(std::move(step->change)); !applied)
      return fail(applied.error());
    led.to = step->to;
    if (led.to == goal) break;
  }
  return led;
}

Result<Catalog> CatalogCache::at(const std::string& commit, const Workflow& workflow) {
  Result<Catalog> catalog = find(commit, workflow);
  if (catalog) catalog->now_shows(commit);
  return catalog;
}

Result<Catalog> CatalogCache::find(const std::string& commit, const Workflow& workflow) {
  if (commit.empty()) return Catalog::of({}, {}, workflow);
  Result<std::optional<Led>> led = this->led(commit, workflow);
  if (!led) return fail(led.error());
  if (!led->has_value()) return make_anew(commit, workflow);
  Catalog& catalog = (*led)->catalog;
  if ((*led)->to != commit) {
    Result<std::optional<CatalogStep>> step = step_between((*led)->to, commit);
    if (!step) return fail(step.error());
    if (!step->has_value()) return make_anew(commit, workflow);
    note(**step);
    if (Done applied = catalog.apply(std::move((*step)->change)); !applied)
      return fail(applied.error());
  }
  if (!are_many(catalog.changed(), catalog.size())) return std::move(catalog);
  const auto fill = [&](CatalogWriter& writer) -> Result<std::vector<BrokenItem>> {
    const Result<std::vector<Item>> cards = catalog.cards();
    if (!cards) return fail(cards.error());
    for (const Item& card : *cards) writer.add(card);
    return catalog.broken();
  };
  return make(fill, commit, workflow);
}

// Two that append at once would tear each other's lines, so who finds the lock taken leaves it.
void CatalogCache::note(const CatalogStep& step) {
  if (step.change.cards.size() > kFilesAStepMax) return;
  const Result<std::unique_ptr<FileLock>> lock = files_.lock(
      place_.directory + "/locks/items-index.lock", Patience::at_once, place_.file_mode);
  if (!lock || *lock == nullptr) return;
  const Result<std::optional<Led>> led = this->led({}, Workflow::standard());
  if (!led || !led->has_value() || (*led)->to != step.from) return;
  if (!(*led)->whole || (*led)->bytes > kChangesBytesMax / 2) {
    (void)files_.remove(changes());
    return;
  }
  const Result<std::unique_ptr<File>> file =
      files_.open(changes(), Open::create_append, place_.file_mode);
  if (file && *file != nullptr) (void)(*file)->append(to_line(step));
}

// Nothing when it would be no less work to read everything, or git cannot tell.
Result<std::optional<CatalogStep>> CatalogCache::step_between(const std::string& from,
                                                              const std::string& to) {
  const Result<std::optional<std::vector<FileDifference>>> differences =
      differences_between(git_, place_.common_dir, from, to, kFilesAStepMax);
  if (!differences) return fail(differences.error());
  if (!differences->has_value()) return std::nullopt;
  Result<CatalogChange> change = change_of(branch_, **differences);
  if (!change) return fail(change.error());
  return CatalogStep{.from = from, .to = to, .change = *std::move(change)};
}

Result<Catalog> CatalogCache::make_anew(const std::string& commit, const Workflow& workflow) {
  const auto fill = [&](CatalogWriter& writer) {
    return each_item_at(branch_, commit,
                        [&](const Item& item, std::string_view text) { writer.add(item, text); });
  };
  return make(fill, commit, workflow);
}

// It is derived: who cannot write it has the answer all the same.
Result<Catalog> CatalogCache::make(const Fill& fill, const std::string& commit,
                                   const Workflow& workflow) {
  if (write(fill, commit, workflow)) {
    Result<std::optional<Led>> led = this->led(commit, workflow);
    if (led && led->has_value() && (*led)->to == commit) return std::move((*led)->catalog);
  }
  std::string image;
  CatalogWriter writer(into(image));
  const Result<std::vector<BrokenItem>> broken = fill(writer);
  if (!broken) return fail(broken.error());
  if (Done finished = writer.finish(*broken, workflow, {.commit = commit}); !finished)
    return fail(finished.error());
  return Catalog::of_image(std::move(image), workflow);
}

Done CatalogCache::write(const Fill& fill, const std::string& commit, const Workflow& workflow) {
  const Result<std::unique_ptr<FileLock>> lock = files_.lock(
      place_.directory + "/locks/items-index.lock", Patience::at_once, place_.file_mode);
  if (!lock) return fail(lock.error());
  if (*lock == nullptr) return fail(ErrorKind::internal, "another writes the index of items");
  Result<Replacement> made = Replacement::begin(files_, index(), place_.file_mode);
  if (!made) return fail(made.error());
  CatalogWriter writer([&](std::string_view bytes) { return made->file().append(bytes); });
  const Result<std::vector<BrokenItem>> broken = fill(writer);
  if (!broken) return fail(broken.error());
  const CatalogOrigin origin{.commit = commit, .boot = place_.boot};
  if (Done finished = writer.finish(*broken, workflow, origin); !finished) return finished;
  const auto keep =
      place_.boot.empty() ? Replacement::Keep::through_power_loss : Replacement::Keep::until_reboot;
  if (Done placed = made->put_in_place(keep); !placed) return placed;
  return files_.remove(changes());
}

}  // namespace dibs
