// Objects that we write, read by git.
#include "git/loose_object.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "git/git_program.h"
#include "sys/programs.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

class LooseObjects : public testing::TestWithParam<ObjectFormat> {
 protected:
  LooseObjects() {
    const std::string format = GetParam() == ObjectFormat::sha1 ? "sha1" : "sha256";
    EXPECT_TRUE(run_git(temp_.path(), {"init", "-q", "--bare", "--object-format=" + format, "r"}));
  }
  std::string ask(std::vector<std::string> arguments, std::string_view input = {}) {
    const Result<std::string> out =
        git_.output_of({.git_dir = temp_ / "r", .arguments = std::move(arguments), .input = input},
                       ErrorKind::internal);
    EXPECT_TRUE(out) << out.error().message;
    return out.value_or("");
  }

  TempDirectory temp_;
  PosixPrograms programs_;
  GitProgram git_{programs_, [] { return std::vector<std::string>{"PATH=/usr/bin:/bin"}; }};
};

TEST_P(LooseObjects, AreWhatGitWouldHaveMadeOfTheSameContent) {
  for (const std::size_t size : {0UL, 1UL, 55UL, 64UL, 300UL, 65'527UL, 65'535UL, 200'000UL}) {
    std::string content(size, 'x');
    for (std::size_t i = 0; i < size; ++i) content[i] = static_cast<char>(i * 31 + i / 251);
    const LooseObject object = loose_object(GetParam(), "blob", content);
    EXPECT_EQ(object.name, trim(ask({"hash-object", "--stdin"}, content))) << size;
    make_directories(temp_ / "r/objects/" + object.name.substr(0, 2));
    write_bytes(temp_ / "r/objects/" + object.path(), object.bytes);
    EXPECT_EQ(ask({"cat-file", "blob", object.name}), content) << size;
  }
  (void)ask({"fsck", "--strict"});
}

INSTANTIATE_TEST_SUITE_P(Git, LooseObjects,
                         testing::Values(ObjectFormat::sha1, ObjectFormat::sha256));

}  // namespace
}  // namespace dibs
