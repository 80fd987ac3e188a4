// A title and a text below it: each is replaced without touching the other.
#include "items/headed_text.h"

#include <gtest/gtest.h>

#include "testing/any_item.h"

namespace dibs {
namespace {

using Above = HeadedText::Above;

std::string parts(const std::string& text, Above above = Above::nothing) {
  const HeadedText headed(text, above, "\n");
  return std::string(headed.title()) + "|" + std::string(headed.body());
}

TEST(HeadedText, FindsTitleAndBody) {
  EXPECT_EQ(parts("# Title\n\nBody\n"), "Title|Body\n");
  EXPECT_EQ(parts("# Title\nBody\n"), "Title|Body\n");
  EXPECT_EQ(parts("\n \n#  Title \r\n\r\n\r\nBody"), "Title|\r\nBody");
  EXPECT_EQ(parts("\xEF\xBB\xBF# Title"), "Title|");
  EXPECT_EQ(parts("Text\n# No title\n"), "|Text\n# No title\n");
  EXPECT_EQ(parts("## Lower\n"), "|## Lower\n");
  EXPECT_EQ(parts("# \nx"), "|# \nx");
  EXPECT_EQ(parts(""), "|");
  EXPECT_EQ(parts("\nx"), "|\nx");
  EXPECT_EQ(parts("\nx", Above::front_matter), "|x");
}

TEST(HeadedText, ChangesNothingButWhatItIsTold) {
  HeadedText text("\n#  Old  \r\nBody\n", Above::nothing, "\n");
  text.set_title("New");
  EXPECT_EQ(text.text(), "\n#  New  \r\nBody\n");
  text.set_body("Other", "New");
  EXPECT_EQ(text.text(), "\n#  New  \r\nOther");
}

TEST(HeadedText, MakesAHeadingWhereThereIsNone) {
  HeadedText text("Body\n", Above::nothing, "\n");
  text.set_title("T");
  EXPECT_EQ(text.text(), "# T\n\nBody\n");
  HeadedText below("Body\n", Above::front_matter, "\r\n");
  below.set_title("T");
  EXPECT_EQ(below.text(), "\r\n# T\r\n\r\nBody\n");
}

TEST(HeadedText, KeepsEveryTitleAndEveryBody) {
  EXPECT_PROPERTY(300, 20, [] {
    const std::string newline = *rc::gen::element<std::string>("\n", "\r\n");
    const Above above = *rc::gen::element(Above::nothing, Above::front_matter);
    const std::string start =
        *rc::gen::element<std::string>("", "# A\n", "# A", "# A\nx", "\n# A\n\nx");
    HeadedText text(start + any_body(), above, newline);
    const std::string title = any_word();
    text.set_title(title);
    const std::string body = *rc::gen::element<std::string>("", "# B\n", "\n\n# B") + any_body();
    text.set_body(body, title);
    const HeadedText again(text.text(), above, newline);
    RC_ASSERT(again.title() == title);
    RC_ASSERT(again.body() == body);
  });
}

}  // namespace
}  // namespace dibs
