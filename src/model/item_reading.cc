// An item read from its JSON, member by member. Without a tree, because a first look at a hundred
// thousand items is mostly this.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "base/time.h"
#include "model/item.h"

namespace dibs {

namespace {

class ItemReader {
 public:
  explicit ItemReader(std::string_view text) : text_(text), json_(text) {}

  Result<Item> read() {
    if (json_.next() != '{' && json_.pass_over() && json_.end())
      return fail(ErrorKind::refused, "it is not a JSON object");
    const bool whole =
        json_.members([this](std::string_view name) { return member(name); }) && json_.end();
    if (!whole) return fail(ErrorKind::refused, problem());
    if (unknown_) item_.unknown_members = unknown_->members();
    if (Done checked = check_item(item_); !checked) return fail(checked.error());
    return std::move(item_);
  }

 private:
  // JSON that is not well-formed comes first: whoever edits the file has to mend that anyway.
  [[nodiscard]] std::string problem() const {
    if (wrong_.empty()) return json_.error().message;
    const Result<Json> all = parse_json(text_);
    return all ? wrong_ : all.error().message;
  }

  // Every one takes the value that comes next, or says no.
  using Take = bool (ItemReader::*)();
  struct Member {
    std::string_view name;
    Take take;
  };
  static const std::array<Member, 19> kMembers;

  // Files have their members in one order, so the one after the last is tried first.
  bool member(std::string_view name) {
    if (next_ == kMembers.size() || kMembers[next_].name != name) {
      const auto found = std::ranges::find(kMembers, name, &Member::name);
      if (found == kMembers.end()) return unknown(std::string(name));
      next_ = static_cast<std::size_t>(found - kMembers.begin());
    }
    const Member& known = kMembers[next_];
    if (!note(1U << next_)) return false;
    ++next_;
    name_ = known.name;
    return (this->*known.take)();
  }

  bool note(std::uint32_t bit) {
    if ((seen_ & bit) != 0) return json_.stop("a key stands in it twice");
    seen_ |= bit;
    return true;
  }

  bool unknown(std::string name) {
    if (std::ranges::find(unknown_names_, name) != unknown_names_.end())
      return json_.stop("a key stands in it twice");
    if (unknown_names_.size() >= kJsonMembersMax)
      return json_.stop("an object has too many members");
    Json value;
    if (!json_.value(value)) return false;
    if (!unknown_) unknown_.emplace();
    unknown_->add_raw(name, value.dump());
    unknown_names_.push_back(std::move(name));
    return true;
  }

  bool wrong(std::string_view what) {
    wrong_ = fmt::format("{} {}", name_, what);
    return false;
  }

  bool id() { return json_.next() == '"' ? json_.string(item_.id.text) : json_.pass_over(); }

  template <std::string Item::* kMember>
  bool text() {
    return json_.next() == '"' ? json_.string(item_.*kMember) : wrong("is not text");
  }

  template <std::int64_t Item::* kMember>
  bool time() {
    std::string_view text;
    if (json_.next() == '"' && !json_.text(text)) return false;
    const std::optional<std::int64_t> time = parse_rfc3339(text);
    if (!time) return wrong("is no time like 2026-01-31T12:00:00Z");
    item_.*kMember = *time;
    return true;
  }

  // Of texts, or of ids.
  template <class Word, std::vector<Word> Item::* kMember>
  bool words() {
    constexpr const char* kNoTexts = "is not a list of texts";
    if (json_.next() != '[') return wrong(kNoTexts);
    return json_.elements([this] {
      std::string_view word;
      if (json_.next() != '"') return wrong(kNoTexts);
      if (!json_.text(word)) return false;
      (item_.*kMember).push_back(Word{std::string(word)});
      return true;
    });
  }

  bool whole_number(std::int64_t& out, std::string_view otherwise) {
    Json value;
    if (!json_.value(value)) return false;
    const bool is_whole = value.is_number_integer() &&
                          (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
    if (!is_whole) return wrong(otherwise);
    out = value.get<std::int64_t>();
    return true;
  }

  bool priority() {
    const std::string range = fmt::format("is not 0 to {}", kPriorityLeast);
    std::int64_t priority = 0;
    if (!whole_number(priority, range)) return false;
    if (priority < 0 || priority > kPriorityLeast) return wrong(range);
    item_.priority = static_cast<int>(priority);
    return true;
  }

  bool estimate() { return whole_number(item_.estimate_min.emplace(), "is not a number"); }
  bool tries() { return whole_number(item_.tries, "is not a number"); }

  bool comments() {
    Json value;
    if (!json_.value(value)) return false;
    if (!value.is_array()) return wrong("is not a list");
    for (const Json& entry : value) {
      const auto text = text_member(entry, "text");
      const auto at = parse_rfc3339(text_member(entry, "at").value_or(""));
      if (!text || !at) {
        wrong_ = "a comment lacks its text or its time";
        return false;
      }
      item_.comments.push_back(
          {.by = text_member(entry, "by").value_or(""), .unix_ms = *at, .text = *text});
    }
    return true;
  }

  bool shortened() {
    item_.is_shortened = true;
    return json_.pass_over();
  }
  bool pass_over() { return json_.pass_over(); }

  std::string_view text_;
  JsonReader json_;
  Item item_;
  std::size_t next_ = 0;        // of kMembers
  std::uint32_t seen_ = 0;      // a bit for each of them
  std::string_view name_ = {};  // of the member at hand
  std::optional<JsonObject> unknown_;
  std::vector<std::string> unknown_names_;
  std::string wrong_;
};

const std::array<ItemReader::Member, 19> ItemReader::kMembers{{
    {"schema_version", &ItemReader::pass_over},
    {"id", &ItemReader::id},
    {"title", &ItemReader::text<&Item::title>},
    {"body", &ItemReader::text<&Item::body>},
    {"state", &ItemReader::text<&Item::state>},
    {"priority", &ItemReader::priority},
    {"labels", &ItemReader::words<std::string, &Item::labels>},
    {"depends_on", &ItemReader::words<ItemId, &Item::depends_on>},
    {"files", &ItemReader::words<std::string, &Item::files>},
    {"estimate_min", &ItemReader::estimate},
    {"type", &ItemReader::text<&Item::type>},
    {"created_at", &ItemReader::time<&Item::created_unix_ms>},
    {"updated_at", &ItemReader::time<&Item::updated_unix_ms>},
    {"created_by", &ItemReader::text<&Item::created_by>},
    {"came_from", &ItemReader::text<&Item::came_from>},
    {"tries", &ItemReader::tries},
    {"comments", &ItemReader::comments},
    {"lease", &ItemReader::pass_over},  // whoever shows an item adds it
    {"is_shortened", &ItemReader::shortened},
}};

}  // namespace

Result<Item> item_from_json(std::string_view text) { return ItemReader(text).read(); }

}  // namespace dibs
