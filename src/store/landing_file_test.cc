#include "store/landing_file.h"

#include <gtest/gtest.h>

namespace dibs {
namespace {

TEST(LandingFile, GivesBackWhatWasWritten) {
  const PendingLanding landing{.refs = {{.name = "refs/heads/main", .from = "a", .to = "b"}},
                               .line = "{}\n",
                               .reason = "dibs: why"};
  const Result<PendingLanding> read = pending_landing_from_json(to_json(landing));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->refs, landing.refs);
  EXPECT_EQ(read->line, landing.line);
  EXPECT_EQ(read->reason, landing.reason);
}

// Taken for less than it is, a landing that happened would be forgotten.
TEST(LandingFile, IsNotReadInPart) {
  for (const char* text : {"", "{}", R"({"line":"x"})", R"({"line":"x","refs":7})",
                           R"({"refs":[]})", R"({"line":"x","refs":[{"from":"a","to":"b"}]})",
                           R"({"line":"x","refs":[{"name":"r","to":"b"}]})",
                           R"({"line":"x","refs":[{"name":"r","from":"a"}]})"})
    EXPECT_EQ(pending_landing_from_json(text).error().kind, ErrorKind::unreachable) << text;
}

}  // namespace
}  // namespace dibs
