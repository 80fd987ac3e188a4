#include "model/configured.h"

#include <gtest/gtest.h>

#include "model/settings.h"

namespace dibs {
namespace {

constexpr std::string_view kAll = R"(
[gates.test]
command = "make test"
timeout = 30
required = false
[gates.lint]
command = ["lint", "a b"]
stage = "precheck"
[gates.review]
manual = true
[workers.fast]
command = ["agent"]
count = 4
labels = ["small"]
model = "small-1"
cost = 0.5
capacity = 2
[resolvers.union]
command = "merge-lines"
)";

Configured parsed(std::string_view text, ConfigSource source = ConfigSource::committed) {
  const Result<Configured> configured = parse_configured(text, "config.toml", source);
  EXPECT_TRUE(configured) << configured.error().message;
  return configured.value_or(Configured{});
}

std::string refusal_of(std::string_view text) {
  const Result<Configured> configured =
      parse_configured(text, "config.toml", ConfigSource::committed);
  return configured ? "" : configured.error().message;
}

TEST(Configured, ReadsGatesByName) {
  const Configured all = parsed(kAll);
  ASSERT_EQ(all.gates.size(), 3U);
  EXPECT_EQ(all.gates[0].command.name, "lint");
  EXPECT_EQ(all.gates[0].command.words, (std::vector<std::string>{"lint", "a b"}));
  EXPECT_EQ(all.gates[0].stage, GateStage::precheck);
  EXPECT_TRUE(all.gates[0].required);
  EXPECT_TRUE(all.gates[1].manual);
  EXPECT_EQ(all.gates[2].command.words, (std::vector<std::string>{"/bin/sh", "-c", "make test"}));
  EXPECT_EQ(all.gates[2].command.origin, "config.toml:2");
  EXPECT_EQ(all.gates[2].timeout_secs, 30);
  EXPECT_FALSE(all.gates[2].required);
}

TEST(Configured, ReadsWorkersAndResolvers) {
  const Configured all = parsed(kAll);
  ASSERT_EQ(all.workers.size(), 1U);
  EXPECT_EQ(all.workers[0].count, 4);
  EXPECT_EQ(all.workers[0].labels, std::vector<std::string>{"small"});
  EXPECT_EQ(all.workers[0].model, "small-1");
  EXPECT_EQ(all.workers[0].cost_hundredths, 50U);
  EXPECT_EQ(all.workers[0].capacity, 2);
  ASSERT_EQ(all.resolvers.size(), 1U);
}

TEST(Configured, AreNoSettingsAndDoNotStopSettingsFromBeingRead) {
  const Result<std::vector<Assignment>> settings =
      parse_settings(std::string(kAll) + "[landing]\nmode = \"squash\"\n", "config.toml");
  ASSERT_TRUE(settings) << settings.error().message;
  ASSERT_EQ(settings->size(), 1U);
  EXPECT_EQ(settings->front().key, "landing.mode");
}

TEST(Configured, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refusal_of("[gates.a]\ncomand = \"x\"\n"), "config.toml:2: a gate has no 'comand'");
  EXPECT_EQ(refusal_of("[gates.a]\ntimeout = 0\n"), "config.toml:2: timeout cannot be that");
  EXPECT_EQ(refusal_of("[gates.a]\nrequired = true\n"), "config.toml:1: the gate a has no command");
  EXPECT_EQ(refusal_of("[gates.a]\ncommand = \"x\"\nmanual = true\n"),
            "config.toml:1: the gate a is manual and has a command");
  EXPECT_EQ(refusal_of("[gates.a]\ncommand = []\n"), "config.toml:2: command cannot be that");
  EXPECT_EQ(refusal_of("[gates.a]\ncommand = \" \"\n"), "config.toml:2: command cannot be that");
  EXPECT_EQ(refusal_of("[gates.a]\ncommand = \"a\\u0000b\"\n"),
            "config.toml:2: command cannot be that");
  EXPECT_EQ(refusal_of("[gates.\"a/b\"]\ncommand = \"x\"\n"),
            "config.toml:1: 'a/b' cannot be the name of a gate");
  EXPECT_EQ(refusal_of("[workers.a]\ncount = 1\n"), "config.toml:1: the worker a has no command");
  EXPECT_EQ(refusal_of("[workers.a]\ncommand = \"x\"\ncost = nan\n"),
            "config.toml:3: cost cannot be that");
}

TEST(Configured, TheStrongerFileReplacesWhatHasTheSameName) {
  Configured all = parsed(kAll);
  overlay(all, parsed("[gates.test]\ncommand = \"true\"\n[gates.zz]\nmanual = true\n",
                      ConfigSource::clone));
  ASSERT_EQ(all.gates.size(), 4U);
  EXPECT_EQ(all.gates[2].command.source, ConfigSource::clone);
  EXPECT_EQ(all.gates[2].command.words.back(), "true");
  EXPECT_EQ(all.workers.size(), 1U);
}

TEST(Configured, RulesOfTheStrongerFileComeFirst) {
  Configured all = parsed("[[conflicts]]\npaths = \"x\"\nstrategy = \"ours\"\n");
  overlay(all, parsed("[[conflicts]]\npaths = \"x\"\n", ConfigSource::clone));
  ASSERT_EQ(all.conflicts.size(), 2U);
  EXPECT_EQ(all.conflicts.front().strategy, ConflictStrategy::manual);
}

TEST(Fingerprint, ChangesWithEveryWordAndWithWhoseItIs) {
  const ConfiguredCommand base{.kind = "gate", .name = "a", .words = {"x", "y z"}, .origin = "f:1"};
  ConfiguredCommand moved = base;
  moved.origin = "f:9";
  EXPECT_EQ(fingerprint(base), fingerprint(moved));
  ConfiguredCommand other = base;
  other.words = {"x", "y", "z"};
  EXPECT_NE(fingerprint(base), fingerprint(other));
  other = base;
  other.kind = "worker";
  EXPECT_NE(fingerprint(base), fingerprint(other));
  other = base;
  other.name = "b";
  EXPECT_NE(fingerprint(base), fingerprint(other));
}

}  // namespace
}  // namespace dibs
