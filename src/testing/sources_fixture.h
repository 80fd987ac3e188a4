// A repository with files that are items, and what tests of sources do to it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "items/aitasks_source.h"
#include "items/beads_source.h"
#include "items/folders_source.h"
#include "items/tree_source.h"
#include "sys/local_time.h"
#include "sys/posix_file_system.h"
#include "testing/temp_directory.h"

namespace dibs {

inline constexpr std::int64_t kNow = 1'770'000'000'000;

class Sources : public testing::Test {
 protected:
  Sources() { EXPECT_TRUE(make_repository(top())); }

  [[nodiscard]] std::string top() const { return temp_ / "repo"; }
  [[nodiscard]] SourceSite site() {
    return {.files = files_,
            .git = git_,
            .git_dir = top() + "/.git",
            .work_tree = top(),
            .lock_file = top() + "/.git/items.lock"};
  }
  void put(const std::string& path, std::string_view text) {
    const std::string whole = top() + "/" + path;
    make_directories(whole.substr(0, whole.rfind('/')));
    write_bytes(whole, text);
  }
  [[nodiscard]] std::string get(const std::string& path) const {
    return read_bytes(top() + "/" + path);
  }
  void commit(const std::string& message) {
    EXPECT_TRUE(run_git(top(), {"add", "-A"}));
    EXPECT_TRUE(run_git(top(), {"commit", "-q", "-m", message}));
  }

  std::string git(std::vector<std::string> words) {
    const Result<std::string> out =
        git_.output_of({.git_dir = top() + "/.git", .arguments = std::move(words), .input = {}},
                       ErrorKind::internal);
    EXPECT_TRUE(out) << (out ? "" : out.error().message);
    return out.value_or("");
  }

  static ItemList all(ItemSource& source) {
    Result<ItemList> list = source.read_all();
    EXPECT_TRUE(list) << (list ? "" : list.error().message);
    return list.value_or(ItemList{});
  }
  static StoredItem one(ItemSource& source, const std::string& id) {
    const auto stored = source.read({{id}});
    EXPECT_TRUE(stored && stored->size() == 1) << id;
    return stored && !stored->empty() ? stored->front() : StoredItem{};
  }
  static ItemSource::Batch batch(std::vector<ItemSource::Change> changes) {
    return {.changes = std::move(changes),
            .author = {"human:alice"},
            .message = "change",
            .unix_ms = kNow};
  }
  // What write() said: "written", "moved", or the error.
  static std::string write(ItemSource& source, std::vector<ItemSource::Change> changes) {
    const Result<bool> written = source.write(batch(std::move(changes)));
    if (!written) return written.error().message;
    return *written ? "written" : "moved";
  }
  static std::string change(ItemSource& source, const std::string& id, void (*edit)(Item&)) {
    StoredItem stored = one(source, id);
    edit(stored.item);
    return write(source, {{.item = stored.item, .expected = stored.version}});
  }
  static std::vector<std::string> broken_in(const ItemList& list) {
    std::vector<std::string> lines;
    for (const BrokenItem& broken : list.broken)
      lines.push_back(broken.file + ":" + std::to_string(broken.line) + " [" + broken.id.text +
                      "] " + broken.why);
    return lines;
  }
  static std::vector<std::string> ids_in(const ItemList& list) {
    std::vector<std::string> ids;
    for (const StoredItem& stored : list.items) ids.push_back(stored.item.id.text);
    return ids;
  }
  static Item fresh(const std::string& id, const std::string& title) {
    Item item;
    item.id = {id};
    item.title = title;
    item.state = "ready";
    item.created_unix_ms = item.updated_unix_ms = kNow;
    return item;
  }

  TempDirectory temp_;
  PosixFileSystem files_;
  PosixPrograms programs_;
  GitProgram git_{programs_, [] { return std::vector<std::string>{"PATH=/usr/bin:/bin"}; }};
};

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  EXPECT_NE(text.find(from), std::string::npos) << from;
  return text.replace(text.find(from), from.size(), to);
}

using Texts = std::vector<std::string>;

}  // namespace dibs
