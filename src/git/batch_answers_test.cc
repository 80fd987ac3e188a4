#include "git/batch_answers.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "testing/property.h"

namespace dibs {
namespace {

std::string answer_of(std::string_view text) {
  return fmt::format("{:040x} blob {}\n{}\n", text.size(), text.size(), text);
}

struct Heard {
  std::vector<std::string> texts;  // "-" where it was too large
  Done end;
};

// As a pipe hands it over: in pieces of any length.
Heard hear(std::string_view all, std::size_t asked, std::uint64_t most_bytes,
           const std::vector<std::size_t>& pieces) {
  Heard heard;
  const AnswersAsTheyCome::Each each = [&](const ObjectText& object) {
    EXPECT_EQ(object.number, heard.texts.size());
    heard.texts.emplace_back(object.text.value_or("-"));
  };
  AnswersAsTheyCome answers(most_bytes, each);
  std::string out;
  for (std::size_t i = 0; !all.empty(); ++i) {
    const std::size_t bytes =
        i < pieces.size() ? std::min(all.size(), pieces[i] % 50 + 1) : all.size();
    out += all.substr(0, bytes);
    all.remove_prefix(bytes);
    answers.take(out);
  }
  heard.end = answers.ended(asked);
  return heard;
}

TEST(AnswersAsTheyCome, AreTheSameInWhateverPiecesTheyCome) {
  EXPECT_PROPERTY(
      300, 100, [](const std::vector<std::string>& texts, const std::vector<std::size_t>& pieces) {
        const std::uint64_t most_bytes = *any_in<std::uint64_t>(0, 60);
        std::string all;
        std::vector<std::string> expected;
        for (const std::string& text : texts) {
          all += answer_of(text);
          expected.push_back(text.size() > most_bytes ? "-" : text);
        }
        const Heard heard = hear(all, texts.size(), most_bytes, pieces);
        RC_ASSERT(heard.end.has_value());
        RC_ASSERT(heard.texts == expected);
      });
}

TEST(AnswersAsTheyCome, MustAllCome) {
  const std::string two = answer_of("one") + answer_of("other");
  EXPECT_TRUE(hear(two, 2, 10, {}).end);
  EXPECT_FALSE(hear(two, 3, 10, {}).end);
  for (std::size_t bytes = 0; bytes < two.size(); ++bytes)
    EXPECT_FALSE(hear(two.substr(0, bytes), 2, 10, {}).end) << bytes;
  EXPECT_FALSE(hear(two.substr(0, two.size() - 3), 2, 3, {}).end) << "of what is skipped too";
}

TEST(AnswersAsTheyCome, SayWhatGitLacks) {
  const Heard heard = hear(answer_of("one") + "abc missing\n" + answer_of("two"), 3, 10, {});
  ASSERT_FALSE(heard.end);
  EXPECT_EQ(heard.end.error().message, "git lacks an object that it should have");
  EXPECT_EQ(heard.texts, std::vector<std::string>{"one"});
  EXPECT_FALSE(hear("what\nis this\n", 1, 10, {}).end);
}

}  // namespace
}  // namespace dibs
