#include "git/raw_index.h"

#include "git/commits.h"

namespace dibs {

namespace {

// '-' turns one off; '!' is needed where "off" is no value that git knows.
constexpr std::string_view kChangeNothing =
    "* -text -ident -filter -crlf !eol !working-tree-encoding\n";

}  // namespace

Result<RawIndex> RawIndex::make(const Surroundings& around, const Repository& worktree) {
  Result<ScratchDirectory> scratch = ScratchDirectory::make(around.directory);
  if (!scratch) return fail(scratch.error());
  RawIndex index(around.git, around.files, worktree, *std::move(scratch));
  if (Done filled = index.fill(around); !filled) return fail(filled.error());
  return index;
}

Done RawIndex::fill(const Surroundings& around) {
  const std::string& git_dir = scratch_.path();
  const Result<std::string> format =
      git_.output_of({.git_dir = worktree_.common_dir,
                      .arguments = {"rev-parse", "--show-object-format"},
                      .input = {}},
                     ErrorKind::internal);
  if (!format) return fail(format.error());
  // What the user configured about files (modes, links, sharing) holds here too.
  std::vector<std::vector<std::string>> steps{
      {"init", "--quiet", "--bare", "--template=", "--object-format=" + first_line(*format)},
      {"config", "include.path", worktree_.common_dir + "/config"}};
  const std::string own_config = worktree_.git_dir + "/config.worktree";
  if (const auto there = around.files.status(own_config); there && there->has_value())
    steps.push_back({"config", "--add", "include.path", own_config});
  for (const std::vector<std::string>& step : steps) {
    const Result<std::string> done =
        git_.output_of({.git_dir = git_dir, .arguments = step, .input = {}}, ErrorKind::internal);
    if (!done) return fail(done.error());
  }
  if (Done made = files_.make_directory(git_dir + "/info"); !made) return made;
  return files_.replace_file(git_dir + "/info/attributes", kChangeNothing);
}

Result<std::string> RawIndex::run(std::vector<std::string> arguments, std::string_view input) {
  return git_.output_of(
      {.git_dir = scratch_.path(),
       .arguments = std::move(arguments),
       .input = input,
       .most_ms = kWholeTreeMs,
       .work_tree = worktree_.root,
       .environment = {"GIT_OBJECT_DIRECTORY=" + worktree_.common_dir + "/objects"},
       // On disk before anything is deleted.
       .settings = {"core.fsync=all", "core.sparseCheckout=false", "core.splitIndex=false",
                    "core.untrackedCache=false"}},
      ErrorKind::internal);
}

Done RawIndex::tell_paths(std::vector<std::string> arguments,
                          const std::vector<std::string>& paths) {
  std::string input;
  for (const std::string& path : paths) {
    input += path;
    input += '\0';
  }
  const Result<std::string> done = run(std::move(arguments), input);
  return done ? Done{} : fail(done.error());
}

Done RawIndex::put(std::string_view lines) {
  const Result<std::string> done = run({"update-index", "-z", "--index-info"}, lines);
  return done ? Done{} : fail(done.error());
}

Done RawIndex::take(const std::vector<std::string>& paths) {
  return tell_paths({"update-index", "-z", "--add", "--remove", "--replace", "--stdin"}, paths);
}

Done RawIndex::read(const std::string& tree) {
  const Result<std::string> done = run({"read-tree", tree}, {});
  return done ? Done{} : fail(done.error());
}

Done RawIndex::leave_out(const std::vector<std::string>& paths) {
  return tell_paths({"update-index", "-z", "--force-remove", "--stdin"}, paths);
}

Done RawIndex::clear() {
  const Result<std::string> done = run({"read-tree", "--empty"}, {});
  return done ? Done{} : fail(done.error());
}

Result<std::string> RawIndex::write_tree() {
  // In a partial clone, what lies outside the sparse part may never have been fetched.
  Result<std::string> tree = run({"write-tree", "--missing-ok"}, {});
  if (!tree) return tree;
  return first_line(*tree);
}

Done RawIndex::check_out() {
  const Result<std::string> done = run({"checkout-index", "--all", "--quiet", "--force"}, {});
  return done ? Done{} : fail(done.error());
}

}  // namespace dibs
