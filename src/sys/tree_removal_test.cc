#include "sys/tree_removal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "sys/posix_file_system.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

TEST(RemoveTree, RemovesAllThatIsInsideAndFollowsNoLink) {
  const TempDirectory temp;
  make_directories(temp / "tree/a/b");
  make_directories(temp / "outside");
  write_bytes(temp / "outside/kept", "kept");
  write_bytes(temp / "tree/a/b/file", "gone");
  ASSERT_EQ(::symlink((temp / "outside").c_str(), (temp / "tree/a/link").c_str()), 0);
  ASSERT_EQ(::symlink("nowhere", (temp / "tree/dangling").c_str()), 0);
  EXPECT_TRUE(remove_tree(temp / "tree"));
  PosixFileSystem files;
  EXPECT_FALSE(is_there(files, temp / "tree"));
  EXPECT_EQ(read_bytes(temp / "outside/kept"), "kept");
}

TEST(RemoveTree, IsFineWithNothing) {
  const TempDirectory temp;
  EXPECT_TRUE(remove_tree(temp / "nothing"));
}

TEST(RemoveTree, SaysWhatItCannotRemove) {
  const Done removed = remove_tree("/proc/self");
  ASSERT_FALSE(removed);
  EXPECT_NE(removed.error().message.find("/proc/self"), std::string::npos);
}

}  // namespace
}  // namespace dibs
