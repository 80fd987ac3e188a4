// Merging on objects alone, with real git.
#include "git/merging.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "sys/programs.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

class Merges : public testing::Test {
 protected:
  Merges() : repo_(temp_ / "repo") {
    EXPECT_TRUE(make_repository(repo_));
    change("main", "shared.txt", "1\n2\n3\n4\n5\n");
    EXPECT_TRUE(run_git(repo_, {"branch", "topic"}));
  }

  // A commit on a branch that sets a file.
  void change(const std::string& branch, const std::string& file, const std::string& text) {
    EXPECT_TRUE(run_git(repo_, {"checkout", "-q", branch}));
    write_bytes(repo_ + "/" + file, text);
    EXPECT_TRUE(run_git(repo_, {"add", "-A"}));
    EXPECT_TRUE(run_git(repo_, {"commit", "-q", "-m", branch + " sets " + file, "--author",
                                "Someone Else <else@example.com>"}));
  }
  std::string ask(const std::vector<std::string>& arguments) {
    const Result<std::string> out = git_.output_of(
        {.git_dir = repo_ + "/.git", .arguments = arguments, .input = {}}, ErrorKind::internal);
    EXPECT_TRUE(out) << out.error().message;
    return std::string(trim(out.value_or("")));
  }
  MergeRequest request(LandMode mode) {
    return {.mode = mode,
            .target = ask({"rev-parse", "main"}),
            .branch = ask({"rev-parse", "topic"}),
            .subject = "Land item:42",
            .trailers = {"Dibs-Lease: L1", "Dibs-Fence: 7"}};
  }
  MergeEnd merge(LandMode mode) {
    const Result<MergeEnd> end = Merging(git_, repo_ + "/.git").merge(request(mode));
    EXPECT_TRUE(end) << end.error().message;
    return end.value_or(MergeEnd{});
  }
  std::string subjects(const std::string& commit) {
    return ask({"log", "--format=%s", "--first-parent", "main.." + commit});
  }

  TempDirectory temp_;
  std::string repo_;
  PosixPrograms programs_;
  GitProgram git_{programs_, [] {
                    return std::vector<std::string>{
                        "PATH=/usr/bin:/bin",   "HOME=/nonexistent",
                        "GIT_AUTHOR_NAME=A",    "GIT_AUTHOR_EMAIL=a@example.com",
                        "GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.com"};
                  }};
};

TEST_F(Merges, MergeMakesOneCommitWithBothParentsAndTheTrailers) {
  change("topic", "a.txt", "a");
  change("main", "b.txt", "b");
  const MergeEnd end = merge(LandMode::merge);
  EXPECT_EQ(subjects(end.commit), "Land item:42");
  EXPECT_EQ(ask({"log", "-1", "--format=%P", end.commit}),
            request(LandMode::merge).target + " " + request(LandMode::merge).branch);
  EXPECT_EQ(ask({"ls-tree", "--name-only", end.commit}), "a.txt\nb.txt\nshared.txt");
  EXPECT_EQ(ask({"log", "-1", "--format=%(trailers)", end.commit}),
            "Dibs-Lease: L1\nDibs-Fence: 7");
}

TEST_F(Merges, MergeMakesACommitAlsoWhereTheTargetCouldJustMove) {
  change("topic", "a.txt", "a");
  EXPECT_EQ(subjects(merge(LandMode::merge).commit), "Land item:42");
}

TEST_F(Merges, SquashOfOneCommitKeepsItsMessageAndOfMoreListsThem) {
  change("topic", "a.txt", "a");
  EXPECT_EQ(subjects(merge(LandMode::squash).commit), "topic sets a.txt");
  change("topic", "b.txt", "b");
  const MergeEnd end = merge(LandMode::squash);
  EXPECT_EQ(subjects(end.commit), "Land item:42");
  EXPECT_EQ(ask({"log", "-1", "--format=%b", end.commit}),
            "- topic sets a.txt\n- topic sets b.txt\n\nDibs-Lease: L1\nDibs-Fence: 7");
  EXPECT_EQ(ask({"log", "-1", "--format=%P", end.commit}), request(LandMode::squash).target);
}

TEST_F(Merges, RebasePutsEachCommitOnTopWithItsAuthor) {
  change("topic", "a.txt", "a");
  change("topic", "b.txt", "b");
  change("main", "c.txt", "c");
  const MergeEnd end = merge(LandMode::rebase);
  EXPECT_EQ(subjects(end.commit), "topic sets b.txt\ntopic sets a.txt");
  EXPECT_EQ(ask({"log", "-1", "--format=%an %cn", end.commit}), "Someone Else C");
  EXPECT_EQ(ask({"ls-tree", "--name-only", end.commit}), "a.txt\nb.txt\nc.txt\nshared.txt");
  EXPECT_EQ(ask({"log", "-1", "--format=%(trailers:key=Dibs-Fence,valueonly)", end.commit}), "7");
}

TEST_F(Merges, RebaseLeavesOutMergesAndWhatIsThereAlready) {
  change("topic", "a.txt", "a");
  change("main", "a.txt", "a");
  change("main", "b.txt", "b");
  EXPECT_TRUE(run_git(repo_, {"checkout", "-q", "topic"}));
  EXPECT_TRUE(run_git(repo_, {"merge", "-q", "main", "-m", "bring along"}));
  change("topic", "c.txt", "c");
  EXPECT_EQ(subjects(merge(LandMode::rebase).commit), "topic sets c.txt");
}

TEST_F(Merges, AFileInAFolderThatWasMovedConflictsOrStays) {
  make_directories(repo_ + "/old");
  change("main", "old/a.txt", "some lines\nto know\nit by\n");
  EXPECT_TRUE(run_git(repo_, {"branch", "-f", "topic", "main"}));
  change("topic", "old/b.txt", "b");
  EXPECT_TRUE(run_git(repo_, {"checkout", "-q", "main"}));
  EXPECT_TRUE(run_git(repo_, {"mv", "old", "new"}));
  EXPECT_TRUE(run_git(repo_, {"commit", "-q", "-m", "move"}));
  EXPECT_EQ(merge(LandMode::merge).conflicts, (std::vector<std::string>{"new/b.txt"}));
  const auto end = Merging(git_, repo_ + "/.git", Flushing::at_once, MovedFolders::stay)
                       .merge(request(LandMode::merge));
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(ask({"ls-tree", "-r", "--name-only", end->commit}), "new/a.txt\nold/b.txt\nshared.txt");
}

TEST_F(Merges, AConflictNamesThePathsAndMakesNothing) {
  change("topic", "shared.txt", "1\nmine\n3\n4\n5\n");
  change("topic", "ünï file.txt", "mine");
  change("main", "shared.txt", "1\ntheirs\n3\n4\n5\n");
  change("main", "ünï file.txt", "theirs");
  for (const LandMode mode : {LandMode::merge, LandMode::squash}) {
    const MergeEnd end = merge(mode);
    EXPECT_EQ(end.commit, "");
    EXPECT_EQ(end.conflicts, (std::vector<std::string>{"shared.txt", "ünï file.txt"}));
  }
  const MergeEnd end = merge(LandMode::rebase);
  EXPECT_EQ(end.conflicts, (std::vector<std::string>{"shared.txt"}));
  EXPECT_EQ(ask({"log", "-1", "--format=%s", end.at}), "topic sets shared.txt");
}

TEST_F(Merges, ChangesInDifferentPlacesOfAFileGoTogether) {
  change("topic", "shared.txt", "mine\n2\n3\n4\n5\n");
  change("main", "shared.txt", "1\n2\n3\n4\ntheirs\n");
  for (const LandMode mode : {LandMode::merge, LandMode::squash, LandMode::rebase}) {
    const MergeEnd end = merge(mode);
    EXPECT_EQ(ask({"show", end.commit + ":shared.txt"}), "mine\n2\n3\n4\ntheirs");
  }
}

TEST_F(Merges, BranchesWithoutACommonPastAreRefused) {
  EXPECT_TRUE(run_git(repo_, {"checkout", "-q", "--orphan", "stranger"}));
  EXPECT_TRUE(run_git(repo_, {"commit", "-q", "-m", "from nowhere"}));
  MergeRequest strange = request(LandMode::merge);
  strange.branch = ask({"rev-parse", "stranger"});
  for (const LandMode mode : {LandMode::merge, LandMode::rebase}) {
    strange.mode = mode;
    const Result<MergeEnd> end = Merging(git_, repo_ + "/.git").merge(strange);
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().kind, ErrorKind::refused);
  }
}

TEST(LandModes, HaveNames) {
  EXPECT_EQ(parse_land_mode("merge"), LandMode::merge);
  EXPECT_EQ(parse_land_mode("rebase"), LandMode::rebase);
  EXPECT_EQ(parse_land_mode("squash"), LandMode::squash);
  EXPECT_EQ(parse_land_mode("octopus"), std::nullopt);
}

TEST_F(Merges, RunNoCommandsThatSettingsNameForTrailers) {
  change("topic", "a.txt", "a\n");
  change("topic", "b.txt", "b\n");
  ask({"config", "trailer.evil.command", "echo sprung"});
  const MergeEnd end = merge(LandMode::squash);
  const std::string message = ask({"log", "-1", "--format=%B", end.commit});
  EXPECT_TRUE(contains(message, "Dibs-Lease: L1")) << message;
  EXPECT_FALSE(contains(message, "sprung")) << message;
}

}  // namespace
}  // namespace dibs
