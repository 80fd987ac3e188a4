// Reads JSON with bounds, value by value. nlohmann's own parser costs three times as much, and
// parsing is most of what a question about leases does; its value type and its manners (RFC 8259,
// strict UTF-8) stay. Whoever reads very many of one kind takes their members as they come, without
// a tree:
//
//   JsonReader reader(text);
//   const bool whole = reader.members([&](std::string_view name) {
//     return name == "id" ? reader.string(id) : reader.pass_over();
//   }) && reader.end();
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace dibs {

// Every member says whether it took what it is named for; after a no, error() says why.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text), rest_(text) { skip_space(); }

  // How the next value begins: one of {["tfn, or a number's first; '\0' when there is none.
  [[nodiscard]] char next() const { return rest_.empty() ? '\0' : rest_.front(); }

  bool value(Json& out);
  bool pass_over();
  bool string(std::string& out);
  // The same without a copy where nothing in it is escaped; good until the next call.
  bool text(std::string_view& out);
  // Nothing but space is left.
  bool end();

  // An object: `read(name)` takes each value, or says no. The same name twice is for it to notice;
  // the name is good until it takes something.
  template <class Read>
  bool members(Read&& read) {
    return inside('{', '}', [&] {
      std::string_view name;
      if (!text(name)) return false;
      skip_space();
      if (!skip(':')) return stop(kNotWellFormed);
      skip_space();
      return read(name);
    });
  }
  // An array: `read()` takes each value.
  template <class Read>
  bool elements(Read&& read) {
    return inside('[', ']', read);
  }

  // For a value that is well-formed and still not what was wanted; always false.
  bool stop(const char* problem) {
    problem_ = problem;
    return false;
  }
  [[nodiscard]] Error error() const;

 private:
  static constexpr const char* kNotWellFormed = "it is not well-formed";

  template <class Read>
  bool inside(char open, char close, Read&& read) {
    if (!skip(open)) return stop(kNotWellFormed);
    if (++depth_ > kJsonDepthMax) return stop("it is nested too deeply");
    for (bool first = true;; first = false) {
      skip_space();
      if (first && skip(close)) break;
      if (!read()) return false;
      skip_space();
      if (skip(close)) break;
      if (!skip(',')) return stop(kNotWellFormed);
    }
    --depth_;
    return true;
  }

  void skip_space() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n' ||
                              rest_.front() == '\t' || rest_.front() == '\r'))
      rest_.remove_prefix(1);
  }
  bool skip(char expected) {
    if (rest_.empty() || rest_.front() != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool word(std::string_view expected);
  bool object(Json& out);
  bool array(Json& out);
  bool rest_of_string(std::string& out);
  bool escape(std::string& out);
  std::optional<char32_t> unit();
  bool number(Json& out);
  [[nodiscard]] std::size_t number_length() const;

  std::string_view text_;
  std::string_view rest_;
  std::string buffer_;  // of a text that had escapes
  std::size_t depth_ = 0;
  const char* problem_ = kNotWellFormed;
};

}  // namespace dibs
