#include "testing/fake_disk.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.h"

namespace dibs {

namespace {

tl::unexpected<Error> broken(std::string_view why) {
  return fail(ErrorKind::internal, "fake disk: " + std::string(why));
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_in(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

struct FakeDisk::Node {
  std::uint64_t number = 0;
  FileKind kind = FileKind::regular;
  unsigned mode = 0;
  // Files: what a reader sees, what the disk has, and which sectors differ.
  std::string cached;
  std::string durable;
  std::set<std::size_t> dirty;
  bool size_dirty = false;
  // Directories.
  std::map<std::string, NodePtr, std::less<>> cached_entries;
  std::map<std::string, NodePtr, std::less<>> durable_entries;
};

class FakeDisk::OpenFile final : public File {
 public:
  OpenFile(FakeDisk& disk, NodePtr node, bool writable)
      : disk_(disk), node_(std::move(node)), epoch_(disk.epoch_), writable_(writable) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> buffer) override {
    const std::lock_guard lock(disk_.mutex_);
    if (!usable()) return broken("no power");
    if (offset >= node_->cached.size()) return std::size_t{0};
    return node_->cached.copy(buffer.data(), buffer.size(), offset);
  }
  Done append(std::string_view bytes) override {
    const std::lock_guard lock(disk_.mutex_);
    if (!usable() || !writable_) return broken("not writable");
    return disk_.append_to(*node_, bytes);
  }
  Done truncate(std::uint64_t size) override {
    const std::lock_guard lock(disk_.mutex_);
    if (!usable() || !writable_) return broken("not writable");
    return disk_.truncate_to(*node_, size);
  }
  Done sync() override {
    const std::lock_guard lock(disk_.mutex_);
    if (!usable()) return broken("no power");
    return disk_.sync_node(*node_);
  }
  Result<std::uint64_t> size() override {
    const std::lock_guard lock(disk_.mutex_);
    if (!usable()) return broken("no power");
    return std::uint64_t{node_->cached.size()};
  }

 private:
  [[nodiscard]] bool usable() const { return !disk_.dark_ && epoch_ == disk_.epoch_; }

  FakeDisk& disk_;
  NodePtr node_;
  std::uint64_t epoch_;
  bool writable_;
};

class FakeDisk::HeldLock final : public FileLock {
 public:
  HeldLock(FakeDisk& disk, std::string path)
      : disk_(disk), path_(std::move(path)), epoch_(disk.epoch_) {}
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;
  ~HeldLock() override {
    const std::lock_guard lock(disk_.mutex_);
    if (epoch_ == disk_.epoch_) disk_.locked_.erase(path_);
    disk_.changed_.notify_all();
  }

 private:
  FakeDisk& disk_;
  std::string path_;
  std::uint64_t epoch_;
};

class FakeDisk::Watch final : public DirectoryWatch {
 public:
  explicit Watch(FakeDisk& disk) : disk_(disk), seen_(disk.visible_changes_) {}

  // Waits in real time for another thread; when none came, the fake clock has moved on instead.
  void wait(std::int64_t most_ms) override {
    std::unique_lock lock(disk_.mutex_);
    const bool changed = disk_.changed_.wait_for(lock, std::chrono::milliseconds(most_ms), [&] {
      return disk_.visible_changes_ != seen_ || disk_.dark_;
    });
    seen_ = disk_.visible_changes_;
    lock.unlock();
    if (!changed) disk_.clock_.advance_ms(most_ms);
  }

 private:
  FakeDisk& disk_;
  std::uint64_t seen_;
};

FakeDisk::FakeDisk(FakeClock& clock, std::uint64_t seed) : clock_(clock), random_(seed) {
  root_ = new_node(FileKind::directory, 0755);
}

FakeDisk::~FakeDisk() = default;

FakeDisk::NodePtr FakeDisk::new_node(FileKind kind, unsigned mode) {
  auto node = std::make_shared<Node>();
  node->number = ++nodes_;
  node->kind = kind;
  node->mode = mode;
  return node;
}

void FakeDisk::announce() {
  ++visible_changes_;
  changed_.notify_all();
}

FakeDisk::Fault FakeDisk::next_fault() {
  ++changes_;
  if (changes_ == power_out_at_) {
    dark_ = true;
    changed_.notify_all();
    return Fault::power;
  }
  return changes_ >= fail_first_ && changes_ <= fail_last_ ? Fault::fails : Fault::none;
}

// Every call begins with this, and a simulation makes millions of them: nothing is copied.
FakeDisk::NodePtr FakeDisk::find(std::string_view path) {
  const NodePtr* node = &root_;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
    if (part.empty()) continue;
    const auto found = (*node)->cached_entries.find(part);
    if (found == (*node)->cached_entries.end()) return nullptr;
    node = &found->second;
  }
  return *node;
}

Result<FakeDisk::Entry> FakeDisk::place_of(const std::string& path) {
  NodePtr directory = find(directory_of(path));
  if (!directory || directory->kind != FileKind::directory)
    return broken("no directory for " + path);
  return Entry{.directory = std::move(directory), .name = name_in(path), .target = find(path)};
}

void FakeDisk::enter(Change change) {
  for (const Entry& entry : change) {
    if (entry.target) {
      entry.directory->cached_entries[entry.name] = entry.target;
    } else {
      entry.directory->cached_entries.erase(entry.name);
    }
  }
  unsynced_.push_back(std::move(change));
  announce();
}

Result<FakeDisk::NodePtr> FakeDisk::create(const std::string& path, unsigned mode) {
  Result<Entry> place = place_of(path);
  if (!place) return fail(place.error());
  const Fault fault = next_fault();
  if (fault == Fault::fails) return broken("creating fails");
  place->target = new_node(FileKind::regular, mode);
  NodePtr node = place->target;
  enter({*std::move(place)});
  if (fault == Fault::power) return broken("no power");
  return node;
}

Result<std::unique_ptr<File>> FakeDisk::open(const std::string& path, Open how, unsigned mode) {
  const std::lock_guard lock(mutex_);
  if (dark_) return broken("no power");
  NodePtr node = find(path);
  if (!node && how != Open::create_append) return std::unique_ptr<File>();
  if (!node) {
    Result<NodePtr> created = create(path, mode);
    if (!created) return fail(created.error());
    node = *std::move(created);
  }
  if (node->kind != FileKind::regular) return broken(path + " is no file");
  return std::make_unique<OpenFile>(*this, std::move(node), how != Open::read);
}

Result<std::unique_ptr<FileLock>> FakeDisk::lock(const std::string& path, Patience patience,
                                                 unsigned mode) {
  std::unique_lock lock(mutex_);
  if (dark_) return broken("no power");
  if (!find(path)) {
    if (Result<NodePtr> created = create(path, mode); !created) return fail(created.error());
  }
  if (patience == Patience::at_once && locked_.contains(path)) return std::unique_ptr<FileLock>();
  changed_.wait(lock, [&] { return !locked_.contains(path) || dark_; });
  if (dark_) return broken("no power");
  locked_.insert(path);
  return std::make_unique<HeldLock>(*this, path);
}

Result<std::optional<std::string>> FakeDisk::read_file(const std::string& path, std::size_t most) {
  const std::lock_guard lock(mutex_);
  if (dark_) return broken("no power");
  const NodePtr node = find(path);
  if (!node) return std::nullopt;
  if (node->kind != FileKind::regular || node->cached.size() > most)
    return broken(path + " cannot be read");
  return node->cached;
}

Done FakeDisk::replace_file(const std::string& path, std::string_view contents, unsigned mode) {
  const std::lock_guard lock(mutex_);
  if (dark_) return broken("no power");
  const std::string temp = path + "." + std::to_string(++temps_) + ".tmp";
  const Result<NodePtr> node = create(temp, mode);
  if (!node) return fail(node.error());
  Done done = append_to(**node, contents);
  if (done && !dark_) done = sync_node(**node);
  if (done && !dark_) done = rename_locked(temp, path);
  if (!done && !dark_) {
    if (Result<Entry> place = place_of(temp); place && place->target) {
      place->target = nullptr;
      enter({*std::move(place)});
    }
  }
  if (!done) return done;
  return sync_directory_locked(directory_of(path));
}

Done FakeDisk::rename_locked(const std::string& from, const std::string& to) {
  Result<Entry> source = place_of(from);
  Result<Entry> target = place_of(to);
  if (!source || !target || !source->target) return broken("nothing to rename");
  const Fault fault = next_fault();
  if (fault == Fault::fails) return broken("renaming fails");
  target->target = std::exchange(source->target, nullptr);
  enter({*std::move(source), *std::move(target)});
  if (fault == Fault::power) return broken("no power");
  return {};
}

Result<bool> FakeDisk::rename_new(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  if (dark_) return broken("no power");
  if (find(to)) return false;
  if (Done renamed = rename_locked(from, to); !renamed) return fail(renamed.error());
  return true;
}

Done FakeDisk::rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  if (dark_) return broken("no power");
  return rename_locked(from, to);
}

Done FakeDisk::remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (dark_) return broken("no power");
  Result<Entry> place = place_of(path);
  if (!place || !place->target) return {};
  const Fault fault = next_fault();
  if (fault == Fault::fails) return broken("removing fails");
  place->target = nullptr;
  enter({*std::move(place)});
  if (fault == Fault::power) return broken("no power");
  return {};
}

Done FakeDisk::sync_directory_locked(const std::string& path) {
  const NodePtr directory = find(path);
  if (!directory || directory->kind != FileKind::directory) return broken(path + " is not there");
  const Fault fault = next_fault();
  if (fault == Fault::power) return broken("no power");
  if (fault == Fault::fails) return broken("flushing the directory fails");
  std::vector<Change> left;
  for (Change& change : unsynced_) {
    const bool concerned = std::ranges::any_of(
        change, [&](const Entry& entry) { return entry.directory == directory; });
    if (!concerned) {
      left.push_back(std::move(change));
      continue;
    }
    for (const Entry& entry : change) entry.directory->durable_entries[entry.name] = entry.target;
  }
  unsynced_ = std::move(left);
  return {};
}

Done FakeDisk::sync_directory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (dark_) return broken("no power");
  return sync_directory_locked(path);
}

Done FakeDisk::make_directory(const std::string& path, unsigned mode) {
  const std::lock_guard lock(mutex_);
  if (dark_) return broken("no power");
  Result<Entry> place = place_of(path);
  if (!place) return fail(place.error());
  if (place->target)
    return place->target->kind == FileKind::directory ? Done{} : broken("not a directory");
  const Fault fault = next_fault();
  if (fault == Fault::fails) return broken("making a directory fails");
  place->target = new_node(FileKind::directory, mode);
  enter({*std::move(place)});
  if (fault == Fault::power) return broken("no power");
  return {};
}

Done FakeDisk::change_mode(const std::string& path, unsigned mode) {
  const std::lock_guard lock(mutex_);
  const NodePtr node = find(path);
  if (dark_ || !node) return broken("cannot set the mode of " + path);
  node->mode = mode;
  return {};
}

Result<std::vector<std::string>> FakeDisk::list(const std::string& directory) {
  const std::lock_guard lock(mutex_);
  const NodePtr node = find(directory);
  if (dark_ || !node) return broken("cannot list " + directory);
  std::vector<std::string> names;
  for (const auto& [name, target] : node->cached_entries) names.push_back(name);
  return names;
}

Result<std::optional<FileStatus>> FakeDisk::status(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (dark_) return broken("no power");
  const NodePtr node = find(path);
  if (!node) return std::nullopt;
  return FileStatus{
      .kind = node->kind, .mode = node->mode, .size = node->cached.size(), .inode = node->number};
}

Result<std::string> FakeDisk::real_path(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (dark_ || !find(path)) return broken("cannot find " + path);
  return path;
}

std::optional<std::string> FakeDisk::untrusted_kind(const std::string&) { return std::nullopt; }

std::unique_ptr<DirectoryWatch> FakeDisk::watch(const std::string&) {
  const std::lock_guard lock(mutex_);
  return std::make_unique<Watch>(*this);
}

Done FakeDisk::append_to(Node& node, std::string_view bytes) {
  const Fault fault = next_fault();
  std::string_view written = bytes;
  const std::uint64_t used = capacity_ ? used_below(*root_) : 0;
  const bool full = capacity_ && used + bytes.size() > *capacity_;
  if (full) written = bytes.substr(0, *capacity_ > used ? *capacity_ - used : 0);
  if (fault == Fault::fails) written = bytes.substr(0, random_.below(bytes.size() + 1));
  const std::size_t begin = node.cached.size();
  node.cached += written;
  for (std::size_t sector = begin / kSectorBytes; sector * kSectorBytes < node.cached.size();
       ++sector) {
    node.dirty.insert(sector);
  }
  if (!written.empty()) node.size_dirty = true;
  announce();
  if (fault == Fault::power) return broken("no power");
  if (fault == Fault::fails) return broken("writing fails");
  if (full) return broken("no space left");
  return {};
}

Done FakeDisk::truncate_to(Node& node, std::uint64_t size) {
  const Fault fault = next_fault();
  if (fault == Fault::fails) return broken("shortening fails");
  node.cached.resize(size);
  std::erase_if(node.dirty, [&](std::size_t sector) { return sector * kSectorBytes >= size; });
  node.size_dirty = true;
  announce();
  if (fault == Fault::power) return broken("no power");
  return {};
}

Done FakeDisk::sync_node(Node& node) {
  const Fault fault = next_fault();
  if (fault == Fault::power) return broken("no power");
  if (fault == Fault::fails) {
    // As Linux does it: some may have been written, and the rest counts as clean from now on.
    let_some_survive(node);
    return broken("flushing fails");
  }
  node.durable.resize(node.cached.size());
  for (const std::size_t sector : node.dirty) {
    node.durable.replace(sector * kSectorBytes, kSectorBytes,
                         node.cached.substr(sector * kSectorBytes, kSectorBytes));
  }
  node.dirty.clear();
  node.size_dirty = false;
  return {};
}

// Of what was not synced, any sectors may be on the disk, and the file may have any length between.
void FakeDisk::let_some_survive(Node& node) {
  std::size_t size = node.durable.size();
  if (node.size_dirty && random_.chance(70)) size = node.cached.size();
  if (size > node.durable.size() && random_.chance(50))
    size = node.durable.size() + random_.below(size - node.durable.size() + 1);
  node.durable.resize(size);
  const bool all = random_.chance(30);
  for (const std::size_t sector : node.dirty) {
    const std::size_t begin = sector * kSectorBytes;
    if (begin >= std::min(size, node.cached.size()) || !(all || random_.chance(50))) continue;
    const std::size_t end = std::min({begin + kSectorBytes, size, node.cached.size()});
    node.durable.replace(begin, end - begin, node.cached.substr(begin, end - begin));
  }
  node.dirty.clear();
  node.size_dirty = false;
}

void FakeDisk::settle_after_crash(const NodePtr& node, std::set<Node*>& seen) {
  if (!seen.insert(node.get()).second) return;
  if (!node->dirty.empty() || node->size_dirty) let_some_survive(*node);
  node->cached = node->durable;
  std::erase_if(node->durable_entries, [](const auto& entry) { return !entry.second; });
  node->cached_entries = node->durable_entries;
  for (const auto& [name, target] : node->cached_entries) settle_after_crash(target, seen);
}

std::uint64_t FakeDisk::used_below(const Node& node) const {
  std::uint64_t used = node.cached.size();
  for (const auto& [name, target] : node.cached_entries) used += used_below(*target);
  return used;
}

std::uint64_t FakeDisk::changes() {
  const std::lock_guard lock(mutex_);
  return changes_;
}

void FakeDisk::fail_at(std::uint64_t nth) { fail_from(nth, 1); }

void FakeDisk::fail_from(std::uint64_t nth, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  fail_first_ = changes_ + nth;
  fail_last_ = fail_first_ + count - 1;
}

void FakeDisk::lose_power_at(std::uint64_t nth) {
  const std::lock_guard lock(mutex_);
  power_out_at_ = changes_ + nth;
}

bool FakeDisk::power_is_out() {
  const std::lock_guard lock(mutex_);
  return dark_;
}

void FakeDisk::crash() {
  const std::lock_guard lock(mutex_);
  for (const Change& change : unsynced_) {
    if (!random_.chance(50)) continue;
    for (const Entry& entry : change) entry.directory->durable_entries[entry.name] = entry.target;
  }
  unsynced_.clear();
  std::set<Node*> seen;
  settle_after_crash(root_, seen);
  locked_.clear();
  fail_first_ = fail_last_ = power_out_at_ = 0;
  dark_ = false;
  ++epoch_;
  announce();
}

void FakeDisk::set_capacity(std::optional<std::uint64_t> bytes) {
  const std::lock_guard lock(mutex_);
  capacity_ = bytes;
}

std::uint64_t FakeDisk::used_bytes() {
  const std::lock_guard lock(mutex_);
  return used_below(*root_);
}

void FakeDisk::make_durable_directory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  NodePtr node = root_;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty()) continue;
    NodePtr& below = node->cached_entries[std::string(part)];
    if (!below) below = new_node(FileKind::directory, 0755);
    node->durable_entries[std::string(part)] = below;
    node = below;
  }
}

void FakeDisk::put(const std::string& path, std::string contents) {
  const std::lock_guard lock(mutex_);
  NodePtr node = find(path);
  if (!node) {
    Entry place = *place_of(path);
    node = new_node(FileKind::regular, kPrivateFile);
    place.directory->cached_entries[place.name] = node;
    place.directory->durable_entries[place.name] = node;
  }
  node->cached = node->durable = std::move(contents);
  node->dirty.clear();
  node->size_dirty = false;
  announce();
}

std::optional<std::string> FakeDisk::contents(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const NodePtr node = find(path);
  return node ? std::optional(node->cached) : std::nullopt;
}

}  // namespace dibs
