#include "base/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "base/name_encoding.h"
#include "testing/property.h"

namespace dibs {
namespace {

// Code points as UTF-8, the other way round from the code under test.
std::string utf8(char32_t c) {
  const auto byte = [](char32_t value) {
    return static_cast<char>(static_cast<unsigned char>(value));
  };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xc0 | (c >> 6U)), byte(0x80 | (c & 0x3fU))};
  if (c < 0x10000)
    return {byte(0xe0 | (c >> 12U)), byte(0x80 | ((c >> 6U) & 0x3fU)), byte(0x80 | (c & 0x3fU))};
  return {byte(0xf0 | (c >> 18U)), byte(0x80 | ((c >> 12U) & 0x3fU)),
          byte(0x80 | ((c >> 6U) & 0x3fU)), byte(0x80 | (c & 0x3fU))};
}

TEST(Utf8, EveryCodePointIsReadBack) {
  for (char32_t c = 0; c <= 0x10ffff; c += c < 0x3000 ? 1 : 97) {
    if (c >= 0xd800 && c <= 0xdfff) continue;
    const std::string text = utf8(c);
    const auto point = decode_utf8(text + "rest");
    ASSERT_TRUE(point) << std::hex << static_cast<std::uint32_t>(c);
    ASSERT_EQ(point->value, c);
    ASSERT_EQ(point->length, text.size());
    ASSERT_TRUE(is_utf8(text));
  }
}

TEST(Utf8, RefusesOverlongFormsSurrogatesAndStrayBytes) {
  for (const char* bad :
       {"\xc0\xaf", "\xe0\x80\xaf", "\xf0\x80\x80\xaf", "\xc1\xbf", "\xed\xa0\x80", "\xed\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\x80", "\xff", "\xc3", "\xe2\x82",
        "\xf0\x9f\x98", "\xc3(", "ok\xfe"}) {
    EXPECT_FALSE(is_utf8(bad)) << printable(bad);
  }
}

TEST(Printable, LeavesOrdinaryTextAlone) {
  for (const char* text : {"", "plain text", "ünï ✓ 日本語 🙂", "quotes \" and \\ back"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_TRUE(is_printable(text));
  }
}

TEST(Printable, ShowsEscapeCodesBidiAndInvisibleCharacters) {
  EXPECT_EQ(printable("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\x0ab\\x09c\\x0dd");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\u0085"), "\\x85");
  EXPECT_EQ(printable("\u202egnp.exe"), "\\u202egnp.exe");
  EXPECT_EQ(printable("a\u200bb\u2066c\ufeff"), "a\\u200bb\\u2066c\\ufeff");
  EXPECT_EQ(printable("\U000e0041"), "\\u0e0041");
  EXPECT_EQ(printable("bad \xff byte"), "bad \\xff byte");
}

TEST(Printable, AnyBytesBecomeSafeText) {
  EXPECT_PROPERTY(300, 100, [](const std::string& bytes) {
    const std::string shown = printable(bytes);
    RC_ASSERT(is_printable(shown));
    RC_ASSERT(is_printable(bytes) == (shown == bytes));
  });
}

TEST(Hex, ComesBackAndRefusesWhatIsNone) {
  EXPECT_PROPERTY(200, 100,
                  [](std::uint32_t value) { RC_ASSERT(parse_hex32(hex32(value)) == value); });
  EXPECT_EQ(hex32(0x0000beefU), "0000beef");
  for (const char* bad : {"", "0", "000000000", "0000000g", "0000000A", "+0000001"})
    EXPECT_FALSE(parse_hex32(bad)) << bad;
}

TEST(ParseUnsigned, TakesDigitsAndNothingElse) {
  EXPECT_EQ(parse_unsigned("0"), 0U);
  EXPECT_EQ(parse_unsigned("18446744073709551615"), UINT64_MAX);
  for (const char* bad : {"", "-1", "+1", " 1", "1 ", "1e99", "abc", "0x10", "1.5",
                          "18446744073709551616", "99999999999999999999999"})
    EXPECT_FALSE(parse_unsigned(bad)) << bad;
}

TEST(Nearest, FindsTheWordThatATypoWasMeantToBe) {
  constexpr std::array<std::string_view, 4> kWords{"--ttl", "--shared", "--strategy", "--reason"};
  EXPECT_EQ(nearest("--tll", kWords), "--ttl");
  EXPECT_EQ(nearest("--share", kWords), "--shared");
  EXPECT_EQ(nearest("--stratgey", kWords), "--strategy");
  EXPECT_EQ(nearest("--reason", kWords), "--reason");
}

TEST(Nearest, SuggestsNothingFarFetched) {
  constexpr std::array<std::string_view, 2> kWords{"--ttl", "--shared"};
  EXPECT_FALSE(nearest("--completely-different", kWords));
  EXPECT_FALSE(nearest(std::string(10'000, 'x'), kWords));
  EXPECT_FALSE(nearest("--ttl", {}));
}

TEST(Search, AgreesWithStringView) {
  EXPECT_PROPERTY(300, 30, [] {
    const auto letters = rc::gen::container<std::string>(rc::gen::element('a', 'b', '\0'));
    const std::string text = *letters;
    const std::string part =
        *rc::gen::suchThat(letters, [](const std::string& s) { return s.size() < 4; });
    RC_ASSERT(contains(text, part) == (text.find(part) != std::string::npos));
    if (!part.empty()) RC_ASSERT(find_last(text, part) == std::string_view(text).rfind(part));
  });
}

TEST(Split, KeepsEmptyPartsAndTrimCutsBlanks) {
  EXPECT_EQ(split("a||b", '|'), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split("", '|'), (std::vector<std::string_view>{""}));
  EXPECT_EQ(split("a|", '|'), (std::vector<std::string_view>{"a", ""}));
  EXPECT_EQ(trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

// --- names for files and refs ---

bool is_safe_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kEncodedNameMax && std::ranges::all_of(name, allowed) &&
         name.find("..") == std::string_view::npos && !name.ends_with(".lock") &&
         name.front() != '.' && name.front() != '-' && name.back() != '.';
}

TEST(EncodeName, LeavesSimpleNamesReadable) {
  EXPECT_EQ(encode_name("42"), "42");
  EXPECT_EQ(encode_name("fix-login.2"), "fix-login.2");
}

TEST(EncodeName, EncodesEverythingThatIsDangerousSomewhere) {
  for (const char* id : {"..",       ".",       "../../etc/passwd",
                         "a/b",      "a.lock",  ".lock",
                         "x..y",     "@{",      "-rf",
                         "a\\b",     "a b",     "a\nb",
                         "\x1b[31m", "UPPER",   "con:",
                         "ü",        ".hidden", "end.",
                         "a*?[",     "~^:"}) {
    EXPECT_TRUE(is_safe_name(encode_name(id))) << id << " became " << encode_name(id);
  }
}

TEST(EncodeName, KeepsAnItemAndItsSubItemApart) {
  EXPECT_NE(encode_name("x"), encode_name("x/sub"));
  EXPECT_NE(encode_name("x_2fsub"), encode_name("x/sub"));
  EXPECT_NE(encode_name("A"), encode_name("a")) << "also where case is folded";
}

TEST(EncodeName, IsSafeAndKeepsDifferentIdsDifferent) {
  EXPECT_PROPERTY(500, 60, [] {
    const auto ids = rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::oneOf(
        rc::gen::element('a', 'A', '.', '-', '_', '/', 'h', '2', 'e', 'l', 'o', 'c', 'k'),
        rc::gen::arbitrary<char>())));
    const std::string one = *ids;
    const std::string two = *ids;
    RC_ASSERT(is_safe_name(encode_name(one)));
    RC_ASSERT((encode_name(one) == encode_name(two)) == (one == two));
  });
}

TEST(EncodeName, OfLongIdsIsBoundedAndStillDifferent) {
  std::set<std::string> names;
  for (const std::size_t length : {199U, 200U, 201U, 202U, 1000U, 10'000U}) {
    for (const char c : {'a', 'B', '/'}) {
      const std::string name = encode_name(std::string(length, c));
      EXPECT_TRUE(is_safe_name(name)) << length << c;
      EXPECT_TRUE(names.insert(name).second);
    }
  }
  EXPECT_NE(encode_name(std::string(10'000, 'a') + "b"),
            encode_name(std::string(10'000, 'a') + "c"));
}

}  // namespace
}  // namespace dibs
