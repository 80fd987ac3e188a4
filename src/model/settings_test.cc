#include "model/settings.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/text.h"

namespace dibs {
namespace {

Error error_in_settings(std::string_view toml) {
  const Result<std::vector<Assignment>> parsed = parse_settings(toml, "config.toml");
  EXPECT_FALSE(parsed) << toml;
  return parsed ? Error{} : parsed.error();
}

TEST(Settings, HaveTheirDefaults) {
  const Settings settings;
  EXPECT_EQ(settings.integer("coordination.default_ttl_secs"), 600);
  EXPECT_EQ(settings.text("worktree.mode"), "auto");
  EXPECT_FALSE(settings.boolean("store.allow_network_file_system"));
  EXPECT_EQ(settings.origin("worktree.mode"), "default");
}

TEST(Settings, DefaultsAreThemselvesValid) {
  std::set<std::string_view> keys;
  for (const SettingSpec& spec : setting_specs()) {
    EXPECT_TRUE(check_setting(spec.key, spec.fallback, "here")) << spec.key;
    EXPECT_TRUE(keys.insert(spec.key).second) << spec.key;
    EXPECT_FALSE(spec.meaning.empty());
  }
}

TEST(Settings, LaterSourcesWinAndKeepTheirOrigin) {
  Settings settings;
  settings.apply(*parse_settings("[worktree]\nmode = \"on\"\n", "first.toml"));
  settings.apply(*parse_settings("# a comment\n\n[worktree]\nmode = \"off\"\n", "second.toml"));
  EXPECT_EQ(settings.text("worktree.mode"), "off");
  EXPECT_EQ(settings.origin("worktree.mode"), "second.toml:4");
}

TEST(Settings, OfEveryTypeAreRead) {
  Settings settings;
  settings.apply(
      *parse_settings("[coordination]\ndefault_ttl_secs = 90\n[store]\n"
                      "allow_network_file_system = true\n[worktree]\nmode = \"off\"\n",
                      "f"));
  EXPECT_EQ(settings.integer("coordination.default_ttl_secs"), 90);
  EXPECT_TRUE(settings.boolean("store.allow_network_file_system"));
  EXPECT_EQ(settings.text("worktree.mode"), "off");
}

TEST(Settings, UnknownKeysNameTheLineAndTheNearestKey) {
  const Error error = error_in_settings("[coordination]\ndefault_ttl_sec = 90\n");
  EXPECT_EQ(error.kind, ErrorKind::usage);
  EXPECT_EQ(error.message, "config.toml:2: there is no setting 'coordination.default_ttl_sec'");
  EXPECT_EQ(error.hint, "did you mean coordination.default_ttl_secs?");
}

TEST(Settings, UnknownSectionsAndTopLevelKeysAreErrorsToo) {
  EXPECT_TRUE(contains(error_in_settings("[coordinaton]\nmax_retries = 1\n").hint,
                       "coordination.max_retries"));
  EXPECT_TRUE(contains(error_in_settings("\nttl = 5\n").message, "config.toml:2"));
  EXPECT_EQ(error_in_settings("[zzzzzzzzzzzzzzzzzz]\nqqqqqqqqq = 1\n").hint,
            "see all of them: dibs config list");
}

TEST(Settings, WrongTypesAndValuesSayWhatItMustBe) {
  const Error error = error_in_settings("[coordination]\ndefault_ttl_secs = \"600\"\n");
  EXPECT_EQ(error.message, "config.toml:2: coordination.default_ttl_secs cannot be '600'");
  EXPECT_EQ(error.hint, "it must be a whole number from 1 to 2592000");
  EXPECT_TRUE(
      contains(error_in_settings("[worktree]\nmode = \"sometimes\"\n").hint, "auto or on or off"));
  EXPECT_TRUE(contains(error_in_settings("[store]\nallow_network_file_system = 1\n").hint,
                       "true or false"));
  for (const char* value : {"-1", "0", "2592001", "1.5", "true", "[]", "{}", "2026-01-01"})
    EXPECT_EQ(
        error_in_settings("[coordination]\ndefault_ttl_secs = " + std::string(value) + "\n").kind,
        ErrorKind::usage)
        << value;
}

TEST(Settings, ANameCanLeadNowhereElse) {
  for (const char* good : {"origin", "up-stream", "team/origin", "refs/heads/dibs/", "a.b"})
    EXPECT_TRUE(check_setting("store.remote", good, "--remote")) << good;
  for (const char* bad : {"", "-o", "--upload-pack=x", "../x", "a/../b", ".hidden", "a/.b", "/abs",
                          "a//b", "a b", "ext::sh", "a\nb", "ü", "a:b", "$(x)"})
    EXPECT_FALSE(check_setting("store.remote", bad, "--remote")) << bad;
  EXPECT_FALSE(check_setting("store.remote", std::string(101, 'a'), "--remote"));
}

TEST(Settings, ASyntaxErrorNamesItsLine) {
  const Error error = error_in_settings("[worktree]\nmode = \n");
  EXPECT_TRUE(contains(error.message, "config.toml:")) << error.message;
  EXPECT_TRUE(is_printable(error.message));
  EXPECT_EQ(error_in_settings("\xff\xfe").kind, ErrorKind::usage);
  for (const char* text : {"[}", "[{c = ", "[[=", "[ ]", "a = ω", "ω = 1", "a = [1 ω]"})
    EXPECT_EQ(error_in_settings(text).kind, ErrorKind::usage) << text;
  EXPECT_TRUE(is_printable(error_in_settings("a = \"\x1b[31m\"").message));
}

TEST(Settings, HaveEnvironmentNames) {
  EXPECT_EQ(environment_name(*find_setting("coordination.default_ttl_secs")),
            "DIBS_COORDINATION_DEFAULT_TTL_SECS");
}

TEST(CheckSetting, GoesByTheSameTable) {
  EXPECT_EQ(check_setting("worktree.mode", "on", "x")->value, "on");
  EXPECT_EQ(check_setting("worktree.mood", "on", "x").error().hint, "did you mean worktree.mode?");
  EXPECT_FALSE(check_setting("coordination.max_retries", "-1", "x"));
  EXPECT_FALSE(check_setting("coordination.max_retries", "1e99", "x"));
  EXPECT_FALSE(check_setting("store.allow_network_file_system", "yes", "x"));
}

Result<std::string> set(std::string_view toml, const std::string& key, const std::string& value) {
  return with_setting(toml, *check_setting(key, value, "command line"), "config.toml");
}

TEST(WithSetting, WritesANewFile) {
  EXPECT_EQ(set("", "worktree.mode", "on"), "[worktree]\nmode = \"on\"\n");
  EXPECT_EQ(set("", "coordination.max_retries", "3"), "[coordination]\nmax_retries = 3\n");
}

TEST(WithSetting, KeepsCommentsAndOrder) {
  const std::string before =
      "# why\n[worktree]\n# about mode\nmode = \"on\"  # for now\n\n[coordination]\nmax_retries = "
      "3\n";
  EXPECT_EQ(set(before, "coordination.max_retries", "4"),
            "# why\n[worktree]\n# about mode\nmode = \"on\"  # for "
            "now\n\n[coordination]\nmax_retries = 4\n");
  EXPECT_EQ(
      set(before, "worktree.enforce_leases", "warn"),
      "# why\n[worktree]\nenforce_leases = \"warn\"\n# about mode\nmode = \"on\"  # for now\n\n"
      "[coordination]\nmax_retries = 3\n");
  EXPECT_EQ(set(before, "store.kind", "local"), before + "[store]\nkind = \"local\"\n");
}

TEST(WithSetting, KeepsTheCommentOnTheChangedLine) {
  EXPECT_EQ(set("[worktree]\nmode = \"on\"  # for now\n", "worktree.mode", "off"),
            "[worktree]\nmode = \"off\"  # for now\n");
}

TEST(WithSetting, ChangesNothingItCannotChangeSafely) {
  for (const char* odd :
       {"coordination = { max_retries = 1, default_ttl_secs = 5 }\n",
        "coordination.max_retries = 1\n", "[coordination] # mine\ndefault_ttl_secs = 5\n"}) {
    const Result<std::string> changed = set(odd, "coordination.max_retries", "4");
    if (!changed) {
      EXPECT_EQ(changed.error().kind, ErrorKind::refused) << odd;
      EXPECT_TRUE(contains(changed.error().hint, "max_retries = 4"));
      continue;
    }
    Settings before;
    Settings after;
    before.apply(*parse_settings(odd, "f"));
    after.apply(*parse_settings(*changed, "f"));
    EXPECT_EQ(after.integer("coordination.max_retries"), 4);
    EXPECT_EQ(after.integer("coordination.default_ttl_secs"),
              before.integer("coordination.default_ttl_secs"));
  }
}

TEST(WithSetting, DoesNotTouchAFileWithErrors) {
  EXPECT_FALSE(set("[worktree\n", "worktree.mode", "on"));
}

TEST(AgentFile, NamesTheAgentAndLeavesTheRestAlone) {
  EXPECT_EQ(*parse_agent_file("[agent]\nid = \"human:alice\"\nother = 1\n", "f"), "human:alice");
  EXPECT_EQ(*parse_agent_file("[mine]\nx = 1\n", "f"), std::nullopt);
  EXPECT_EQ(*parse_agent_file("", "f"), std::nullopt);
}

TEST(AgentFile, WithAWrongTypeNamesTheLine) {
  const auto parsed = parse_agent_file("[agent]\nid = 5\n", "agent.toml");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message, "agent.toml:2: agent.id must be a string");
}

}  // namespace
}  // namespace dibs
