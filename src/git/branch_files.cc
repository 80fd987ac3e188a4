#include "git/branch_files.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace dibs {

namespace {

// "MODE TYPE OBJECT SIZE\tPATH", the size padded with blanks; "-" for what has none.
std::optional<BranchEntry> entry_of(std::string_view line) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return std::nullopt;
  std::vector<std::string_view> fields = split(line.substr(0, tab), ' ');
  std::erase(fields, std::string_view());
  if (fields.size() != 4) return std::nullopt;
  const std::optional<std::uint64_t> bytes = parse_unsigned(fields[3]);
  return BranchEntry{.path = std::string(line.substr(tab + 1)),
                     .object = std::string(fields[2]),
                     .bytes = bytes.value_or(0),
                     .is_file = fields[0].starts_with("100") && bytes.has_value()};
}

std::string as_data(std::string_view text) {
  return fmt::format("data {}\n{}\n", text.size(), text);
}

// For `git fast-import`: one process for the blobs, the trees and the commit. The ref that it wants
// to move is forgotten before it ends.
std::string import_of(const BranchFiles::NewCommit& commit) {
  constexpr std::string_view kNowhere = "refs/dibs-prepared";
  std::string text = fmt::format("commit {}\nmark :1\ncommitter dibs <dibs> {} +0000\n", kNowhere,
                                 commit.unix_ms / 1000);
  text += as_data(commit.message);
  if (!commit.parent.empty()) text += fmt::format("from {}\n", commit.parent);
  for (const FileChange& change : commit.changes) {
    text += change.text ? fmt::format("M 100644 inline {}\n", change.path) + as_data(*change.text)
                        : fmt::format("D {}\n", change.path);
  }
  return text + fmt::format("reset {}\n\nget-mark :1\ndone\n", kNowhere);
}

}  // namespace

GitProgram::Call BranchFiles::call(std::vector<std::string> arguments) const {
  return {.git_dir = directory_, .arguments = std::move(arguments), .input = {}};
}

Result<std::vector<BranchEntry>> BranchFiles::list(const std::string& commit,
                                                   const std::vector<std::string>& paths) const {
  std::vector<std::string> arguments{"ls-tree", "-z", "-l", "--full-tree"};
  // Folders are named too: one may stand where a file belongs.
  if (paths.empty()) arguments.insert(arguments.end(), {"-r", "-t"});
  arguments.push_back(commit);
  if (!paths.empty()) arguments.emplace_back("--");
  arguments.insert(arguments.end(), paths.begin(), paths.end());
  const Result<std::string> out = git_.output_of(call(arguments), ErrorKind::internal);
  if (!out) return fail(out.error());
  std::vector<BranchEntry> entries;
  for (const std::string_view line : split(*out, '\0')) {
    if (std::optional<BranchEntry> entry = entry_of(line)) entries.push_back(*std::move(entry));
  }
  return entries;
}

Result<std::map<std::string, std::string>> BranchFiles::read(
    const std::vector<std::string>& objects) const {
  std::map<std::string, std::string> texts;
  if (objects.empty()) return texts;
  std::string names;
  for (const std::string& object : objects) names += object + "\n";
  GitProgram::Call batch = call({"cat-file", "--batch"});
  batch.input = names;
  const Result<std::string> out = git_.output_of(batch, ErrorKind::internal);
  if (!out) return fail(out.error());
  // "OBJECT TYPE SIZE\n", that many bytes, and a newline; for each in turn.
  std::string_view rest = *out;
  while (!rest.empty()) {
    const std::size_t line_end = std::min(rest.find('\n'), rest.size() - 1);
    const std::vector<std::string_view> head = split(rest.substr(0, line_end), ' ');
    rest.remove_prefix(line_end + 1);
    const auto bytes = parse_unsigned(head.back());
    if (head.size() != 3 || !bytes || *bytes >= rest.size())
      return fail(ErrorKind::internal, "git cat-file answered with something else");
    texts[std::string(head[0])] = rest.substr(0, *bytes);
    rest.remove_prefix(*bytes + 1);
  }
  return texts;
}

Result<std::string> BranchFiles::write(const NewCommit& commit) const {
  const std::string text = import_of(commit);
  GitProgram::Call import = call({"fast-import", "--quiet", "--done", "--force"});
  import.input = text;
  Result<std::string> out = git_.output_of(import, ErrorKind::internal);
  if (!out) return fail(out.error());
  out->resize(std::min(out->find('\n'), out->size()));
  if (out->empty()) return fail(ErrorKind::internal, "git fast-import did not name its commit");
  return out;
}

Result<std::vector<std::string>> BranchFiles::messages(const std::string& commit,
                                                       const std::string& containing,
                                                       std::size_t most) const {
  const Result<std::string> out =
      git_.output_of(call({"log", "--format=%B%x00", "--fixed-strings", "--grep=" + containing,
                           fmt::format("--max-count={}", most), commit}),
                     ErrorKind::internal);
  if (!out) return fail(out.error());
  std::vector<std::string> messages;
  for (const std::string_view message : split(*out, '\0')) {
    if (!trim(message).empty()) messages.emplace_back(trim(message));
  }
  return messages;
}

}  // namespace dibs
