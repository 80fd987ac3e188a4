#include "store/remote_health.h"

#include <gtest/gtest.h>

namespace dibs {

namespace {

using Path = std::optional<std::string>;

TEST(RemoteHealth, KnowsAPathFromAServer) {
  EXPECT_EQ(path_of_address("/srv/x.git", "/here"), Path("/srv/x.git"));
  EXPECT_EQ(path_of_address("../x.git", "/here"), Path("/here/../x.git"));
  EXPECT_EQ(path_of_address("x.git", "/here"), Path("/here/x.git"));
  EXPECT_EQ(path_of_address("./a:b", "/here"), Path("/here/./a:b"));
  EXPECT_EQ(path_of_address("file:///srv/x.git", "/here"), Path("/srv/x.git"));
  EXPECT_EQ(path_of_address("file://host/srv/x.git", "/here"), Path());
  EXPECT_EQ(path_of_address("https://example.com/x.git", "/here"), Path());
  EXPECT_EQ(path_of_address("git@example.com:x.git", "/here"), Path());
  EXPECT_EQ(path_of_address("example.com:x/y.git", "/here"), Path());
  EXPECT_EQ(path_of_address("", "/here"), Path());
}

TEST(RemoteHealth, KnowsWhichValuesFlushAPush) {
  EXPECT_TRUE(flushes_pushes("committed"));
  EXPECT_TRUE(flushes_pushes("all"));
  EXPECT_TRUE(flushes_pushes("added,-index"));
  EXPECT_TRUE(flushes_pushes("loose-object,reference"));
  EXPECT_FALSE(flushes_pushes(""));  // git's own choice
  EXPECT_FALSE(flushes_pushes("none"));
  EXPECT_FALSE(flushes_pushes("reference"));
  EXPECT_FALSE(flushes_pushes("committed,-loose-object"));
}

}  // namespace

}  // namespace dibs
