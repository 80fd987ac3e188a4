#include "git/branch_files.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "testing/git_site.h"

namespace dibs {
namespace {

class Branch : public testing::TestWithParam<const char*> {
 protected:
  std::string commit(const std::string& parent, std::vector<FileChange> changes) {
    const Result<std::string> made = files_.write(
        {.parent = parent, .changes = std::move(changes), .message = "it's\n", .unix_ms = 1000});
    EXPECT_TRUE(made) << made.error().message;
    return made.value_or("");
  }
  std::vector<std::string> paths(const std::string& commit,
                                 const std::vector<std::string>& wanted = {}) {
    std::vector<std::string> names;
    const auto entries = files_.list(commit, wanted);
    for (const BranchEntry& entry : entries.value()) {
      if (entry.is_file) names.push_back(entry.path);
    }
    return names;
  }

  GitSite site_{GetParam()};
  BranchFiles files_{site_.git(), site_.remote()};
};

using Paths = std::vector<std::string>;

TEST_P(Branch, EachCommitKeepsWhatItDoesNotChange) {
  const std::string first = commit("", {{"a.yaml", "1"}, {"d/b", ""}, {"d/c", "3"}});
  const std::string second = commit(first, {{"d/b", std::nullopt}, {"e", "4\n"}, {"a.yaml", "2"}});
  EXPECT_EQ(paths(first), (Paths{"a.yaml", "d/b", "d/c"}));
  EXPECT_EQ(paths(second), (Paths{"a.yaml", "d/c", "e"}));
  EXPECT_EQ(paths(commit(second, {{"d", std::nullopt}, {"nowhere", std::nullopt}})),
            (Paths{"a.yaml", "e"}));
  EXPECT_EQ(paths(second, {"d/", "e", "x"}), (Paths{"d/c", "e"}));
}

TEST_P(Branch, AMergeHasTwoParentsAndTakesFilesAsTheOtherHasThem) {
  const std::string base = commit("", {{"a", "1"}, {"b", "1"}});
  const std::string ours = commit(base, {{"a", "2"}});
  const std::string theirs = commit(base, {{"b", "3"}, {"\"odd\\\n", "4"}});
  const auto of_theirs = files_.list(theirs, {});
  BranchFiles::NewCommit merge{.parent = ours, .changes = {}, .message = "both\n", .unix_ms = 1000};
  merge.merged = theirs;
  for (const BranchEntry& entry : of_theirs.value()) {
    if (entry.path != "a")
      merge.taken.push_back({.path = entry.path, .mode = "100755", .object = entry.object});
  }
  const std::string made = files_.write(merge).value();
  const auto found = files_.read_at(made, {"a", "b"});
  EXPECT_EQ(found.value().at("a").text, "2");
  EXPECT_EQ(found.value().at("b").text, "3");
  EXPECT_EQ(paths(made), (Paths{"\"odd\\\n", "a", "b"}));
  EXPECT_TRUE(run_git(site_.remote(), {"merge-base", "--is-ancestor", ours, made}));
  EXPECT_TRUE(run_git(site_.remote(), {"merge-base", "--is-ancestor", theirs, made}));
}

TEST_P(Branch, MovesWholeFoldersWithModesAndThenChangesThem) {
  const std::string first = commit(
      "", {{"w/a b/x", "1", "100755"}, {"w/a b/sub/\"y\\", "2"}, {"w/other", "3"}, {"wide", "4"}});
  BranchFiles::NewCommit next{.parent = first, .changes = {}, .message = "go\n", .unix_ms = 1000};
  next.moves = {{"w/a b", "w/c/d"}, {"w/c/d/x", "w/c/d/z"}};
  next.changes = {{"w/c/d/new", "5"}};
  const Result<std::string> made = files_.write(next);
  ASSERT_TRUE(made) << made.error().message;
  const auto entries = files_.list_below(*made, "w");
  Paths seen;
  for (const BranchEntry& entry : entries.value()) seen.push_back(entry.mode + " " + entry.path);
  EXPECT_EQ(seen, (Paths{"100644 w/c/d/new", "100644 w/c/d/sub/\"y\\", "100755 w/c/d/z",
                         "100644 w/other"}));
}

TEST_P(Branch, ReadsContentsByObject) {
  const std::string made = commit("", {{"a", "one\ntwo"}, {"b", ""}, {"c", "x 3\n"}});
  std::vector<std::string> objects;
  const auto entries = files_.list(made, {});
  for (const BranchEntry& entry : entries.value()) objects.push_back(entry.object);
  const auto texts = files_.read(objects);
  ASSERT_TRUE(texts);
  ASSERT_EQ(texts->size(), 3U);
  EXPECT_EQ(texts->at(objects[0]), "one\ntwo");
  EXPECT_EQ(texts->at(objects[1]), "");
  EXPECT_EQ(texts->at(objects[2]), "x 3\n");
  EXPECT_FALSE(files_.read({std::string(objects[0].size(), '1')})) << "there is none";
}

TEST_P(Branch, ReadsOneAfterTheOtherAndWhatIsTooLargeNotAtAll) {
  const std::string made = commit("", {{"a", "one\ntwo"}, {"b", ""}, {"c", "x 3\n"}});
  std::vector<std::string> objects;
  const auto entries = files_.list(made, {});
  for (const BranchEntry& entry : entries.value()) objects.push_back(entry.object);
  objects.push_back(objects[0]);
  std::vector<std::string> texts;
  ASSERT_TRUE(files_.read_each(objects, 6, [&](const ObjectText& object) {
    texts.push_back(
        fmt::format("{} {} {}", object.number, object.bytes, object.text.value_or("too large")));
  }));
  EXPECT_EQ(texts, (Paths{"0 7 too large", "1 0 ", "2 4 x 3\n", "3 7 too large"}));
  const auto nothing = [](const ObjectText&) {};
  EXPECT_FALSE(files_.read_each({std::string(objects[0].size(), '1')}, 6, nothing));
}

TEST_P(Branch, TellsWhatACommitWillSayButForItsTree) {
  const std::string first = commit("", {{"a", "1"}});
  const std::string other = commit("", {{"b", "1"}});
  BranchFiles::NewCommit merge{.parent = first,
                               .changes = {},
                               .message = "é\n\n text\n\n",
                               .unix_ms = 1'767'441'600'999,
                               .author = "agent:a/b"};
  merge.merged = other;
  const std::string made = files_.write(merge).value();
  const Result<std::string> text = site_.git().output_of(
      {.git_dir = site_.remote(), .arguments = {"cat-file", "commit", made}, .input = {}},
      ErrorKind::internal);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->substr(text->find('\n') + 1), BranchFiles::told_by(merge));
}

TEST_P(Branch, WritingMovesNoRef) {
  (void)commit("", {{"a", "1"}});
  const Result<std::string> refs = site_.git().output_of(
      {.git_dir = site_.remote(), .arguments = {"for-each-ref"}, .input = {}}, ErrorKind::internal);
  EXPECT_EQ(refs, "");
  EXPECT_FALSE(files_.write({.parent = "nothing", .changes = {}, .message = "x"}));
}

TEST_P(Branch, FindsTheNewestMessagesWithAText) {
  const std::string first = commit("", {{"a", "1"}});
  const std::string second = commit(first, {{"a", "2"}});
  EXPECT_EQ(files_.messages(second, "it's", 5), (Paths{"it's", "it's"}));
  EXPECT_EQ(files_.messages(second, "it's", 1), (Paths{"it's"}));
  EXPECT_EQ(files_.messages(second, ".", 5), (Paths{})) << "a text, not a pattern";
}

INSTANTIATE_TEST_SUITE_P(Formats, Branch, testing::Values("sha1", "sha256"));

}  // namespace
}  // namespace dibs
