#include "items/beads_merge.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "base/text.h"
#include "items/beads_line.h"
#include "items/beads_line_merge.h"
#include "items/found_items.h"
#include "items/keyed_merge.h"

namespace dibs {

namespace {

constexpr std::string_view kBeadsFile = ".beads/issues.jsonl";

std::string_view without_line_end(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view line_end_of(std::string_view line) {
  return line.substr(without_line_end(line).size());
}

// The id of an issue; nothing for a line that is none.
std::optional<std::string> id_in(std::string_view line) {
  const Result<BeadsLine> issue = BeadsLine::parse(line);
  if (!issue || issue->id().text.empty()) return std::nullopt;
  return issue->id().text;
}

// Issues go by their id, all other lines by what they say.
Result<std::vector<KeyedText>> keyed_lines(std::string_view text, std::string_view whose) {
  std::vector<KeyedText> keyed;
  std::set<std::string> ids;
  std::map<std::string_view, std::size_t> others;  // how often each was there
  for (const TextLine& line : lines_of(text)) {
    const std::string_view bare = line.in(text);
    const std::optional<std::string> id = id_in(bare);
    if (id && !ids.insert(*id).second)
      return fail(ErrorKind::refused,
                  fmt::format("{} version has {} twice", whose, printable(*id)));
    std::string key = id ? "id " + *id : fmt::format("line {} {}", ++others[bare], bare);
    keyed.push_back({.key = std::move(key), .text = line.whole_in(text)});
  }
  return keyed;
}

// Two clones may give one id to two issues.
bool are_two_issues(const LineVersions& lines) {
  if (lines.base) return false;
  const Result<BeadsLine> ours = BeadsLine::parse(lines.ours);
  const Result<BeadsLine> theirs = BeadsLine::parse(lines.theirs);
  return ours && theirs && ours->json().raw("created_at") != theirs->json().raw("created_at");
}

// What beads deleted stays deleted, as it would in beads.
std::optional<std::string_view> deleted_one(const LineVersions& lines) {
  for (const std::string_view line : {lines.ours, lines.theirs}) {
    const Result<BeadsLine> issue = BeadsLine::parse(line);
    if (issue && issue->is_deleted()) return line;
  }
  return std::nullopt;
}

class FileMerge {
 public:
  explicit FileMerge(const FileVersions& versions) : versions_(versions) {
    const std::vector<TextLine> lines = lines_of(versions_.ours);
    if (!lines.empty() && lines[0].next - lines[0].end == 2) newline_ = "\r\n";
  }

  Result<MergedFile> run() {
    const auto base = keyed_lines(versions_.base, "the base");
    if (!base) return fail(base.error());
    const auto ours = keyed_lines(versions_.ours, "our");
    if (!ours) return fail(ours.error());
    const auto theirs = keyed_lines(versions_.theirs, "their");
    if (!theirs) return fail(theirs.error());
    for (const KeyedVersions& line : merged_list(*base, *ours, *theirs)) add(line);
    return std::move(merged_);
  }

 private:
  void add(const KeyedVersions& line) {
    const Settled settled = settle(line.base, line.ours, line.theirs);
    if (settled == Settled::ours) return append(*line.ours);
    if (settled == Settled::theirs) return append(*line.theirs);
    LineVersions lines{.base = std::nullopt,
                       .ours = without_line_end(*line.ours),
                       .theirs = without_line_end(*line.theirs)};
    if (line.base) lines.base = without_line_end(*line.base);
    const std::string_view line_end = line_end_of(*line.ours);
    if (const auto deleted = deleted_one(lines)) return append(std::string(*deleted), line_end);
    add_merged(lines, line_end);
  }

  void add_merged(const LineVersions& lines, std::string_view line_end) {
    if (are_two_issues(lines)) return add_clash(lines.ours, lines.theirs, "two issues of one id");
    const Result<MergedLine> merged = merge_beads_lines(lines, Side::ours);
    if (!merged) return add_clash(lines.ours, lines.theirs, merged.error().message);
    if (merged->clashes.empty()) return append(merged->text, line_end);
    const Result<MergedLine> other = merge_beads_lines(lines, Side::theirs);
    if (!other) return add_clash(lines.ours, lines.theirs, other.error().message);
    add_clash(merged->text, other->text, fmt::format("{}", fmt::join(merged->clashes, ", ")));
  }

  void add_clash(std::string_view ours, std::string_view theirs, const std::string& why) {
    append(with_marks(ours, theirs, newline_));
    merged_.clashes.push_back(fmt::format("{} ({})", id_in(ours).value_or("a line"), why));
  }

  void append(std::string_view text, std::string_view line_end = "") {
    if (!merged_.text.empty() && !merged_.text.ends_with('\n')) merged_.text += newline_;
    merged_.text += text;
    merged_.text += line_end;
  }

  const FileVersions& versions_;
  std::string_view newline_ = "\n";
  MergedFile merged_;
};

}  // namespace

bool is_beads_file(std::string_view path) {
  return path == kBeadsFile || path.ends_with("/" + std::string(kBeadsFile));
}

Result<MergedFile> merge_beads_files(const FileVersions& versions) {
  return FileMerge(versions).run();
}

}  // namespace dibs
