#include "items/beads_line_merge.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "items/beads_line.h"
#include "items/foreign_merge.h"
#include "items/foreign_words.h"
#include "items/keyed_merge.h"

namespace dibs {

namespace {

// A value in one normal form: blanks make no difference.
std::optional<std::string> value_in(const JsonLine& line, const std::string& name) {
  const auto found = line.json().find(name);
  return found == line.json().end() ? std::nullopt : std::optional(found->dump());
}

bool has(const Json& list, const Json& entry) {
  return std::ranges::find(list, entry) != list.end();
}

// Two entries that say the same thing at another time: who depends on what, and how.
bool is_alike(const Json& one, const Json& other) {
  const auto on = text_member(one, "depends_on_id");
  return on && on == text_member(other, "depends_on_id") &&
         text_member(one, "type") == text_member(other, "type");
}

Json list_in(const JsonLine& line, const std::string& name) {
  const auto found = line.json().find(name);
  return found != line.json().end() && found->is_array() ? *found : Json::array();
}

// What neither took away and what either added.
std::string merged_entries(const Json& base, const Json& ours, const Json& theirs) {
  JsonArray merged;
  for (const Json& entry : ours) {
    const bool taken_away = has(base, entry) && !has(theirs, entry);
    if (!taken_away) merged.add_raw(entry.dump());
  }
  for (const Json& entry : theirs) {
    const bool in_ours = std::ranges::any_of(
        ours, [&](const Json& own) { return own == entry || is_alike(own, entry); });
    if (!in_ours && !has(base, entry)) merged.add_raw(entry.dump());
  }
  return merged.text();
}

std::int64_t updated_unix_ms(const JsonLine& line) {
  const auto text = text_member(line.json(), "updated_at");
  return text ? parse_any_rfc3339(*text).value_or(0) : 0;
}

class LineMerge {
 public:
  LineMerge(const JsonLine& base, const JsonLine& ours, const JsonLine& theirs, Side preferred)
      : base_(base), ours_(ours), theirs_(theirs), preferred_(preferred), text_(ours) {}

  MergedLine run() {
    for (const auto& [name, value] : ours_.json().items()) merge(name);
    for (const auto& [name, value] : theirs_.json().items()) {
      if (!ours_.raw(name)) merge(name);
    }
    return {.text = text_.text(), .clashes = std::move(clashes_)};
  }

 private:
  [[nodiscard]] Settled settled(const std::string& name) const {
    return settle(value_in(base_, name), value_in(ours_, name), value_in(theirs_, name));
  }

  void merge(const std::string& name) {
    // The time of closing belongs to the status.
    const bool goes_along = name == "closed_at" && settled("status") == Settled::clash;
    const Settled how = goes_along ? Settled::clash : settled(name);
    if (how == Settled::theirs) take_theirs(name);
    if (how == Settled::clash) decide(name);
  }

  void take_theirs(const std::string& name) {
    const auto raw = theirs_.raw(name);
    raw ? text_.set(name, *raw) : text_.remove(name);
  }

  void decide(const std::string& name) {
    if (name == "dependencies" || name == "comments")
      return text_.set(
          name, merged_entries(list_in(base_, name), list_in(ours_, name), list_in(theirs_, name)));
    // What the item's rules make of it comes afterwards; the later one is nearly always it.
    const bool is_read = BeadsLine::is_read(name);
    const bool theirs_is_later = updated_unix_ms(theirs_) > updated_unix_ms(ours_);
    if (is_read ? theirs_is_later : preferred_ == Side::theirs) take_theirs(name);
    if (!is_read) clashes_.push_back(name);
  }

  const JsonLine& base_;
  const JsonLine& ours_;
  const JsonLine& theirs_;
  Side preferred_;
  JsonLine text_;
  std::vector<std::string> clashes_;
};

}  // namespace

Result<MergedLine> merge_beads_lines(const LineVersions& lines, Side preferred) {
  const Result<BeadsLine> base = BeadsLine::parse(lines.base.value_or("{}"));
  if (!base) return fail(base.error());
  const Result<BeadsLine> ours = BeadsLine::parse(lines.ours);
  if (!ours) return fail(ours.error());
  const Result<BeadsLine> theirs = BeadsLine::parse(lines.theirs);
  if (!theirs) return fail(theirs.error());
  MergedLine merged = LineMerge(base->json(), ours->json(), theirs->json(), preferred).run();
  Result<BeadsLine> text = BeadsLine::parse(merged.text);
  if (!text) return fail(text.error());
  const ForeignVersions versions{
      .base = lines.base ? &*base : nullptr, .ours = *ours, .theirs = *theirs};
  if (Done meant = merge_meanings(*text, versions); !meant) return fail(meant.error());
  merged.text = text->text();
  return merged;
}

}  // namespace dibs
