// A disk in memory that does what a real one may do at its worst: it loses whatever was not synced,
// file contents and directory entries alike, in part or in whole; it fails any call a test names; a
// failed sync forgets what it was asked to write; and it can be full.
//
//   FakeDisk disk(clock, seed);
//   disk.make_durable_directory("/repo/.git");
//   disk.lose_power_at(7);      // the seventh change from now finds the power gone
//   … use it until calls fail …
//   disk.crash();               // power is back; unsynced data may or may not have made it
//
// All calls are safe from several threads; crash() is not, and ends every open file and lock.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sys/file_system.h"
#include "testing/fake_clock.h"
#include "testing/seeded_random.h"

namespace dibs {

class FakeDisk final : public FileSystem {
 public:
  // What reaches the disk, or does not, does so in units of this size.
  static constexpr std::size_t kSectorBytes = 512;

  explicit FakeDisk(FakeClock& clock, std::uint64_t seed = 1);
  ~FakeDisk() override;
  FakeDisk(const FakeDisk&) = delete;
  FakeDisk& operator=(const FakeDisk&) = delete;

  [[nodiscard]] Result<std::unique_ptr<File>> open(const std::string& path, Open how,
                                                   unsigned mode) override;
  [[nodiscard]] Result<std::unique_ptr<FileLock>> lock(const std::string& path, Patience patience,
                                                       unsigned mode) override;
  [[nodiscard]] Result<std::optional<std::string>> read_file(const std::string& path,
                                                             std::size_t most) override;
  [[nodiscard]] Done replace_file(const std::string& path, std::string_view contents,
                                  unsigned mode) override;
  [[nodiscard]] Done rename(const std::string& from, const std::string& to) override;
  [[nodiscard]] Result<bool> rename_new(const std::string& from, const std::string& to) override;
  [[nodiscard]] Done remove(const std::string& path) override;
  [[nodiscard]] Done sync_directory(const std::string& path) override;
  [[nodiscard]] Done make_directory(const std::string& path, unsigned mode) override;
  [[nodiscard]] Done change_mode(const std::string& path, unsigned mode) override;
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& directory) override;
  [[nodiscard]] Result<std::optional<FileStatus>> status(const std::string& path) override;
  [[nodiscard]] Result<std::string> real_path(const std::string& path) override;
  [[nodiscard]] std::optional<std::string> untrusted_kind(const std::string& path) override;
  [[nodiscard]] std::unique_ptr<DirectoryWatch> watch(const std::string& directory) override;

  // A change is one create, append, truncate, sync, rename, remove, mkdir or directory sync.
  [[nodiscard]] std::uint64_t changes();
  void fail_at(std::uint64_t nth);  // the nth change from now on fails; 1 is the next
  void fail_from(std::uint64_t nth, std::uint64_t count);  // and the ones after it
  void lose_power_at(std::uint64_t nth);
  [[nodiscard]] bool power_is_out();
  void crash();

  // At most this many bytes in all files together; nothing: no limit.
  void set_capacity(std::optional<std::uint64_t> bytes);
  [[nodiscard]] std::uint64_t used_bytes();

  // From outside, and durable at once.
  void make_durable_directory(const std::string& path);
  void put(const std::string& path, std::string contents);
  [[nodiscard]] std::optional<std::string> contents(const std::string& path);

 private:
  struct Node;
  class OpenFile;
  class HeldLock;
  class Watch;
  using NodePtr = std::shared_ptr<Node>;

  /// One name in one directory, set to a node or taken away.
  struct Entry {
    NodePtr directory;
    std::string name;
    NodePtr target;
  };
  using Change = std::vector<Entry>;  // entries that change together

  enum class Fault { none, fails, power };

  [[nodiscard]] Fault next_fault();
  [[nodiscard]] NodePtr find(std::string_view path);
  [[nodiscard]] Result<Entry> place_of(const std::string& path);
  [[nodiscard]] NodePtr new_node(FileKind kind, unsigned mode);
  void enter(Change change);
  [[nodiscard]] Result<NodePtr> create(const std::string& path, unsigned mode);
  [[nodiscard]] Done rename_locked(const std::string& from, const std::string& to);
  [[nodiscard]] Done sync_directory_locked(const std::string& path);
  [[nodiscard]] Done append_to(Node& node, std::string_view bytes);
  [[nodiscard]] Done truncate_to(Node& node, std::uint64_t size);
  [[nodiscard]] Done sync_node(Node& node);
  void let_some_survive(Node& node);
  void settle_after_crash(const NodePtr& node, std::set<Node*>& seen);
  [[nodiscard]] std::uint64_t used_below(const Node& node) const;
  void announce();

  FakeClock& clock_;
  SeededRandom random_;
  std::mutex mutex_;
  std::condition_variable changed_;
  NodePtr root_;
  std::vector<Change> unsynced_;
  std::set<std::string> locked_;
  std::uint64_t nodes_ = 0;
  std::uint64_t temps_ = 0;
  std::uint64_t epoch_ = 0;  // grows at every crash; what was opened before is of no use
  std::uint64_t changes_ = 0;
  std::uint64_t visible_changes_ = 0;
  std::uint64_t fail_first_ = 0;
  std::uint64_t fail_last_ = 0;
  std::uint64_t power_out_at_ = 0;
  bool dark_ = false;
  std::optional<std::uint64_t> capacity_;
};

}  // namespace dibs
