#include "testing/local_site.h"

#include <stdexcept>

namespace dibs {

LocalSite::LocalSite(LocalLimits chosen, std::uint64_t seed)
    : limits(chosen), disk(clock, seed), random(seed) {
  disk.make_durable_directory("/repo/.git");
  if (!LocalStore::create(disk, directory, kPrivateDirectory))
    throw std::runtime_error("no store on the fake disk");
}

std::unique_ptr<LocalStore> LocalSite::open() {
  return std::make_unique<LocalStore>(
      disk, clock, random, directory, [this](const std::string& note) { notices.push_back(note); },
      limits);
}

Transaction writing(Random& random, const std::string& key,
                    const std::optional<std::string>& value) {
  Event event;
  event.op = value ? Op::acquire : Op::release;
  event.resource = {key};
  event.lease = {"L" + value.value_or("")};
  return {.nonce = random.nonce(),
          .expectations = {},
          .writes = {{.key = {key}, .value = value}},
          .events = {event},
          .gives_back = !value.has_value()};
}

Result<Outcome> put(Store& store, Random& random, const std::string& key,
                    const std::optional<std::string>& value) {
  return store.commit(writing(random, key, value));
}

bool is_committed(const Result<Outcome>& outcome) {
  return outcome && std::holds_alternative<Committed>(*outcome);
}

Result<Contents> contents_of(Store& store) {
  const Result<View> view = store.read(Selection::everything());
  if (!view) return fail(view.error());
  Contents contents;
  for (const Record& record : view->records) contents[record.key.text] = record.value;
  return contents;
}

}  // namespace dibs
