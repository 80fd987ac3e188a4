// Which item a path belongs to, and where an item belongs.
#include "items/folder_layout.h"

#include <gtest/gtest.h>

namespace dibs {
namespace {

const FolderLayout kLayout{Workflow::folders()};

// "category|state|name", with how the item lies there if it is no folder.
std::string seen(const std::optional<FolderPlace>& place) {
  if (!place) return "nothing";
  const std::string shape = place->shape == FolderPlace::Shape::file     ? " (file)"
                            : place->shape == FolderPlace::Shape::joined ? " (joined)"
                                                                         : "";
  return place->category + "|" + place->state + "|" + place->name + shape;
}

TEST(FolderLayout, FindsTheItemThatAFileBelongsTo) {
  const auto place = [](std::string_view path) { return seen(kLayout.place_of(path)); };
  EXPECT_EQ(place("new/lostmypassword/notes.md"), "|new|lostmypassword");
  EXPECT_EQ(place("new/lostmypassword.md"), "|new|lostmypassword (file)");
  EXPECT_EQ(place("features/next/a-1/README.md"), "features|next|a-1");
  EXPECT_EQ(place("features/next/a-1/deep/er/x.png"), "features|next|a-1");
  EXPECT_EQ(place("features/archive/production/a-1/x"), "features|archive/production|a-1");
  EXPECT_EQ(place("archive/production/a-1.md"), "|archive/production|a-1 (file)");
  EXPECT_EQ(place("pending-a-1/README.md"), "|pending|a-1 (joined)");
  EXPECT_EQ(place("features/pending-a-1/README.md"), "features|pending|a-1 (joined)");
  EXPECT_EQ(place("pending-things/next/a-1/README.md"), "pending-things|next|a-1");
  EXPECT_EQ(place("next/new/x.md"), "|next|new") << "a state comes before a category";
}

TEST(FolderLayout, PassesOverWhatIsNoPartOfAnItem) {
  for (const char* path : {"README.md", "notes.md", "next/.gitkeep", "next/README.md",
                           "next/notes.txt", "features/next/.gitkeep", "features/README.md",
                           ".hidden/next/a/x.md", "features/next/.draft/x.md"}) {
    EXPECT_EQ(seen(kLayout.place_of(path)), "nothing") << path;
    EXPECT_EQ(seen(kLayout.stray(path)), "nothing") << path;
  }
}

TEST(FolderLayout, NoticesWorkInAFolderThatIsNoState) {
  const auto stray = [](std::string_view path) { return seen(kLayout.stray(path)); };
  EXPECT_EQ(stray("features/nxet/a-1/README.md"), "features|nxet|a-1");
  EXPECT_EQ(stray("features/nxet/a-1.md"), "features|nxet|a-1 (file)");
  EXPECT_EQ(stray("nxet/a-1/README.md"), "|nxet|a-1");
  EXPECT_EQ(stray("nxet/a-1.md"), "|nxet|a-1 (file)");
  EXPECT_EQ(stray("features/archive/a-1/README.md"), "features|archive|a-1");
  EXPECT_EQ(stray("features/next/a-1/README.md"), "nothing");
}

TEST(FolderLayout, TheLongestStateWins) {
  const auto workflow = Workflow::parse(
      "initial = \"a\"\n[[state]]\nname = \"a\"\nkind = \"open\"\n"
      "[[state]]\nname = \"a/b\"\nkind = \"done\"\n",
      "w");
  ASSERT_TRUE(workflow) << workflow.error().message;
  const FolderLayout layout(*workflow);
  EXPECT_EQ(seen(layout.place_of("a/b/x/README.md")), "|a/b|x");
  EXPECT_EQ(seen(layout.place_of("a/c/README.md")), "|a|c");
}

TEST(FolderLayout, APlaceIsFoundWhereItsPathIs) {
  for (const char* path : {"new/a", "features/next/a", "features/archive/production/a", "pending-a",
                           "features/pending-a"}) {
    const auto place = kLayout.place_of(std::string(path) + "/README.md");
    ASSERT_TRUE(place) << path;
    EXPECT_EQ(place->path(), path);
  }
  EXPECT_EQ(kLayout.place_of("features/next/a.md")->path(), "features/next/a.md");
}

TEST(FolderLayout, ChoosesFoldersThatMeanTheSame) {
  EXPECT_EQ(kLayout.folder_for(""), "new");
  EXPECT_EQ(kLayout.folder_for("signedoff"), "signedoff");
  EXPECT_EQ(kLayout.folder_for("ready"), "next");
  EXPECT_EQ(kLayout.folder_for("done"), "archive/production");
  EXPECT_EQ(kLayout.folder_for("tested by: hand"), "pending");
  EXPECT_FALSE(kLayout.has_category("new"));
  EXPECT_FALSE(kLayout.has_category("stamped"));
  EXPECT_TRUE(kLayout.has_category("next"));
  EXPECT_EQ(kLayout.category_for("new features"), "new features");
  for (const char* type : {"task", "archive", "next", "a/b", ".git"})
    EXPECT_EQ(kLayout.category_for(type), "") << type;
  EXPECT_EQ(FolderLayout::name_for({"Fix login"}), "Fix login");
  EXPECT_EQ(FolderLayout::name_for({"a/b"}), "a_2fb");
  EXPECT_EQ(FolderLayout::name_for({".git"}).find('.'), std::string::npos);
}

}  // namespace
}  // namespace dibs
