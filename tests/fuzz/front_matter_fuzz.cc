// Markdown with front matter: what nobody changes keeps its bytes, and what is set is read back.
#include "fuzzing.h"
#include "items/front_matter.h"

namespace dibs::fuzz {

namespace {

void check_set(FrontMatter file, std::string_view key, const std::string& value) {
  if (!file.has_head()) file.add_head();
  const std::string body = file.body();
  file.set(key, value);
  must(file.scalar(key) == value, "a value that was set is there");
  const Result<FrontMatter> again = FrontMatter::parse(file.text());
  must(again.has_value(), "a file with a value set can be read");
  must(again->scalar(key) == value, "and has the value");
  must(again->body() == body, "and its body is untouched");
}

void check_list(FrontMatter file, std::string_view key, const std::vector<std::string>& entries) {
  if (!file.has_head()) file.add_head();
  file.set_list(key, entries);
  const Result<FrontMatter> again = FrontMatter::parse(file.text());
  must(again.has_value(), "a file with a list set can be read");
  must(again->list(key) == entries, "and has the list");
}

}  // namespace

void try_input(std::string_view input) {
  const Result<FrontMatter> file = FrontMatter::parse(input);
  if (!file) return;
  must(file->text() == input, "a file that nobody changes keeps its bytes");
  check_set(*file, "status", "Done");
  check_set(*file, "dibs_new", "it's: \"x\" # y");
  check_list(*file, "labels", {"a", "b c", "- d"});
  for (const FrontField& field : file->fields()) {
    FrontMatter less = *file;
    less.remove(field.key);
    must(less.find(field.key) == nullptr, "a key that was removed is gone");
    must(FrontMatter::parse(less.text()).has_value(), "a file without a key can be read");
  }
}

}  // namespace dibs::fuzz
