#include "git/branch_files.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "git/local_refs.h"

namespace dibs {

namespace {

// "MODE TYPE OBJECT\tPATH".
std::optional<BranchEntry> entry_of(std::string_view line) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return std::nullopt;
  const std::vector<std::string_view> fields = split(line.substr(0, tab), ' ');
  if (fields.size() != 3) return std::nullopt;
  return BranchEntry{.path = std::string(line.substr(tab + 1)),
                     .object = std::string(fields[2]),
                     .is_file = fields[0].starts_with("100"),
                     .mode = std::string(fields[0])};
}

std::string as_data(std::string_view text) {
  return fmt::format("data {}\n{}\n", text.size(), text);
}

std::string quoted_path(std::string_view path) {
  std::string quoted = "\"";
  for (const char c : path) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return quoted + '"';
}

// A path as fast-import reads it: in quotes if a character in it would end it or mean another.
std::string as_path(std::string_view path) {
  const bool plain = !path.starts_with('"') &&
                     std::ranges::none_of(path, [](char c) { return c == '\n' || c == '\\'; });
  return plain ? std::string(path) : quoted_path(path);
}

std::string people_of(const BranchFiles::NewCommit& commit) {
  return fmt::format("author {0} <{0}> {1} +0000\ncommitter {0} <{0}> {1} +0000\n", commit.author,
                     commit.unix_ms / 1000);
}

// For `git fast-import`: one process for the blobs, the trees, the commit and the ref.
std::string import_of(const BranchFiles::NewCommit& commit, std::string_view ref) {
  std::string text = fmt::format("commit {}\nmark :1\n{}", ref, people_of(commit));
  text += as_data(commit.message);
  if (!commit.parent.empty()) text += fmt::format("from {}\n", commit.parent);
  if (!commit.merged.empty()) text += fmt::format("merge {}\n", commit.merged);
  for (const TakenFile& file : commit.taken)
    text += fmt::format("M {} {} {}\n", file.mode, file.object, as_path(file.path));
  for (const PathMove& move : commit.moves)
    text += fmt::format("R {} {}\n", quoted_path(move.from), quoted_path(move.to));
  for (const FileChange& change : commit.changes) {
    text += change.text ? fmt::format("M {} inline {}\n", change.mode, as_path(change.path)) +
                              as_data(*change.text)
                        : fmt::format("D {}\n", as_path(change.path));
  }
  return text;
}

Result<std::string> commit_named_in(Result<std::string> out) {
  if (!out) return out;
  out->resize(std::min(out->find('\n'), out->size()));
  if (out->empty()) return fail(ErrorKind::internal, "git fast-import did not name its commit");
  return out;
}

std::string one_a_line(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

}  // namespace

GitProgram::Call BranchFiles::call(std::vector<std::string> arguments) const {
  return {.git_dir = directory_, .arguments = std::move(arguments), .input = {}};
}

GitProgram::Call BranchFiles::writing(std::vector<std::string> arguments) const {
  GitProgram::Call call = this->call(std::move(arguments));
  call.settings = {as_git_setting(flushing_)};
  return call;
}

Result<std::vector<BranchEntry>> BranchFiles::list(const std::string& commit,
                                                   const std::vector<std::string>& paths) const {
  std::vector<std::string> arguments{"ls-tree", "-z", "--full-tree"};
  // Folders are named too: one may stand where a file belongs.
  if (paths.empty()) arguments.insert(arguments.end(), {"-r", "-t"});
  arguments.push_back(commit);
  if (!paths.empty()) arguments.emplace_back("--");
  arguments.insert(arguments.end(), paths.begin(), paths.end());
  return entries_of(std::move(arguments));
}

Result<std::vector<BranchEntry>> BranchFiles::list_below(const std::string& commit,
                                                         const std::string& folder) const {
  return list_at(commit, folder + "/");
}

Result<std::vector<BranchEntry>> BranchFiles::list_at(const std::string& commit,
                                                      const std::string& path) const {
  return entries_of({"ls-tree", "-z", "-r", "--full-tree", commit, "--", path});
}

Result<std::vector<BranchEntry>> BranchFiles::entries_of(std::vector<std::string> arguments) const {
  const Result<std::string> out = git_.output_of(call(std::move(arguments)), ErrorKind::internal);
  if (!out) return fail(out.error());
  std::vector<BranchEntry> entries;
  for (const std::string_view line : split(*out, '\0')) {
    if (std::optional<BranchEntry> entry = entry_of(line)) entries.push_back(*std::move(entry));
  }
  return entries;
}

Result<std::string> BranchFiles::ask_for(const std::vector<std::string>& names) const {
  const std::string input = one_a_line(names);
  GitProgram::Call batch = call({"cat-file", "--batch"});
  batch.input = input;
  return git_.output_of(batch, ErrorKind::internal);
}

Result<std::map<std::string, std::string>> BranchFiles::read(
    const std::vector<std::string>& objects) const {
  std::map<std::string, std::string> texts;
  if (objects.empty()) return texts;
  const Result<std::string> out = ask_for(objects);
  if (!out) return fail(out.error());
  for (std::string_view rest = *out; !rest.empty();) {
    const Result<BatchAnswer> answer = next_answer(rest);
    if (!answer) return fail(answer.error());
    if (!answer->text) return fail(ErrorKind::internal, "git lacks an object that it should have");
    texts[std::string(answer->object)] = *answer->text;
  }
  return texts;
}

Done BranchFiles::read_each(const std::vector<std::string>& objects, std::uint64_t most_bytes,
                            const AnswersAsTheyCome::Each& each) const {
  if (objects.empty()) return {};
  AnswersAsTheyCome answers(most_bytes, each);
  const std::string input = one_a_line(objects);
  GitProgram::Call batch = call({"cat-file", "--batch", "--buffer"});
  batch.input = input;
  batch.heard = [&](std::string& out) { answers.take(out); };
  const Result<std::string> rest = git_.output_of(batch, ErrorKind::internal);
  if (!rest) return fail(rest.error());
  return answers.ended(objects.size());
}

Result<std::map<std::string, BranchFiles::Found>> BranchFiles::read_at(
    const std::string& commit, const std::vector<std::string>& paths) const {
  std::map<std::string, Found> found;
  if (paths.empty() || commit.empty()) return found;
  std::vector<std::string> names;
  for (const std::string& path : paths) names.push_back(commit + ":" + path);
  const Result<std::string> out = ask_for(names);
  if (!out) return fail(out.error());
  std::string_view rest = *out;
  for (const std::string& path : paths) {
    if (rest.empty()) return fail(ErrorKind::internal, "git cat-file did not answer");
    const Result<BatchAnswer> answer = next_answer(rest);
    if (!answer) return fail(answer.error());
    if (answer->text)
      found[path] = {.object = std::string(answer->object), .text = std::string(*answer->text)};
  }
  return found;
}

// The ref that fast-import wants to move is forgotten before it ends.
Result<std::string> BranchFiles::write(const NewCommit& commit) const {
  constexpr std::string_view kNowhere = "refs/dibs-prepared";
  const std::string text =
      import_of(commit, kNowhere) + fmt::format("reset {}\n\nget-mark :1\ndone\n", kNowhere);
  GitProgram::Call import = writing({"fast-import", "--quiet", "--done", "--force"});
  import.input = text;
  return commit_named_in(git_.output_of(import, ErrorKind::internal));
}

std::string BranchFiles::told_by(const NewCommit& commit) {
  std::string text;
  for (const std::string& parent : {commit.parent, commit.merged}) {
    if (!parent.empty()) text += fmt::format("parent {}\n", parent);
  }
  return text + people_of(commit) + "\n" + commit.message;
}

// Without --force it moves a ref only to a commit that follows the one it stands on, and only if it
// still does when it moves: a compare-and-swap in the same process.
Result<std::optional<std::string>> BranchFiles::put(const NewCommit& commit, const std::string& ref,
                                                    const FileLock* under) const {
  const std::string text = import_of(commit, ref) + "get-mark :1\ndone\n";
  GitProgram::Call import = writing({"fast-import", "--quiet", "--done"});
  import.input = text;
  import.under = under;
  const Result<ProgramEnd> end = git_.run(import);
  if (!end) return fail(end.error());
  const Result<std::string> made = commit_named_in(end->out);
  if (end->succeeded() && made) return *made;
  // Whatever git calls it: nobody's ref moved by us, and if it moved at all, that is why.
  const Result<std::string> now =
      git_.output_of(call({"for-each-ref", "--format=%(objectname)", ref}), ErrorKind::internal);
  if (!now) return fail(now.error());
  if (made && trim(*now) == *made) return *made;
  if (trim(*now) != commit.parent) return std::nullopt;
  if (std::optional<Error> locked = lock_in_the_way(*end)) return fail(*std::move(locked));
  return fail(ErrorKind::internal, fmt::format("git fast-import: {}", complaint_of(*end)));
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
