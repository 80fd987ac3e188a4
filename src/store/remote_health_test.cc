#include "store/remote_health.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "sys/posix_file_system.h"
#include "testing/git_site.h"

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
  EXPECT_EQ(path_of_address("file:///srv/%41.git", "/here"), Path());
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
  EXPECT_TRUE(flushes_pushes("objects,reference"));
  for (const char* less : {"all,-reference", "all,-committed", "all,-objects"})
    EXPECT_FALSE(flushes_pushes(less)) << less;
}

/// A remote on this machine whose settings a test changes.
class RemoteOnThisMachine : public testing::Test {
 protected:
  RemoteOnThisMachine() { set("core.fsync", "committed"); }

  void set(const std::string& name, const std::string& value) {
    ASSERT_TRUE(run_git(site_.remote(), {"config", name, value}));
  }
  void moves_to(const std::string& address) {
    ASSERT_TRUE(run_git(site_.clone("one"), {"remote", "set-url", "origin", address}));
  }
  std::vector<Finding> found(std::size_t lock_refs = 0) {
    return remote_health(
        files_, site_.git(),
        {.common_dir = site_.clone("one") + "/.git", .name = "origin", .lock_refs = lock_refs});
  }
  bool warns_of(const std::string& words) {
    return std::ranges::any_of(found(), [&](const Finding& finding) {
      return finding.level == Finding::Level::warning && contains(finding.what, words);
    });
  }

  GitSite site_;
  PosixFileSystem files_;
};

TEST_F(RemoteOnThisMachine, ThatIsAsItShouldBeIsNoFinding) { EXPECT_TRUE(found().empty()); }

TEST_F(RemoteOnThisMachine, ThatDeniesThingsIsOneHoweverThatIsWritten) {
  for (const char* yes : {"true", "YES", "On", "1"}) {
    set("receive.denyDeletes", yes);
    EXPECT_TRUE(warns_of("denies deletes")) << yes;
  }
  set("receive.denyDeletes", "[false]");
  EXPECT_FALSE(warns_of("denies deletes"));
  write_bytes(site_.remote() + "/config",
              read_bytes(site_.remote() + "/config") + "[receive]\n\tdenyNonFastForwards\n");
  EXPECT_TRUE(warns_of("denies non-fast-forwards"));
}

TEST_F(RemoteOnThisMachine, ThatDoesNotFlushIsOne) {
  set("core.fsyncMethod", "writeout-only");
  EXPECT_TRUE(warns_of("writeout-only"));
  set("core.fsync", "none");
  EXPECT_TRUE(warns_of("core.fsync is none"));
  ASSERT_TRUE(run_git(site_.remote(), {"config", "--unset", "core.fsync"}));
  EXPECT_TRUE(warns_of("core.fsync is not set"));
}

TEST_F(RemoteOnThisMachine, ThatGivesUpEarlyIsOne) {
  set("core.filesRefLockTimeout", "100");
  EXPECT_FALSE(warns_of("gives up"));
  set("core.filesRefLockTimeout", "99");
  EXPECT_TRUE(warns_of("gives up"));
}

TEST_F(RemoteOnThisMachine, WithVeryManyRefsIsOne) {
  EXPECT_EQ(found(1'000).size(), 1U);
  const Result<std::string> commit = site_.refs("one").write_commit({}, "x", 0);
  ASSERT_TRUE(commit);
  std::string packed = "# pack-refs with: peeled fully-peeled sorted \n";
  for (int i = 10'000; i < 20'000; ++i)
    packed += *commit + " refs/heads/b" + std::to_string(i) + "\n";
  ASSERT_TRUE(run_git(site_.clone("one"), {"config", "remote.origin.url", site_.remote()}));
  ASSERT_TRUE(site_.refs("one").push({{.name = "refs/dibs/x", .from = "", .to = *commit}}));
  write_bytes(site_.remote() + "/packed-refs", packed);
  EXPECT_TRUE(warns_of("refs in all"));
}

TEST_F(RemoteOnThisMachine, IsFoundAsGitFindsIt) {
  set("receive.denyDeletes", "true");
  const std::string address = site_.remote();
  moves_to(address.substr(0, address.size() - 4));
  EXPECT_TRUE(warns_of("denies deletes")) << "without its .git";
}

TEST_F(RemoteOnThisMachine, WhereNothingIsNothingCanBeSaidOfIt) {
  moves_to(site_.remote() + "/nowhere");
  EXPECT_TRUE(found().empty());
  moves_to("https://localhost:1/x.git");
  ASSERT_EQ(found().size(), 1U);
  EXPECT_TRUE(contains(found().at(0).what, "is on a server"));
  ASSERT_TRUE(run_git(site_.clone("one"), {"remote", "remove", "origin"}));
  EXPECT_TRUE(found().empty());
}

TEST_F(RemoteOnThisMachine, WhoseSettingsCannotBeReadIsLeftToThoseWhoUseIt) {
  write_bytes(site_.remote() + "/config", "no settings");
  EXPECT_TRUE(found().empty());
}

}  // namespace

}  // namespace dibs
