#include "rules/track_record.h"

#include <algorithm>
#include <map>

#include "testing/property.h"

namespace dibs {
namespace {

PastEvent past(Op op, const std::string& item, const std::string& agent = "agent:one") {
  PastEvent event;
  event.event.op = op;
  event.event.resource = {"item:" + item};
  event.event.agent = {agent};
  return event;
}

// Items are named after their type: "bug1" is a bug. Those that end in 0 are finished.
std::optional<std::string> type_of(const Key& key) {
  const std::string name = key.text.substr(key.text.find(':') + 1);
  if (!key.text.starts_with("item:") || name == "gone") return std::nullopt;
  return name.substr(0, name.size() - 1);
}

TrackRecord track(const std::vector<PastEvent>& events) {
  return track_record_of({"agent:one"}, events,
                         {.counts = [](const AgentId& id) { return id.text != "agent:other"; },
                          .type_of = type_of,
                          .is_finished = [](const Key& key) { return key.text.ends_with('0'); }});
}

TypeRecord of(const TrackRecord& track, const std::string& type) {
  const auto found = std::ranges::find(track.types, type, &TypeRecord::type);
  return found == track.types.end() ? TypeRecord{} : *found;
}

TEST(TrackRecord, CountsByTypeWhatLandedAndWhatWasLost) {
  const TrackRecord seen =
      track({past(Op::acquire, "bug1"), past(Op::land, "bug1"), past(Op::land, "bug2"),
             past(Op::release, "bug3"), past(Op::auto_evict, "task1"),
             past(Op::force_evict, "task2"), past(Op::heartbeat, "task3")});
  EXPECT_EQ(seen.types.size(), 2U);
  EXPECT_EQ(of(seen, "bug").landed, 2U);
  EXPECT_EQ(of(seen, "bug").lost, 1U);
  EXPECT_EQ(of(seen, "task").landed, 0U);
  EXPECT_EQ(of(seen, "task").lost, 2U);
}

TEST(TrackRecord, HoldsNothingAgainstWhoeverGaveBackWhatIsFinished) {
  EXPECT_TRUE(track({past(Op::release, "bug0"), past(Op::auto_evict, "bug0")}).types.empty());
}

TEST(TrackRecord, LeavesOutOtherAgentsAndWhatIsNoItem) {
  EXPECT_TRUE(track({past(Op::land, "bug1", "agent:other"), past(Op::land, "gone")}).types.empty());
  EXPECT_EQ(of(track({past(Op::land, "bug1", "agent:alike")}), "bug").landed, 1U);
}

TEST(TrackRecord, NamesWhatTheAgentItselfLandedLast) {
  std::vector<PastEvent> events{past(Op::land, "old1"), past(Op::land, "bug1", "agent:alike")};
  for (int i = 1; i <= 9; ++i) events.push_back(past(Op::land, "bug" + std::to_string(i)));
  events.push_back(past(Op::land, "bug7"));
  const TrackRecord seen = track(events);
  ASSERT_EQ(seen.landed_last.size(), kLandedLastMax);
  EXPECT_EQ(seen.landed_last[0].text, "item:bug7");
  EXPECT_EQ(seen.landed_last[1].text, "item:bug9");
  EXPECT_EQ(seen.landed_last[2].text, "item:bug8");
  EXPECT_EQ(seen.landed_last[3].text, "item:bug6");
}

TEST(TrackRecord, CountsEveryEndOfAnUnfinishedItemOnce) {
  EXPECT_PROPERTY(200, 40, [] {
    std::vector<PastEvent> events;
    std::map<std::string, std::uint32_t> ends;
    const auto many = *any_in<std::size_t>(0, 40);
    for (std::size_t i = 0; i < many; ++i) {
      const Op op = static_cast<Op>(*any_in<std::size_t>(0, kOpCount));
      const std::string type = *rc::gen::element<std::string>("bug", "task", "doc");
      events.push_back(past(op, type + "1"));
      const bool ended =
          op == Op::land || op == Op::release || op == Op::auto_evict || op == Op::force_evict;
      if (ended) ++ends[type];
    }
    const TrackRecord seen = track(events);
    RC_ASSERT(seen.types.size() == ends.size());
    for (const auto& [type, count] : ends)
      RC_ASSERT(of(seen, type).landed + of(seen, type).lost == count);
  });
}

}  // namespace
}  // namespace dibs
