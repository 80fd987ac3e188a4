// Every store, held to what every store promises.
#include "testing/store_contract.h"

#include <mutex>

#include "store/local.h"
#include "store/memory.h"
#include "sys/clock.h"
#include "sys/posix_file_system.h"
#include "testing/fake_clock.h"
#include "testing/fake_disk.h"
#include "testing/git_site.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

/// Another handle on one memory store.
class SharedStore final : public Store {
 public:
  explicit SharedStore(Store& store) : store_(store) {}
  Result<View> read(const Selection& selection) override { return store_.read(selection); }
  Result<Outcome> commit(const Transaction& transaction) override {
    return store_.commit(transaction);
  }
  Result<Cursor> wait(Cursor since, std::int64_t most_ms) override {
    return store_.wait(since, most_ms);
  }
  Result<History> history(const HistoryQuery& query) override { return store_.history(query); }
  Promises promises() const override { return store_.promises(); }

 private:
  Store& store_;
};

class MemorySite final : public StoreSite {
 public:
  std::unique_ptr<Store> open() override { return std::make_unique<SharedStore>(store_); }

 private:
  FakeClock clock_;
  MemoryStore store_{clock_};
};

// Small enough that every few commits make an index and close a segment.
constexpr LocalLimits kTiny{.segment_bytes = 1500, .tail_bytes = 400};

class FakeDiskSite final : public StoreSite {
 public:
  explicit FakeDiskSite(LocalLimits limits) : limits_(limits) {
    disk_.make_durable_directory("/repo/.git");
    EXPECT_TRUE(LocalStore::create(disk_, "/repo/.git/dibs", kPrivateDirectory));
  }
  std::unique_ptr<Store> open() override {
    return std::make_unique<LocalStore>(
        disk_, clock_, random_, "/repo/.git/dibs", [](const std::string&) {}, limits_);
  }

 private:
  LocalLimits limits_;
  FakeClock clock_;
  SeededRandom random_{1};
  FakeDisk disk_{clock_};
};

class RealDiskSite final : public StoreSite {
 public:
  explicit RealDiskSite(LocalLimits limits) : limits_(limits) {
    EXPECT_TRUE(LocalStore::create(files_, directory_ / "dibs", kPrivateDirectory));
    (void)clock_.now();  // it learns its boot when first asked, and is shared by threads here
  }
  std::unique_ptr<Store> open() override {
    return std::make_unique<LocalStore>(
        files_, clock_, random_, directory_ / "dibs", [](const std::string&) {}, limits_);
  }

 private:
  LocalLimits limits_;
  TempDirectory directory_;
  PosixFileSystem files_;
  SystemClock clock_;
  SystemRandom random_;
};

/// Processes of one clone, or a new clone each time.
class GitRemoteSite final : public StoreSite {
 public:
  GitRemoteSite(const std::string& layout, bool many_clones)
      : many_clones_(many_clones), site_("sha1", layout) {}
  std::unique_ptr<Store> open() override {
    const std::lock_guard lock(mutex_);
    if (many_clones_) ++clones_;
    return site_.open("clone-" + std::to_string(clones_));
  }

 private:
  bool many_clones_;
  GitSite site_;
  std::mutex mutex_;
  int clones_ = 0;
};

StoreKind memory() {
  return {.name = "Memory", .make = [] { return std::make_unique<MemorySite>(); }};
}

StoreKind fake_disk(std::string name, LocalLimits limits) {
  return {.name = std::move(name),
          .make = [limits] { return std::make_unique<FakeDiskSite>(limits); }};
}

StoreKind real_disk(std::string name, LocalLimits limits) {
  return {.name = std::move(name),
          .make = [limits] { return std::make_unique<RealDiskSite>(limits); }};
}

StoreKind git_remote(std::string name, const std::string& layout, bool many_clones) {
  return {.name = std::move(name),
          .make = [layout,
                   many_clones] { return std::make_unique<GitRemoteSite>(layout, many_clones); },
          .sequences = 3};
}

INSTANTIATE_TEST_SUITE_P(
    Stores, StoreContract,
    testing::Values(memory(), fake_disk("LocalOnFakeDisk", LocalLimits{}),
                    fake_disk("LocalOnFakeDiskRotating", kTiny),
                    real_disk("LocalOnDisk", LocalLimits{}),
                    real_disk("LocalOnDiskRotating", kTiny),
                    git_remote("GitRefsOfOneClone", "refs", false),
                    git_remote("GitRefsOfManyClones", "refs", true),
                    git_remote("GitBranchesOfOneClone", "branches", false),
                    git_remote("GitBranchesOfManyClones", "branches", true),
                    git_remote("GitLockBranchOfOneClone", "lock-branch", false),
                    git_remote("GitLockBranchOfManyClones", "lock-branch", true)),
    store_kind_name);

}  // namespace
}  // namespace dibs
