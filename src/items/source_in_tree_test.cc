// Sources in the tree when work lands: they are read from the commit, and a change follows it.
#include "testing/sources_fixture.h"

namespace dibs {
namespace {

class SourceInTreeTest : public Sources {
 protected:
  // All that is there now is what lands.
  RefMove landing() {
    commit("lands");
    const std::string commit = std::string(trim(git({"rev-parse", "HEAD"})));
    return {.name = "refs/heads/main", .from = commit, .to = commit};
  }
  std::string in_commit(const std::string& commit, const std::string& path) {
    return git({"show", commit + ":" + path});
  }
};

void put_tasks(const std::function<void(const std::string&, std::string_view)>& put) {
  put("aitasks/t1_one.md", "---\nstatus: Ready\nmine: 1\n---\n");
  put("aitasks/t1/t1_1_child.md", "---\nstatus: Ready\n---\n");
  put("aitasks/archived/t2_old.md", "---\nstatus: Done\n---\n");
  put("aitasks/archived/t3/t3_1_older.md", "---\nstatus: Done\n---\n");
  put("aitasks/t4_broken.md", "---\nstatus: Ready\n");
  put("other/t5_no_task.md", "---\nstatus: Ready\n---\n");
}

TEST_F(SourceInTreeTest, ReadsTheSameFromACommitAsFromTheWorkTree) {
  put_tasks([&](const std::string& path, std::string_view text) { put(path, text); });
  AitasksSource source(site());
  const ItemList on_disk = all(source);
  ASSERT_EQ(ids_in(on_disk), (Texts{"t1", "t1_1", "t2", "t3_1"}));
  ASSERT_TRUE(source.stand_on(landing()));
  put("aitasks/t1_one.md", "the work tree has gone on");
  const ItemList landed = all(source);
  EXPECT_EQ(ids_in(landed), ids_in(on_disk));
  EXPECT_EQ(broken_in(landed), broken_in(on_disk));
  EXPECT_EQ(one(source, "t1_1").file, "aitasks/t1/t1_1_child.md");
}

TEST_F(SourceInTreeTest, AChangeIsACommitOnTopAndTouchesNoFile) {
  put_tasks([&](const std::string& path, std::string_view text) { put(path, text); });
  AitasksSource source(site());
  const RefMove move = landing();
  ASSERT_TRUE(source.stand_on(move));
  StoredItem stored = one(source, "t1");
  stored.item.state = "done";
  const auto prepared = source.prepare(batch({{.item = stored.item, .expected = stored.version}}));
  ASSERT_TRUE(prepared && *prepared);
  EXPECT_EQ((*prepared)->ref, move.name);
  EXPECT_EQ((*prepared)->from, move.from);
  EXPECT_NE(in_commit((*prepared)->to, "aitasks/t1_one.md").find("status: Done\nmine: 1"),
            std::string::npos);
  EXPECT_EQ(std::string(trim(git({"rev-parse", (*prepared)->to + "^"}))), move.to);
  EXPECT_NE(get("aitasks/t1_one.md").find("status: Ready"), std::string::npos);
}

TEST_F(SourceInTreeTest, AFileThatIsGoneFromTheCommitIsGone) {
  put(".beads/issues.jsonl", R"({"id":"bd-1","title":"A","status":"open"})"
                             "\n");
  BeadsSource source(site());
  ASSERT_EQ(ids_in(all(source)), Texts{"bd-1"});
  ASSERT_TRUE(run_git(top(), {"commit", "-q", "--allow-empty", "-m", "empty"}));
  const std::string commit = std::string(trim(git({"rev-parse", "HEAD"})));
  ASSERT_TRUE(source.stand_on({.name = "refs/heads/main", .from = commit, .to = commit}));
  EXPECT_EQ(ids_in(all(source)), Texts{});
}

TEST_F(SourceInTreeTest, NothingIsPreparedWhereNothingLands) {
  put(".dibs/items/a.json", R"({"id":"a","title":"A"})"
                            "\n");
  TreeSource source(site());
  EXPECT_FALSE(source.prepare(batch({})));
}

}  // namespace
}  // namespace dibs
