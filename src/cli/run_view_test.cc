#include "cli/run_view.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace dibs::cli {
namespace {

verbs::RunNow with_workers(std::size_t count) {
  verbs::RunNow now;
  for (std::size_t i = 0; i < count; ++i)
    now.workers.push_back({.item = "item-" + std::to_string(i + 1),
                           .for_ms = 65'000,
                           .lease_left_ms = 595'000,
                           .last_line = std::string(300, 'x')});
  now.elapsed_ms = 120'000;
  return now;
}

TEST(RunFrame, HasALineAWorkerAndTwoBelow) {
  const auto lines = run_frame(with_workers(3), 80, 24);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_TRUE(lines[0].starts_with("  1  item-1 ")) << lines[0];
  EXPECT_TRUE(contains(lines[0], "1:05  lease 9:55")) << lines[0];
  EXPECT_TRUE(lines[3].starts_with("0 landed, 0 failed")) << lines[3];
}

TEST(RunFrame, NamesTheKindsOfWorkersWhereThereAreAny) {
  verbs::RunNow now = with_workers(2);
  now.workers[0].kind = "fast";
  now.workers[1] = {.kind = "strong", .item = {}, .lease_left_ms = {}, .last_line = {}};
  const auto lines = run_frame(now, 80, 24);
  EXPECT_TRUE(lines[0].starts_with("  1  fast    item-1 ")) << lines[0];
  EXPECT_EQ(lines[1], "  2  strong  -");
}

TEST(RunFrame, IsNeverWiderOrHigherThanTheWindow) {
  for (const std::size_t columns : {1UL, 10UL, 20UL, 80UL, 200UL}) {
    for (const std::size_t rows : {1UL, 4UL, 5UL, 24UL, 50UL}) {
      const auto lines = run_frame(with_workers(40), columns, rows);
      EXPECT_LT(lines.size(), std::max<std::size_t>(rows, 4)) << rows;
      for (const std::string& line : lines) EXPECT_LE(line.size(), columns) << line;
    }
  }
}

TEST(RunFrame, SaysHowManyWorkersItCannotShow) {
  const auto lines = run_frame(with_workers(40), 80, 24);
  EXPECT_TRUE(contains(lines[20], "and 20 more workers")) << lines[20];
}

TEST(RunFrame, CutsBetweenCharacters) {
  verbs::RunNow now = with_workers(1);
  now.workers[0].item = "äöü-äöü-äöü-äöü-äöü-äöü-äöü-äöü-äöü-äöü-äöü";
  for (std::size_t columns = 1; columns < 60; ++columns)
    EXPECT_TRUE(is_utf8(run_frame(now, columns, 24)[0])) << columns;
}

TEST(RunFrame, ShowsForeignWordsEscaped) {
  verbs::RunNow now = with_workers(1);
  now.workers[0].last_line = "\x1b[2J\x07 owned";
  EXPECT_FALSE(contains(run_frame(now, 80, 24)[0], "\x1b"));
}

TEST(RunFrame, TellsWhatIsLeftAndForHowLong) {
  verbs::RunNow now = with_workers(1);
  now.totals.landed = 240;
  now.left = 60;
  EXPECT_TRUE(contains(run_frame(now, 120, 24)[2], "2.0 a second, 60 left for about 30 s"));
}

}  // namespace
}  // namespace dibs::cli
