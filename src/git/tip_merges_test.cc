// What is skipped is held against real git, on random branches that rename files and folders, turn
// files into folders and merge each other.
#include "git/tip_merges.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/text.h"
#include "git/known_collisions.h"
#include "sys/programs.h"
#include "testing/property.h"
#include "testing/seeded_random.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

using namespace std::string_literals;
using Tree = std::map<std::string, std::string>;

constexpr std::size_t kBranches = 8;

std::vector<TipPair> all_pairs(std::size_t tips) {
  std::vector<TipPair> pairs;
  for (std::size_t a = 0; a < tips; ++a) {
    for (std::size_t b = a + 1; b < tips; ++b) pairs.push_back({a, b});
  }
  return pairs;
}

/// Random branches, as input for `git fast-import`.
class RandomHistory {
 public:
  explicit RandomHistory(std::uint64_t seed) : random_(seed) {
    Tree tree;
    for (int i = 0; i < 14; ++i) tree[path()] = text();
    commit(tree, {});
    for (int i = 0; i < 3; ++i) grow(commits_.size() - 1);  // the target goes on
    for (std::size_t tip = 0; tip < kBranches; ++tip) {
      std::size_t at = below(commits_.size());
      for (std::size_t i = 0; i <= below(3); ++i) at = grow(at);
      script_ += fmt::format("reset refs/heads/t{}\nfrom :{}\n\n", tip, at + 1);
    }
  }
  [[nodiscard]] const std::string& script() const { return script_; }

 private:
  std::size_t below(std::size_t end) { return random_.below(end); }
  std::string path() {
    static constexpr std::array<const char*, 9> kFolders{"",     "",     "a/",   "a/", "b/",
                                                         "a/c/", "b/c/", "d/e/", "f0/"};
    return kFolders[below(kFolders.size())] + fmt::format("f{}", below(6));
  }
  std::string text() {
    std::string lines;
    for (int i = 0; i < 12; ++i) lines += fmt::format("{}\n", below(100'000));
    return lines;
  }
  std::string any_path(const Tree& tree) {
    return std::next(tree.begin(), static_cast<std::ptrdiff_t>(below(tree.size())))->first;
  }
  // Whatever a path would stand in the way of goes.
  static void put(Tree& tree, const std::string& path, std::string text) {
    std::erase_if(tree, [&](const auto& entry) {
      return entry.first.starts_with(path + "/") || path.starts_with(entry.first + "/");
    });
    tree[path] = std::move(text);
  }
  void move_folder(Tree& tree) {
    const std::string from = "abdf"s.substr(below(4), 1) + (below(2) == 0 ? "/c/" : "/");
    const std::string to = fmt::format("new{}/", below(3));
    Tree moved;
    for (const auto& [path, text] : tree) {
      const bool inside = path.starts_with(from);
      put(moved, inside ? to + path.substr(from.size()) : path, text);
    }
    tree = moved;
  }
  void edit(Tree& tree) {
    const std::string at = any_path(tree);
    std::string& text = tree[at];
    text.insert(text.find('\n', below(text.size() / 2)) + 1, fmt::format("new {}\n", below(50)));
  }
  void change(Tree& tree) {
    switch (below(7)) {
      case 0:
        return put(tree, path(), text());
      case 1:
        return move_folder(tree);
      case 2: {
        const std::string from = any_path(tree);
        const std::string moved = tree[from];
        tree.erase(from);
        return put(tree, path(), moved);
      }
      case 3:
        if (tree.size() > 3) tree.erase(any_path(tree));
        return;
      default:
        return edit(tree);
    }
  }
  std::size_t grow(std::size_t at) {
    Tree tree = commits_[at];
    std::vector<std::size_t> parents{at};
    for (std::size_t i = 0; i <= below(2); ++i) change(tree);
    if (below(8) == 0) parents.push_back(below(commits_.size()));
    return commit(tree, parents);
  }
  std::size_t commit(const Tree& tree, const std::vector<std::size_t>& parents) {
    script_ += fmt::format("commit refs/heads/all\nmark :{}\ncommitter C <c@d> {} +0000\ndata 0\n",
                           commits_.size() + 1, 1'700'000'000 + commits_.size());
    for (std::size_t i = 0; i < parents.size(); ++i)
      script_ += fmt::format("{} :{}\n", i == 0 ? "from" : "merge", parents[i] + 1);
    script_ += "deleteall\n";
    for (const auto& [path, text] : tree)
      script_ += fmt::format("M 100644 inline {}\ndata {}\n{}\n", path, text.size(), text);
    commits_.push_back(tree);
    return commits_.size() - 1;
  }

  SeededRandom random_;
  std::vector<Tree> commits_;
  std::string script_;
};

/// Remembers what git was asked for, by the first word.
class HeardPrograms final : public Programs {
 public:
  [[nodiscard]] Result<ProgramEnd> run(const ProgramCall& call) override {
    static const std::set<std::string> kWords{"merge-tree", "log", "rev-list", "merge-base",
                                              "diff-tree"};
    for (const std::string& word : call.command)
      if (kWords.contains(word)) asked.insert(word);
    return programs_.run(call);
  }
  std::set<std::string> asked;

 private:
  PosixPrograms programs_;
};

class TipMergesTest : public testing::Test {
 protected:
  std::string ask(const std::string& git_dir, const std::vector<std::string>& arguments,
                  std::string_view input = {}) {
    const Result<std::string> out = git_.output_of(
        {.git_dir = git_dir, .arguments = arguments, .input = input}, ErrorKind::internal);
    EXPECT_TRUE(out) << out.error().message;
    return std::string(trim(out.value_or("")));
  }
  std::string import(const TempDirectory& temp, const std::string& script) {
    std::string git_dir = temp / "repo.git";
    make_directories(git_dir);
    ask(git_dir, {"init", "-q", "--bare"});
    ask(git_dir, {"fast-import", "--quiet", "--force"}, script);
    return git_dir;
  }
  std::vector<std::string> tips_in(const std::string& git_dir) {
    std::vector<std::string> tips;
    for (std::size_t i = 0; i < kBranches; ++i)
      tips.push_back(ask(git_dir, {"rev-parse", fmt::format("refs/heads/t{}", i)}));
    return tips;
  }

  HeardPrograms programs_;
  GitProgram git_{programs_, [] {
                    return std::vector<std::string>{"PATH=/usr/bin:/bin", "HOME=/nonexistent"};
                  }};
};

TEST_F(TipMergesTest, WhatIsSkippedGitMergesWithoutAConflict) {
  std::size_t pairs = 0;
  std::size_t merged = 0;
  std::size_t collisions = 0;
  EXPECT_PROPERTY(25, 30, [&] {
    const TempDirectory temp;
    const RandomHistory history(*any_in<std::uint64_t>(0, UINT32_MAX));
    const std::string git_dir = import(temp, history.script());
    const std::vector<std::string> tips = tips_in(git_dir);
    const TipMerges merges(git_, git_dir, temp.path());
    BranchPast past;
    const Result<TipSurvey> survey = merges.survey(tips, all_pairs(kBranches), past);
    const Result<std::vector<Collision>> by_git = merges.merge(tips, all_pairs(kBranches));
    RC_ASSERT(survey.has_value());
    RC_ASSERT(by_git.has_value());
    RC_ASSERT(survey->collisions == *by_git);
    pairs += all_pairs(kBranches).size();
    merged += survey->merged;
    collisions += by_git->size();
  });
  EXPECT_LT(merged, pairs) << "nothing was skipped";
  EXPECT_GT(collisions, 0U);
}

// Branches move on, back and elsewhere between looks, and each look is told what the ones before
// found out, as it comes back from the file.
TEST_F(TipMergesTest, WhatIsKnownOfThePastChangesNoAnswer) {
  std::size_t reused = 0;
  std::size_t anew = 0;
  EXPECT_PROPERTY(15, 30, [&] {
    const TempDirectory temp;
    const RandomHistory history(*any_in<std::uint64_t>(0, UINT32_MAX));
    const std::string git_dir = import(temp, history.script());
    const std::string all = ask(git_dir, {"rev-list", "--all"});
    const std::vector<std::string_view> commits = split(all, '\n');
    const TipMerges merges(git_, git_dir, temp.path());
    std::vector<std::string> tips = tips_in(git_dir);
    const auto move = [&] {
      tips[*any_in<std::size_t>(0, kBranches - 1)] =
          commits[*any_in<std::size_t>(0, commits.size() - 1)];
    };
    for (std::size_t i = 0; i < kBranches; ++i) move();
    BranchPast past;
    for (int look = 0; look < 4; ++look) {
      programs_.asked.clear();
      const Result<TipSurvey> survey = merges.survey(tips, all_pairs(kBranches), past);
      (programs_.asked.contains("rev-list") ? anew : reused)++;
      const Result<std::vector<Collision>> by_git = merges.merge(tips, all_pairs(kBranches));
      RC_ASSERT(survey.has_value());
      RC_ASSERT(by_git.has_value());
      RC_ASSERT(survey->collisions == *by_git);
      past = KnownCollisions::of(encode_collisions(tips, *by_git, past)).past();
      move();
    }
  });
  EXPECT_GT(reused, anew / 10) << "nearly nothing was reused";
}

TEST_F(TipMergesTest, AfterOneMoreCommitGitIsAskedAboutThatAlone) {
  const TempDirectory temp;
  const auto commit = [](std::string_view branch, std::string_view from, std::string_view path) {
    return fmt::format(
        "commit refs/heads/{}\ncommitter C <c@d> 1700000000 +0000\ndata 0\n{}M 100644 inline "
        "{}\ndata 2\n{}\n\n",
        branch, from.empty() ? "" : fmt::format("from refs/heads/{}\n", from), path,
        branch.substr(0, 1));
  };
  const std::string git_dir =
      import(temp, commit("main", "", "f") + commit("one", "main", "a") +
                       commit("two", "main", "b") + commit("grown", "two", "a"));
  const auto tip = [&](const std::string& name) {
    return ask(git_dir, {"rev-parse", "refs/heads/" + name});
  };
  const TipMerges merges(git_, git_dir, temp.path());
  BranchPast past;
  const auto first = merges.survey({tip("one"), tip("two"), tip("main")}, all_pairs(3), past);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->collisions.empty());
  programs_.asked.clear();
  const auto second = merges.survey({tip("one"), tip("grown"), tip("main")}, {{0, 1}}, past);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->collisions, (std::vector<Collision>{{.pair = {0, 1}, .files = {"a"}}}));
  EXPECT_EQ(programs_.asked, (std::set<std::string>{"merge-tree", "log"}));
}

// Two commits are the newest that both tips have, and only one of them is among what is known:
//
//   root ─ m1 ─ m2 ─ one, two     one has merged a, two has merged b; then new merges a and b.
//     │     └ b
//     └ a
TEST_F(TipMergesTest, ForksThatLieFurtherBackThanWhatIsKnownAreFound) {
  const TempDirectory temp;
  std::string script;
  const auto commit = [&](std::string_view name, std::string_view parents, std::string_view files) {
    script +=
        fmt::format("commit refs/heads/{}\ncommitter C <c@d> 1700000000 +0000\ndata 0\n{}{}\n",
                    name, parents, files);
  };
  const auto file = [](std::string_view path, std::string_view text) {
    return fmt::format("M 100644 inline {}\ndata {}\n{}\n", path, text.size(), text);
  };
  commit("root", "", file("x", "0"));
  commit("m1", "from refs/heads/root\n", file("x", "1"));
  commit("m2", "from refs/heads/m1\n", file("y", "1"));
  commit("a", "from refs/heads/root\n", file("a", "1"));
  commit("b", "from refs/heads/m1\n", file("b", "1"));
  commit("one", "from refs/heads/m2\nmerge refs/heads/a\n", file("x", "0") + file("a", "1"));
  commit("two", "from refs/heads/m2\nmerge refs/heads/b\n", file("b", "1"));
  commit("new", "from refs/heads/a\nmerge refs/heads/b\n", file("x", "2") + file("b", "1"));
  const std::string git_dir = import(temp, script);
  const auto tip = [&](const std::string& name) {
    return ask(git_dir, {"rev-parse", "refs/heads/" + name});
  };
  const TipMerges merges(git_, git_dir, temp.path());
  BranchPast past;
  ASSERT_TRUE(merges.survey({tip("one"), tip("two")}, all_pairs(2), past));
  const std::vector<std::string> tips{tip("one"), tip("new")};
  const Result<TipSurvey> survey = merges.survey(tips, all_pairs(2), past);
  ASSERT_TRUE(survey);
  EXPECT_EQ(survey->collisions, merges.merge(tips, all_pairs(2)).value());
  EXPECT_EQ(survey->collisions.size(), 1U);
}

TEST_F(TipMergesTest, LeavesNoObjectsBehind) {
  const TempDirectory temp;
  const std::string git_dir = import(temp, RandomHistory(7).script());
  const std::string before = ask(git_dir, {"count-objects", "-v"});
  ASSERT_TRUE(TipMerges(git_, git_dir, temp.path()).merge(tips_in(git_dir), all_pairs(kBranches)));
  EXPECT_EQ(ask(git_dir, {"count-objects", "-v"}), before);
}

// A history in which git 2.39 falls over one of the merges.
TEST_F(TipMergesTest, APairThatGitFallsOverDoesNotHideTheOthers) {
  const TempDirectory temp;
  const std::string git_dir = import(temp, RandomHistory(232'784'006).script());
  const Result<std::vector<Collision>> all =
      TipMerges(git_, git_dir, temp.path()).merge(tips_in(git_dir), all_pairs(kBranches));
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_GT(all->size(), 1U);
}

TEST(ParseMerges, ReadsPathsOfThoseThatConflict) {
  const std::string out = "0\0tree\0a\0b c\0\0001\0tree\0\0000\0tree\0\0"s;
  const std::vector<TipPair> pairs{{0, 1}, {0, 2}, {1, 2}};
  const SaidMerges said = parse_merges(out, pairs);
  EXPECT_EQ(said.pairs, 3U);
  EXPECT_EQ(said.collisions, (std::vector<Collision>{{.pair = {0, 1}, .files = {"a", "b c"}},
                                                     {.pair = {1, 2}, .files = {}}}));
}

TEST(ParseMerges, CountsWhatIsWhole) {
  const std::string first = "0\0tree\0a\0b c\0\0"s;
  const std::string out = first + "1\0tree\0\0"s;
  const std::vector<TipPair> pairs{{0, 1}, {0, 2}};
  for (std::size_t size = 0; size < out.size(); ++size)
    EXPECT_EQ(parse_merges(out.substr(0, size), pairs).pairs, size < first.size() ? 0U : 1U);
  EXPECT_EQ(parse_merges(out, pairs).pairs, 2U);
}

}  // namespace
}  // namespace dibs
