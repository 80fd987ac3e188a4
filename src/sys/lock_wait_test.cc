// Waiting for a file lock. Two descriptors of one file are two holders, also in one process.
#include "sys/lock_wait.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/text.h"
#include "sys/descriptor.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

class LockWait : public testing::Test {
 protected:
  Descriptor open() {
    return Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  }

  TempDirectory temp_;
  std::string path_ = temp_ / "lock";
};

TEST_F(LockWait, EndsWhenOneProcessKeepsTheLockAndNamesIt) {
  const Descriptor theirs = open();
  ASSERT_EQ(::flock(theirs.get(), LOCK_EX), 0);
  const Descriptor ours = open();
  const Done taken = wait_for_lock(ours.get(), path_, 100);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().kind, ErrorKind::unreachable);
  EXPECT_TRUE(contains(taken.error().message, path_)) << taken.error().message;
  EXPECT_TRUE(contains(taken.error().hint, "kill -CONT " + std::to_string(::getpid())))
      << taken.error().hint;
}

TEST_F(LockWait, TakesTheLockWhenItIsGivenBack) {
  Descriptor theirs = open();
  ASSERT_EQ(::flock(theirs.get(), LOCK_EX), 0);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    theirs = Descriptor();
  });
  const Descriptor ours = open();
  EXPECT_TRUE(wait_for_lock(ours.get(), path_, 60'000));
  other.join();
  const Descriptor third = open();
  EXPECT_NE(::flock(third.get(), LOCK_EX | LOCK_NB), 0) << "it is held";
}

}  // namespace
}  // namespace dibs
