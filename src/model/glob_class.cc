#include "model/glob_class.h"

#include <array>
#include <cstdint>

namespace dibs {

namespace {
// git's own idea of these, which is ASCII whatever the locale; its space is without \v and \f.
struct NamedClass {
  std::string_view name;
  bool (*holds)(int byte);
};
bool is_digit(int b) { return b >= '0' && b <= '9'; }
bool is_lower(int b) { return b >= 'a' && b <= 'z'; }
bool is_upper(int b) { return b >= 'A' && b <= 'Z'; }
bool is_alpha(int b) { return is_lower(b) || is_upper(b); }
bool is_alnum(int b) { return is_alpha(b) || is_digit(b); }
bool is_blank(int b) { return b == ' ' || b == '\t'; }
bool is_space(int b) { return is_blank(b) || b == '\n' || b == '\r'; }
bool is_cntrl(int b) { return b < 0x20 || b == 0x7f; }
bool is_print(int b) { return b >= 0x20 && b <= 0x7e; }
bool is_graph(int b) { return is_print(b) && b != ' '; }
bool is_punct(int b) { return is_graph(b) && !is_alnum(b); }
bool is_xdigit(int b) { return is_digit(b) || (b >= 'a' && b <= 'f') || (b >= 'A' && b <= 'F'); }

constexpr std::array<NamedClass, 12> kNamed{{{"alnum", is_alnum},
                                             {"alpha", is_alpha},
                                             {"blank", is_blank},
                                             {"cntrl", is_cntrl},
                                             {"digit", is_digit},
                                             {"graph", is_graph},
                                             {"lower", is_lower},
                                             {"print", is_print},
                                             {"punct", is_punct},
                                             {"space", is_space},
                                             {"upper", is_upper},
                                             {"xdigit", is_xdigit}}};

// Reads a class from left to right; `at` is the byte that is read next.
class ClassReader {
 public:
  explicit ClassReader(std::string_view text) : text_(text) {}

  std::optional<GlobClass> read() {
    at_ = 1;
    const bool negated = here('!') || here('^');
    if (negated) ++at_;
    // A ']' that comes first is an ordinary member.
    do {
      if (at_ >= text_.size() || !read_member()) return std::nullopt;
    } while (!here(']'));
    if (negated) bytes_.flip();
    bytes_.reset('/');
    return GlobClass{.bytes = bytes_, .length = at_ + 1};
  }

 private:
  [[nodiscard]] bool here(char c) const { return at_ < text_.size() && text_[at_] == c; }

  // One byte, escaped or not.
  std::optional<std::uint8_t> read_byte() {
    if (here('\\')) ++at_;
    if (at_ >= text_.size()) return std::nullopt;
    return static_cast<std::uint8_t>(text_[at_++]);
  }

  bool read_member() {
    if (here('-') && last_ && at_ + 1 < text_.size() && text_[at_ + 1] != ']') return read_range();
    if (text_.substr(at_).starts_with("[:")) {
      // Without its ":]" the '[' is an ordinary member.
      const std::size_t close = text_.find(']', at_ + 2);
      if (close == std::string_view::npos) return false;
      if (close > at_ + 2 && text_[close - 1] == ':') return read_name(close);
    }
    last_ = read_byte();
    if (last_) bytes_.set(*last_);
    return last_.has_value();
  }

  bool read_range() {
    ++at_;
    const std::optional<std::uint8_t> to = read_byte();
    if (!to) return false;
    for (int byte = *last_; byte <= *to; ++byte) bytes_.set(static_cast<std::size_t>(byte));
    last_ = std::nullopt;
    return true;
  }

  bool read_name(std::size_t close) {
    const std::string_view name = text_.substr(at_ + 2, close - 1 - (at_ + 2));
    at_ = close + 1;
    last_ = std::nullopt;
    for (const NamedClass& known : kNamed) {
      if (known.name != name) continue;
      for (int byte = 0; byte < 256; ++byte) {
        if (known.holds(byte)) bytes_.set(static_cast<std::size_t>(byte));
      }
      return true;
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  ByteSet bytes_;
  std::optional<std::uint8_t> last_;  // what a '-' would make a range of
};
}  // namespace

std::optional<GlobClass> parse_class(std::string_view text) { return ClassReader(text).read(); }

}  // namespace dibs
