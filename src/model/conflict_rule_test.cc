#include "model/conflict_rule.h"

#include <gtest/gtest.h>

#include "model/settings.h"

namespace dibs {
namespace {

constexpr std::string_view kRules = R"(
[[conflicts]]
paths = "docs/**"
strategy = "ours"
[[conflicts]]
paths = ["*.lock", "!my.lock"]
strategy = "auto"
resolver = "union"
)";

std::string rule_refusal(std::string_view text) {
  const Result<std::vector<ConflictRule>> rules = parse_conflict_rules(text, "config.toml");
  return rules ? "" : rules.error().message;
}

TEST(ConflictRules, AreReadInTheirOrder) {
  const Result<std::vector<ConflictRule>> rules = parse_conflict_rules(kRules, "config.toml");
  ASSERT_TRUE(rules) << rules.error().message;
  ASSERT_EQ(rules->size(), 2U);
  EXPECT_EQ(rules->front().strategy, ConflictStrategy::ours);
  EXPECT_TRUE(rules->front().paths.matches("docs/a/b"));
  EXPECT_EQ(name_of(rules->back().strategy), "auto");
  EXPECT_EQ(rules->back().resolver, "union");
  EXPECT_EQ(rules->back().origin, "config.toml:5");
  EXPECT_TRUE(rules->back().paths.matches("a.lock"));
  EXPECT_FALSE(rules->back().paths.matches("my.lock"));
}

TEST(ConflictRules, AreNoSettings) {
  const Result<std::vector<Assignment>> settings = parse_settings(kRules, "config.toml");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_TRUE(settings->empty());
}

TEST(ConflictRules, SayWhatIsWrongAndWhere) {
  EXPECT_EQ(rule_refusal("[[conflicts]]\nstrategy = \"ours\"\n"),
            "config.toml:1: a rule for conflicts has no paths");
  EXPECT_EQ(rule_refusal("[[conflicts]]\npaths = \"x\"\nstrategy = \"auto\"\n"),
            "config.toml:1: a rule for conflicts is auto and names no resolver");
  EXPECT_EQ(rule_refusal("[[conflicts]]\npaths = \"x\"\nresolver = \"a\"\n"),
            "config.toml:1: a rule for conflicts names a resolver and is not auto");
  EXPECT_EQ(rule_refusal("[[conflicts]]\npaths = \"../x\"\n"),
            "config.toml:2: paths cannot be that");
  EXPECT_EQ(rule_refusal("[[conflicts]]\npath = \"x\"\n"),
            "config.toml:2: a rule for conflicts has no 'path'");
  EXPECT_EQ(rule_refusal("conflicts = [1]\n"), "config.toml:1: this is no rule for conflicts");
}

}  // namespace
}  // namespace dibs
