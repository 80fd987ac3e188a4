// Items of every shape, for properties that must hold for all of them.
#pragma once

#include <string>

#include "base/json.h"
#include "model/item.h"
#include "testing/property.h"

namespace dibs {

// A word that an id, a label or a state may be.
[[nodiscard]] inline std::string any_word() {
  return *rc::gen::element<std::string>("a", "t7", "112", "85_2", "Fix login", "it's", "\"q\"",
                                        "x: y", "#1", "[b]", "-", "null", "true", "日本語", "open",
                                        "closed", "Ready", "Done", "a, b", "{c}", "back\\slash");
}

[[nodiscard]] inline std::string any_body() {
  return *rc::gen::element<std::string>("", "\n", "text", "text\n", "\n\ntwo", "---\na: 1\n---\n",
                                        "a\r\nb\r\n", "\r\n", "\ttab \"q\" \\ \x01", "日本語\n");
}

[[nodiscard]] inline std::vector<std::string> any_words() {
  std::vector<std::string> words;
  for (int i = 0; i < *any_in(0, 4); ++i) words.push_back(any_word() + std::to_string(i));
  return words;
}

// The third millennium so far, to the millisecond.
[[nodiscard]] inline std::int64_t any_time() {
  return *rc::gen::element<std::int64_t>(0, 1) == 0
             ? *any_in<std::int64_t>(1'000'000'000'000, 1'800'000'000'000)
             : *any_in<std::int64_t>(0, 30'000'000) * 60'000;
}

// In the form that a file gives them back.
[[nodiscard]] inline std::string any_unknown_members() {
  JsonObject members;
  for (const char* name : {"status", "assignee", "severity", "dibs", "depends", "é", "notes"}) {
    if (*any_in(0, 3) > 0) continue;
    members.add_raw(name, *rc::gen::element<std::string>("1", "\"text\"", "null", R"(["a","b"])",
                                                         R"({"level":3})", R"("x: 'y'\n")", "1.5"));
  }
  return std::string(members.members());
}

[[nodiscard]] inline Item any_item() {
  Item item;
  item.id = {any_word()};
  item.title = any_word();
  item.body = any_body();
  item.state =
      *rc::gen::element<std::string>("", "ready", "backlog", "in_progress", "in_review", "done",
                                     "rejected", "pending", "open", "Folded", "tested by: hand");
  item.priority = *any_in(0, 5);
  item.labels = any_words();
  for (const std::string& word : any_words()) item.depends_on.push_back({word});
  if (*rc::gen::arbitrary<bool>()) item.depends_on.push_back({any_word()});
  item.files = any_words();
  if (*rc::gen::arbitrary<bool>()) item.estimate_min = *any_in<std::int64_t>(1, 2000);
  item.type = any_word();
  item.created_unix_ms = any_time();
  item.updated_unix_ms = any_time();
  item.created_by = *rc::gen::element<std::string>("", "human:alice", "a b");
  item.came_from = *rc::gen::element<std::string>("", "ready");
  item.tries = *any_in<std::int64_t>(0, 4);
  for (int i = 0; i < *any_in(0, 3); ++i)
    item.comments.push_back({.by = any_word(), .unix_ms = any_time(), .text = any_body()});
  item.unknown_members = any_unknown_members();
  return item;
}

}  // namespace dibs
