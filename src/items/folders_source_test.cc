// Items in folders on a branch, over the real git.
#include "testing/sources_fixture.h"

namespace dibs {
namespace {

class Folders : public Sources {
 protected:
  FoldersSource source() { return {site(), {.name = "main", .commit = {}}, Workflow::folders()}; }
};

TEST_F(Folders, AMoveIsOneCommitThatTakesEveryFileAlongAsItIs) {
  put("docs/work/features/next/a b/README.md", "# A\r\n");
  put("docs/work/features/next/a b/deep/\"odd\\.bin", std::string("\0\xff", 2));
  put("docs/work/features/next/.gitkeep", "");
  put("src/main.cc", "int main() {}\n");
  commit("start");
  const std::string before = git({"ls-tree", "-r", "-z", "main"});
  FoldersSource folders = source();
  ASSERT_EQ(change(folders, "a b", [](Item& item) { item.state = "inanalysis"; }), "written");
  std::string wanted = before;
  for (std::size_t at = 0; (at = wanted.find("next/a b", at)) != std::string::npos;)
    wanted.replace(at, 4, "inanalysis");
  // git sorts by path.
  std::vector<std::string_view> lines = split(wanted, '\0');
  const std::string after = git({"ls-tree", "-r", "-z", "main"});
  std::vector<std::string_view> seen = split(after, '\0');
  std::ranges::sort(lines);
  std::ranges::sort(seen);
  EXPECT_EQ(seen, lines);
  EXPECT_EQ(git({"log", "--format=%an %s", "main"}),
            "human:alice change\ntest start\ntest first\n");
  EXPECT_EQ(one(folders, "a b").item.state, "inanalysis");
  EXPECT_EQ(one(folders, "a b").file, "docs/work/features/inanalysis/a b/README.md");
}

TEST_F(Folders, IsReadFromTheBranchAndNotFromTheWorkTree) {
  put("docs/work/new/a.md", "# A\n");
  commit("start");
  put("docs/work/new/b.md", "# B\n");
  put("docs/work/new/a.md", "# Changed\n");
  FoldersSource folders = source();
  EXPECT_EQ(ids_in(all(folders)), Texts{"a"});
  EXPECT_EQ(one(folders, "a").item.title, "A");
}

TEST_F(Folders, ASourceThatChangesNothingMakesNoCommit) {
  put("docs/work/new/a.md", "# A\n");
  commit("start");
  FoldersSource folders = source();
  EXPECT_EQ(change(folders, "a", [](Item&) {}), "written");
  EXPECT_EQ(git({"rev-list", "--count", "main"}), "2\n");
}

TEST_F(Folders, KeepsTheModeOfWhatItChanges) {
  put("docs/work/new/a/README.md", "# A\n");
  EXPECT_TRUE(run_git(top(), {"add", "-A"}));
  EXPECT_TRUE(run_git(top(), {"update-index", "--chmod=+x", "docs/work/new/a/README.md"}));
  EXPECT_TRUE(run_git(top(), {"commit", "-q", "-m", "start"}));
  FoldersSource folders = source();
  ASSERT_EQ(change(folders, "a",
                   [](Item& item) {
                     item.state = "stamped";
                     item.priority = 1;
                   }),
            "written");
  EXPECT_TRUE(git({"ls-tree", "-r", "main"}).starts_with("100755 "));
}

TEST_F(Folders, ShowsWhatIsBrokenAndLeavesItAlone) {
  put("docs/work/next/good/README.md", "# Good\n");
  put("docs/work/next/open/README.md", "---\npriority: high\n");
  put("docs/work/nowhere/lost/README.md", "# Lost\n");
  put("docs/work/next/large/README.md", std::string(5UL << 20U, 'x'));
  make_symlink("good/README.md", top() + "/docs/work/next/link.md");
  commit("start");
  FoldersSource folders = source();
  EXPECT_EQ(ids_in(all(folders)), Texts{"good"});
  const std::string at = "docs/work/";
  EXPECT_EQ(broken_in(all(folders)),
            (Texts{at + "nowhere/lost:0 [lost] it lies in no state of the workflow",
                   at + "next/large/README.md:0 [large] it is too large",
                   at + "next/link.md:0 [link] it is no file",
                   at + "next/open/README.md:1 [open] the front matter has no closing ---"}));
  EXPECT_FALSE(folders.read({{"open"}}));
  EXPECT_EQ(change(folders, "good", [](Item& item) { item.state = "inanalysis"; }), "written");
  EXPECT_EQ(broken_in(all(folders)).size(), 4U);
}

TEST_F(Folders, StandsOnALandingAsIfItHadHappened) {
  put("docs/work/f/next/a/README.md", "# A\n");
  commit("start");
  const std::string from(trim(git({"rev-parse", "main"})));
  EXPECT_TRUE(run_git(top(), {"checkout", "-q", "-b", "work"}));
  put("docs/work/f/next/a/analysis.md", "done\n");
  commit("work");
  const std::string to(trim(git({"rev-parse", "work"})));
  FoldersSource folders = source();
  EXPECT_FALSE(folders.stand_on({.name = "refs/heads/other", .from = from, .to = to}));
  ASSERT_TRUE(folders.stand_on({.name = "refs/heads/main", .from = from, .to = to}));
  StoredItem stored = one(folders, "a");
  stored.item.state = "inanalysis";
  const auto prepared = folders.prepare(batch({{.item = stored.item, .expected = stored.version}}));
  ASSERT_TRUE(prepared && *prepared);
  EXPECT_EQ((*prepared)->from, from);
  EXPECT_EQ(trim(git({"rev-parse", (*prepared)->to + "^"})), to);
  EXPECT_EQ(git({"ls-tree", "-r", "--name-only", (*prepared)->to}),
            "docs/work/f/inanalysis/a/README.md\ndocs/work/f/inanalysis/a/analysis.md\n");
  EXPECT_EQ(trim(git({"rev-parse", "main"})), from) << "nothing has moved yet";
}

TEST_F(Folders, TellsTheHistoryOfAnItemAcrossItsMoves) {
  put("docs/work/new/a/README.md", "# A\n\nSome text that is long enough to be known again.\n");
  put("docs/work/new/b/README.md", "# B\n");
  commit("start");
  FoldersSource folders = source();
  ASSERT_EQ(change(folders, "a", [](Item& item) { item.state = "stamped"; }), "written");
  ASSERT_EQ(change(folders, "b", [](Item& item) { item.state = "stamped"; }), "written");
  ASSERT_EQ(change(folders, "a", [](Item& item) { item.state = "next"; }), "written");
  const auto history = folders.history({"a"}, 9);
  ASSERT_TRUE(history) << history.error().message;
  ASSERT_EQ(history->size(), 3U);
  EXPECT_EQ((*history)[0].by, "human:alice");
  EXPECT_EQ((*history)[2].message, "start");
}

}  // namespace
}  // namespace dibs
