#include "items/native_items.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "items/item_path.h"
#include "items/items_at.h"

namespace dibs {

namespace {
constexpr std::size_t kMessageFields = 4;
constexpr std::size_t kFew = 32;  // items: as many as land together
}  // namespace

Result<ItemList> NativeItems::read_all() {
  const Result<std::string> commit = tip();
  if (!commit) return fail(commit.error());
  ItemList list;
  if (commit->empty()) return list;
  Result<ItemsAt> all = items_at(branch_, *commit);
  if (!all) return fail(all.error());
  for (Item& item : all->items) {
    std::string file = item_path(item.id);
    list.items.push_back({.item = std::move(item), .version = {}, .file = std::move(file)});
  }
  list.broken = std::move(all->broken);
  return list;
}

Result<Catalog> NativeItems::catalog(const Workflow& workflow) {
  const Result<std::string> commit = tip();
  if (!commit) return fail(commit.error());
  return cache_.at(*commit, workflow);
}

Result<bool> NativeItems::is_up_to_date(const Catalog& catalog) {
  const Result<std::string> commit = tip();
  if (!commit) return fail(commit.error());
  return *commit == catalog.shows();
}

Result<std::vector<StoredItem>> NativeItems::read(const std::vector<ItemId>& ids) {
  const Result<std::string> commit = tip();
  if (!commit) return fail(commit.error());
  std::vector<std::string> paths;
  for (const ItemId& id : ids) paths.push_back(item_path(id));
  const Result<std::map<std::string, BranchFiles::Found>> files = look_at(*commit, paths);
  if (!files) return fail(files.error());
  std::vector<StoredItem> items;
  for (const std::string& path : paths) {
    const auto found = files->find(path);
    if (found == files->end()) continue;
    Result<Item> item = item_in(path, found->second.text);
    if (!item)
      return fail(ErrorKind::refused,
                  fmt::format("{}:{} cannot be read: {}", kItemsRef, path, item.error().message),
                  fmt::format("look at it with: git show {}:{}", kItemsRef, path));
    items.push_back({.item = *std::move(item), .version = found->second.object, .file = path});
  }
  return items;
}

// Of few items the trees above them, too: whoever changes one makes new ones.
Result<std::map<std::string, BranchFiles::Found>> NativeItems::look_at(
    const std::string& commit, const std::vector<std::string>& paths) {
  std::vector<std::string> asked = paths;
  if (paths.size() <= kFew) {
    for (const std::string& path : paths) asked.push_back(path.substr(0, path.find('/')));
    asked.emplace_back();
  }
  using Files = std::map<std::string, BranchFiles::Found>;
  std::optional<Files> stored = objects_.read_at(commit, asked);
  Result<Files> files = stored ? *std::move(stored) : branch_.read_at(commit, asked);
  if (files) remember(commit, *files);
  return files;
}

// What is expected is compared at the commit that the new one follows; the ref's own
// compare-and-swap says that nothing came between.
Result<bool> NativeItems::is_as_expected(const Batch& batch, const std::string& commit) {
  if (Result<bool> absent = are_new(batch, commit); !absent || !*absent) return absent;
  std::vector<std::string> paths;
  for (const Change& change : batch.changes) {
    if (change.expected) paths.push_back(item_path(change.item.id));
  }
  const auto is_seen = [&](const std::string& path) {
    return commit == seen_at_ && seen_.contains(path);
  };
  if (!std::ranges::all_of(paths, is_seen)) {
    if (const auto files = look_at(commit, paths); !files) return fail(files.error());
  }
  return std::ranges::all_of(batch.changes, [&](const Change& change) {
    const auto found = seen_.find(item_path(change.item.id));
    return !change.expected || (found != seen_.end() && change.expected == found->second);
  });
}

// Whoever changes an item has just read it, and nearly always nothing came between.
void NativeItems::remember(const std::string& commit,
                           const std::map<std::string, BranchFiles::Found>& files) {
  seen_at_ = commit;
  seen_.clear();
  trees_ = {};
  for (const auto& [path, found] : files) {
    if (path.empty()) {
      trees_.root = found.text;
    } else if (path.find('/') == std::string::npos) {
      trees_.folders.emplace(path, found.text);
    } else {
      seen_.emplace(path, found.object);
    }
  }
}

// By the index, because asking git costs as much again as the commit.
Result<bool> NativeItems::are_new(const Batch& batch, const std::string& commit) {
  const bool any = std::ranges::any_of(
      batch.changes, [](const Change& change) { return !change.expected.has_value(); });
  if (!any) return true;
  const Result<Catalog> catalog = cache_.at(commit, Workflow::standard());
  if (!catalog) return fail(catalog.error());
  for (const Change& change : batch.changes) {
    if (change.expected) continue;
    const Result<std::optional<std::uint32_t>> there = catalog->find(change.item.id.text);
    if (!there) return fail(there.error());
    if (there->has_value()) return false;
  }
  return true;
}

BranchFiles::NewCommit NativeItems::commit_of(const Batch& batch, const std::string& parent) {
  std::vector<FileChange> changes;
  for (const Change& change : batch.changes)
    changes.push_back({.path = item_path(change.item.id), .text = item_file(change.item)});
  return {.parent = parent,
          .changes = std::move(changes),
          .message = batch.message + "\n",
          .unix_ms = batch.unix_ms,
          .author = batch.author.text};
}

void NativeItems::note(const std::string& from, const std::string& to, const Batch& batch) {
  CatalogStep step{.from = from, .to = to, .change = {}};
  for (const Change& change : batch.changes) step.change.cards.push_back(change.item);
  cache_.note(step);
}

Result<std::optional<ItemSource::Prepared>> NativeItems::prepare(const Batch& batch) {
  const Result<ItemsTurn> turn = ItemsTurn::take(files_, git_, place_);
  if (!turn) return fail(turn.error());
  const Result<std::string> parent = tip();
  if (!parent) return fail(parent.error());
  const Result<bool> expected = is_as_expected(batch, *parent);
  if (!expected) return fail(expected.error());
  if (!*expected) return std::nullopt;
  Result<std::string> made = written(commit_of(batch, *parent));
  if (!made) return fail(made.error());
  return Prepared{.ref = kItemsRef, .from = *parent, .to = *std::move(made), .turn = turn->lock()};
}

// Nothing where git should do it: many items, the first ones, or where others of a group write too
// and git knows the modes.
Result<std::optional<std::string>> NativeItems::written_here(const BranchFiles::NewCommit& commit) {
  if (commit.parent.empty() || commit.changes.size() > kFew || place_.file_mode != kPrivateFile)
    return std::nullopt;
  if (commit.parent != seen_at_ || trees_.root.empty()) {
    std::vector<std::string> paths;
    for (const FileChange& change : commit.changes) paths.push_back(change.path);
    if (const auto files = look_at(commit.parent, paths); !files) return fail(files.error());
  }
  return write_loose_commit(files_, place_.common_dir, commit, trees_);
}

Result<std::string> NativeItems::written(const BranchFiles::NewCommit& commit) {
  Result<std::optional<std::string>> made = written_here(commit);
  if (!made) return fail(made.error());
  return made->has_value() ? **std::move(made) : branch_.write(commit);
}

// Nothing when the ref is not where it was any more.
Result<std::optional<std::string>> NativeItems::put(const ItemsTurn& turn,
                                                    const BranchFiles::NewCommit& commit) {
  Result<std::optional<std::string>> made = written_here(commit);
  if (!made) return made;
  if (!made->has_value()) return turn.put(commit);
  const Result<LocalRefs::End> end = turn.move(commit.parent, **made, "dibs: items");
  if (!end) return fail(end.error());
  using Kind = LocalRefs::End::Kind;
  if (end->kind == Kind::unknown)
    return fail(ErrorKind::unreachable, fmt::format("{} may have moved: {}", kItemsRef, end->why),
                "see whether it did: dibs item list");
  return end->kind == Kind::moved ? made : std::nullopt;
}

void NativeItems::moved(const Prepared& prepared, const Batch& batch) {
  note(prepared.from, prepared.to, batch);
}

Result<bool> NativeItems::write(const Batch& batch) {
  const Result<ItemsTurn> turn = ItemsTurn::take(files_, git_, place_);
  if (!turn) return fail(turn.error());
  const Result<std::string> parent = tip();
  if (!parent) return fail(parent.error());
  Result<bool> expected = is_as_expected(batch, *parent);
  if (!expected || !*expected) return expected;
  const Result<std::optional<std::string>> made = put(*turn, commit_of(batch, *parent));
  if (!made) return fail(made.error());
  if (!made->has_value()) return false;
  note(*parent, **made, batch);
  return true;
}

Result<std::vector<ItemRevision>> NativeItems::history(const ItemId& id, std::size_t most) {
  std::vector<ItemRevision> revisions;
  const Result<std::string> commit = tip();
  if (!commit) return fail(commit.error());
  if (commit->empty()) return revisions;
  const Result<std::string> out = git_.output_of(
      {.git_dir = place_.common_dir,
       .arguments = {"log", "-z", "--format=%H%n%at%n%an%n%B", fmt::format("--max-count={}", most),
                     *commit, "--", item_path(id)},
       .input = {}},
      ErrorKind::internal);
  if (!out) return fail(out.error());
  for (const std::string_view entry : split(*out, '\0')) {
    std::vector<std::string_view> fields;
    std::string_view rest = entry;
    for (std::size_t i = 1; i < kMessageFields; ++i) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      fields.push_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const auto secs = parse_unsigned(fields[1]);
    if (!secs) continue;
    revisions.push_back({.commit = std::string(fields[0]),
                         .unix_ms = static_cast<std::int64_t>(*secs) * 1000,
                         .by = std::string(fields[2]),
                         .message = std::string(trim(rest))});
  }
  return revisions;
}

}  // namespace dibs
