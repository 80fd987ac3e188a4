#include "verbs/archived_tasks.h"

#include <gtest/gtest.h>

namespace dibs::verbs {
namespace {

ArchivedTasks in(std::vector<std::string> names) {
  std::string all;
  for (const std::string& name : names) all += name + '\0';
  return archived_in(all);
}

TEST(ArchivedTasks, AreFoundByTheNamesOfTheirFiles) {
  EXPECT_EQ(in({"aitasks/archived/t42_login.md", "aitasks/archived/t9/t9_2_part.md",
                "aitasks/archived/t109_2fa.md"}),
            (ArchivedTasks{{"42", "aitasks/archived/t42_login.md"},
                           {"9_2", "aitasks/archived/t9/t9_2_part.md"},
                           {"109", "aitasks/archived/t109_2fa.md"}}));
}

TEST(ArchivedTasks, AreNothingElse) {
  EXPECT_TRUE(
      in({"aitasks/t42_login.md", "aitasks/archived/t42.md", "aitasks/archived/42_x.md",
          "aitasks/archived/t_x.md", "aitasks/archived/tx_1.md", "aitasks/archived/t1_x.txt",
          "aitasks/archived/t9/t9_part.md", "aitasks/archived/t8/t9_1_part.md",
          "aitasks/archived/t9/a/t9_1_part.md", "aitasks/archived/", ""})
          .empty());
}

TEST(ArchivedTasks, OnlyLeasesWithoutATimeLimitAreOver) {
  Board board;
  Lease forever{.id = {"L1"}};
  Lease timed{.id = {"L2"}};
  timed.ttl_secs = 60;
  board.seats[{"item:42"}].holding.leases = {forever, timed};
  board.seats[{"item:43"}].holding.leases = {Lease{.id = {"L3"}}};
  board.seats[{"lock:42"}].holding.leases = {Lease{.id = {"L4"}}};
  note_archived(board, in({"aitasks/archived/t42_login.md"}));
  ASSERT_EQ(board.gone.size(), 1U);
  EXPECT_EQ(board.gone.begin()->first.text, "L1");
  EXPECT_EQ(board.gone.begin()->second, "the task is archived: aitasks/archived/t42_login.md");
}

}  // namespace
}  // namespace dibs::verbs
