#include "git/branch_push.h"

#include <gtest/gtest.h>

#include "git/branch_files.h"
#include "testing/git_site.h"

namespace dibs {
namespace {

TEST(BranchPush, MovesABranchOnlyFromWhereItWasSeen) {
  GitSite site;
  const std::string clone = site.clone("one") + "/.git";
  const BranchFiles files(site.git(), clone);
  const auto commit = [&](const std::string& parent) {
    return files
        .write({.parent = parent, .changes = {{"a", parent}}, .message = "x\n", .unix_ms = 1000})
        .value_or("");
  };
  const auto push = [&](const std::string& from, const std::string& to) {
    const Result<PushEnd> end = push_branch(site.git(), clone, "origin",
                                            {.name = "refs/heads/work", .from = from, .to = to});
    return end ? end->kind : PushEnd::Kind::unknown;
  };
  const std::string first = commit("");
  const std::string second = commit(first);
  EXPECT_EQ(push("", first), PushEnd::Kind::moved);
  EXPECT_EQ(push(second, commit(second)), PushEnd::Kind::lost);
  EXPECT_EQ(push("", second), PushEnd::Kind::lost) << "it is there by now";
  EXPECT_EQ(push(first, second), PushEnd::Kind::moved);
  EXPECT_EQ(site.git().output_of(
                {.git_dir = site.remote(), .arguments = {"rev-parse", "work"}, .input = {}},
                ErrorKind::internal),
            second + "\n");
}

}  // namespace
}  // namespace dibs
