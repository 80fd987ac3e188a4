#include "model/agent_profile.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace dibs {
namespace {

Error error_in(std::string_view toml) {
  const Result<std::vector<AgentProfile>> parsed = parse_agent_profiles(toml, "agents.toml");
  EXPECT_FALSE(parsed) << toml;
  return parsed ? Error{} : parsed.error();
}

Error error_in_member(std::string_view line) {
  return error_in(fmt::format("[agent.\"agent:a\"]\n{}\n", line));
}

TEST(AgentProfile, HasEverythingTheFileSays) {
  const auto profiles = parse_agent_profiles(
      "[agent.\"agent:copilot-*\"]\ncapabilities = [\"rust\", \"gpu\"]\ntypes = [\"bug\"]\n"
      "economical = true\ncapacity = 3\ncost = 0.5\n",
      "agents.toml");
  ASSERT_TRUE(profiles);
  EXPECT_EQ(*profiles, (std::vector<AgentProfile>{{.agents = "agent:copilot-*",
                                                   .capabilities = {"rust", "gpu"},
                                                   .types = {"bug"},
                                                   .economical = true,
                                                   .capacity = 3,
                                                   .cost_hundredths = 50}}));
}

TEST(AgentProfile, HasDefaultsForWhatTheFileLeavesOut) {
  EXPECT_TRUE(parse_agent_profiles("", "agents.toml")->empty());
  EXPECT_EQ(parse_agent_profiles("[agent.\"ci:nightly\"]\n", "agents.toml")->front(),
            AgentProfile{.agents = "ci:nightly"});
  EXPECT_EQ(parse_agent_profiles("[agent.\"*\"]\ncost = 2\n", "f")->front().cost_hundredths, 200U);
}

TEST(AgentProfile, OfTheLongestMatchWinsAndTheExactNameOverAll) {
  const auto profiles = *parse_agent_profiles(
      "[agent.\"*\"]\ncapacity = 1\n[agent.\"agent:*\"]\ncapacity = 2\n"
      "[agent.\"agent:cop*\"]\ncapacity = 3\n[agent.\"agent:cop-1*\"]\ncapacity = 4\n"
      "[agent.\"agent:cop-1\"]\ncapacity = 5\n",
      "f");
  const auto capacity_of = [&](const char* agent) {
    return profile_of(profiles, AgentId{agent}).capacity;
  };
  EXPECT_EQ(capacity_of("human:alice"), 1U);
  EXPECT_EQ(capacity_of("agent:other"), 2U);
  EXPECT_EQ(capacity_of("agent:cop"), 3U);
  EXPECT_EQ(capacity_of("agent:cop-11"), 4U);
  EXPECT_EQ(capacity_of("agent:cop-1"), 5U);
}

TEST(AgentProfile, IsTheDefaultForAnAgentThatNoneNames) {
  const auto profiles = *parse_agent_profiles("[agent.\"agent:a\"]\ncapacity = 9\n", "f");
  EXPECT_EQ(profile_of(profiles, AgentId{"agent:ab"}), AgentProfile{});
  EXPECT_EQ(profile_of({}, AgentId{"agent:ab"}), AgentProfile{});
}

TEST(AgentProfile, UnknownKeysNameTheLineAndTheNearestKey) {
  const Error error = error_in_member("\ncapabilites = []");
  EXPECT_EQ(error.kind, ErrorKind::usage);
  EXPECT_EQ(error.message, "agents.toml:3: a profile has no 'capabilites'");
  EXPECT_EQ(error.hint, "did you mean capabilities?");
  EXPECT_TRUE(contains(error_in_member("zzzzzzzzzzz = 1").hint, "economical"));
}

TEST(AgentProfile, WrongValuesSayWhatTheyMustBe) {
  const Error error = error_in_member("capacity = 0");
  EXPECT_EQ(error.message, "agents.toml:2: capacity cannot be that");
  EXPECT_EQ(error.hint, "it must be a whole number from 1 to 1000");
  for (const char* line :
       {"capacity = 1001", "capacity = 1.5", "capacity = \"1\"", "capacity = true", "cost = -0.1",
        "cost = 100.1", "cost = nan", "cost = inf", "cost = \"1\"", "cost = true", "economical = 1",
        "types = \"bug\"", "types = [1]", "types = [\"\"]", "capabilities = [[\"rust\"]]",
        R"(capabilities = ["a\u0007"])", "capabilities = {}"}) {
    EXPECT_TRUE(contains(error_in_member(line).message, "agents.toml:2: ")) << line;
  }
}

TEST(AgentProfile, MustNameAnAgentOrABeginning) {
  for (const char* name : {"", "copilot", "agent:", "a*b", "agent:**", "agent:a b", "Agent:a*"}) {
    const Error error = error_in(fmt::format("\n[agent.\"{}\"]\ncapacity = 1\n", name));
    EXPECT_TRUE(contains(error.message, "agents.toml:2: ")) << name;
    EXPECT_TRUE(contains(error.hint, "[agent.\"agent:copilot-*\"]")) << name;
  }
  EXPECT_TRUE(contains(error_in("[agent]\ncapacity = 1\n").message, "'capacity' names no agent"));
  EXPECT_TRUE(contains(error_in("\n[agents.a]\n").message, "agents.toml:2: 'agents' is no agent"));
  EXPECT_TRUE(contains(error_in("agent = 1\n").message, "agents.toml:1: "));
  EXPECT_TRUE(parse_agent_profiles("[agent.\"age*\"]\n[agent.\"agent:*\"]\n", "f"));
}

TEST(AgentProfile, BrokenFilesNameTheLine) {
  EXPECT_TRUE(contains(error_in("\n\n[agent.\n").message, "agents.toml:3: "));
  EXPECT_TRUE(
      contains(error_in("[agent.\"agent:a\"]\ncost = 1\n[agent.\"agent:a\"]\ncost = 2\n").message,
               "agents.toml:3: "));
}

TEST(AgentProfile, FilesAreBounded) {
  EXPECT_TRUE(
      contains(error_in(std::string(kAgentsFileBytesMax + 1, '\n')).message, "is too large"));
  std::string many;
  for (std::size_t agent = 0; agent <= kProfilesMax; ++agent) {
    many += fmt::format("[agent.\"agent:{}\"]\n", agent);
  }
  EXPECT_TRUE(contains(error_in(many).message, "more than 1000 agents"));
  std::string words = "types = [";
  for (std::size_t word = 0; word <= kProfileWordsMax; ++word) words += "\"a\",";
  EXPECT_TRUE(contains(error_in_member(words + "]").hint, "at most 100 words"));
}

}  // namespace
}  // namespace dibs
