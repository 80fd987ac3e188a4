// From words to a command: what is understood, and what is refused with which hint.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/help.h"

namespace dibs::cli {
namespace {

using Words = std::vector<std::string>;

Parsed parsed(const Words& words) {
  Result<Parsed> result = parse_arguments(words);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result.value_or(Parsed{});
}

Error refused(const Words& words) {
  const Result<Parsed> result = parse_arguments(words);
  EXPECT_FALSE(result);
  const Error error = result ? Error{} : result.error();
  EXPECT_EQ(error.kind, ErrorKind::usage);
  EXPECT_TRUE(is_printable(error.message)) << printable(error.message);
  EXPECT_FALSE(error.hint.empty()) << error.message;
  EXPECT_LT(error.message.size(), 500U);
  return error;
}

TEST(Arguments, NameACommandAndItsWords) {
  const Parsed p = parsed({"claim", "acquire", "42", "lock:x", "--ttl", "60", "--shared"});
  ASSERT_NE(p.command, nullptr);
  EXPECT_EQ(p.command->name, "claim acquire");
  EXPECT_EQ(p.args.words(), (Words{"42", "lock:x"}));
  EXPECT_EQ(p.args.number("--ttl"), 60);
  EXPECT_TRUE(p.args.has("--shared"));
  EXPECT_FALSE(p.args.has("--reason"));
  EXPECT_EQ(p.args.word(1), "lock:x");
  EXPECT_EQ(p.args.word(2), std::nullopt);
}

TEST(Arguments, TakeGlobalOptionsAnywhere) {
  for (const Words& words :
       std::vector<Words>{{"--json", "--agent-id", "agent:a", "claim", "release", "42"},
                          {"claim", "--json", "--agent-id", "agent:a", "release", "42"},
                          {"claim", "release", "42", "--json", "--agent-id", "agent:a"},
                          {"claim", "release", "--agent-id=agent:a", "42", "--json"},
                          {"--agent-id=agent:a", "claim", "--json", "release", "42"}}) {
    const Parsed p = parsed(words);
    ASSERT_NE(p.command, nullptr);
    EXPECT_EQ(p.command->name, "claim release");
    EXPECT_TRUE(p.args.has("--json"));
    EXPECT_EQ(p.args.text("--agent-id"), "agent:a");
    EXPECT_EQ(p.args.words(), (Words{"42"}));
  }
}

TEST(Arguments, AValueMayLookLikeACommandOrAnOption) {
  EXPECT_EQ(parsed({"-C", "claim", "claim", "list"}).args.text("-C"), "claim");
  EXPECT_EQ(parsed({"claim", "acquire", "42", "--reason", "--because"}).args.text("--reason"),
            "--because");
  EXPECT_EQ(parsed({"claim", "acquire", "42", "--reason=a=b"}).args.text("--reason"), "a=b");
  EXPECT_EQ(parsed({"claim", "acquire", "--", "--weird", "-x"}).args.words(),
            (Words{"--weird", "-x"}));
}

TEST(Arguments, TheLastOfARepeatedOptionCounts) {
  EXPECT_EQ(parsed({"claim", "acquire", "42", "--ttl", "1", "--ttl", "2"}).args.number("--ttl"), 2);
}

TEST(Arguments, WithoutACommandNameTheGroup) {
  EXPECT_EQ(parsed({}).command, nullptr);
  const Parsed group = parsed({"claim"});
  EXPECT_EQ(group.command, nullptr);
  EXPECT_EQ(group.group, "claim");
  EXPECT_TRUE(parsed({"--version"}).args.has("--version"));
}

TEST(Arguments, AskedForHelpNeedNothingElse) {
  EXPECT_TRUE(parsed({"claim", "acquire", "--help"}).args.has("--help"));
  EXPECT_TRUE(parsed({"claim", "acquire", "-h"}).args.has("-h"));
}

TEST(Arguments, WithAnUnknownCommandSuggestTheNearest) {
  EXPECT_EQ(refused({"claim", "aquire", "42"}).hint, "did you mean: dibs claim acquire");
  EXPECT_EQ(refused({"xyzzyxyzzyxyzzy"}).hint, "see the commands: dibs help");
  refused({std::string(10'240, 'x')});
  refused({"\x1b[31m"});
  refused({"not\xffutf8"});
}

TEST(Arguments, WithAnUnknownOptionSuggestTheNearest) {
  const Error error = refused({"claim", "acquire", "42", "--tll", "5"});
  EXPECT_EQ(error.message, "unknown option '--tll'");
  EXPECT_EQ(error.hint, "did you mean --ttl?");
  EXPECT_EQ(refused({"claim", "acquire", "42", "--jsn"}).hint, "did you mean --json?");
  EXPECT_EQ(refused({"claim", "acquire", "42", "--qqqqqqqqqqqqqqqqqq"}).hint,
            "see what there is: dibs claim acquire --help");
  refused({"claim", "acquire", "42", "-x"});
  refused({"claim", "acquire", "42", "--" + std::string(10'240, 'x')});
  refused({"claim", "acquire", "42", "--\x1b[31m"});
}

TEST(Arguments, OfLaterVersionsAreRefusedAsNotYetThere) {
  for (const char* option : {"--files", "--files=5"}) {
    EXPECT_TRUE(contains(refused({"claim", "acquire", "42", option, "5"}).message,
                         "is not available in this version"))
        << option;
  }
}

TEST(Arguments, WithNumbersOutOfBoundsSayWhichAreAllowed) {
  for (const char* value :
       {"-1", "1e99", "abc", "", "2592001", "99999999999999999999", "1.5", " 5", "0x10"}) {
    const Error error = refused({"claim", "acquire", "42", "--ttl", value});
    EXPECT_TRUE(contains(error.message, "--ttl cannot be")) << error.message;
    EXPECT_EQ(error.hint, "give a whole number from 0 to 2592000");
  }
  EXPECT_EQ(parsed({"claim", "acquire", "42", "--ttl", "2592000"}).args.number("--ttl"), 2'592'000);
  EXPECT_EQ(parsed({"claim", "acquire", "42", "--ttl", "0"}).args.number("--ttl"), 0);
  refused({"claim", "acquire", "42", "--pid", "0"});
  refused({"claim", "acquire", "42", "--max-retries", "1001"});
}

TEST(Arguments, WithAWrongChoiceSuggestTheNearest) {
  EXPECT_EQ(refused({"claim", "acquire", "42", "--strategy", "fail-fats"}).hint,
            "did you mean fail-fast?");
  EXPECT_EQ(parsed({"claim", "acquire", "42", "--strategy", "force"}).args.text("--strategy"),
            "force");
  refused({"--color", "sometimes", "claim", "list"});
}

TEST(Arguments, WithTooFewOrTooManyWordsSayWhich) {
  EXPECT_EQ(refused({"claim", "acquire"}).message, "RESOURCE is missing");
  EXPECT_EQ(refused({"claim", "release", "a", "b"}).message, "'b' is one word too many");
  Words many{"claim", "acquire"};
  for (int i = 0; i < 65; ++i) many.push_back(std::to_string(i));
  EXPECT_EQ(refused(many).message, "'64' is one word too many");
}

TEST(Arguments, WithAMissingOrNeedlessValueSayWhatToGive) {
  EXPECT_EQ(refused({"claim", "acquire", "42", "--ttl"}).message, "--ttl needs a value");
  EXPECT_EQ(refused({"claim", "acquire", "42", "--shared=false"}).message,
            "--shared takes no value");
  EXPECT_EQ(refused({"claim", "list", "--json=no"}).message, "--json takes no value");
}

// --- the table of commands ---

TEST(Commands, AreEachDescribedOnceWithAnExample) {
  std::set<std::string_view> names;
  for (const Command& command : commands()) {
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    EXPECT_NE(command.run, nullptr) << command.name;
    EXPECT_FALSE(command.summary.empty()) << command.name;
    EXPECT_FALSE(command.summary.ends_with('.')) << command.name;
    std::set<std::string_view> options;
    for (const Option& option : command.options) {
      EXPECT_TRUE(options.insert(option.name).second) << command.name << " " << option.name;
      EXPECT_EQ(option.takes == Takes::nothing, option.value.empty())
          << command.name << " " << option.name;
      EXPECT_FALSE(option.meaning.empty()) << command.name << " " << option.name;
      for (const Option& global : global_options())
        EXPECT_NE(option.name, global.name) << command.name;
    }
  }
}

TEST(Commands, AreAllInTheHelpAndInEveryCompletion) {
  const std::string overview = overview_text();
  for (const Command& command : commands()) {
    EXPECT_TRUE(contains(overview, command.name)) << command.name;
    for (const Option& option : command.options) {
      if (option.hidden) continue;
      EXPECT_TRUE(contains(help_text(command), option.name)) << option.name;
    }
  }
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = completion_script(shell);
    for (const Command& command : commands()) {
      const std::string_view last = command.name.substr(command.name.rfind(' ') + 1);
      EXPECT_TRUE(contains(script, last)) << shell << " " << command.name;
    }
    EXPECT_FALSE(contains(script, "--detached")) << "hidden";
  }
}

}  // namespace
}  // namespace dibs::cli
