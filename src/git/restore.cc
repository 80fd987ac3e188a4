#include "git/restore.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "git/commits.h"
#include "git/raw_index.h"
#include "git/snapshot.h"
#include "git/uncommitted.h"

namespace dibs {

namespace {

constexpr int kBranchTriesMax = 100;

std::vector<std::string> split_paths(std::string_view text) {
  std::vector<std::string> paths;
  for (const std::string_view path : split(text, '\0')) {
    if (!path.empty()) paths.emplace_back(path);
  }
  return paths;
}

/// One snapshot going back into one work tree.
class Restorer {
 public:
  Restorer(const Surroundings& around, const Repository& worktree, const std::string& commit,
           const RescueNote& note)
      : around_(around), worktree_(worktree), commit_(commit), note_(note) {}

  Done run() {
    for (const auto step : {&Restorer::put_private_files, &Restorer::put_files,
                            &Restorer::put_index, &Restorer::put_refs}) {
      if (Done done = (this->*step)(); !done) return done;
    }
    for (const RescueNote::Submodule& submodule : note_.submodules) {
      if (Done done = put_submodule(submodule); !done) return done;
    }
    return {};
  }

 private:
  Result<std::string> output(const std::vector<std::string>& arguments,
                             std::string_view input = {}) {
    GitProgram::Call call = whole_tree_call(worktree_, arguments);
    call.input = input;
    return around_.git.output_of(call, ErrorKind::internal);
  }
  Done tell(const std::vector<std::string>& arguments, std::string_view input = {}) {
    const Result<std::string> done = output(arguments, input);
    return done ? Done{} : fail(done.error());
  }

  // What the snapshot keeps beside the files; nothing when it keeps none under that name.
  Result<std::optional<std::string>> thing(std::string_view name) {
    const std::string object = fmt::format("{}:{}", note_.things, name);
    const Result<ProgramEnd> end =
        around_.git.run(whole_tree_call(worktree_, {"cat-file", "blob", object}));
    if (!end) return fail(end.error());
    if (end->succeeded()) return end->out;
    return std::nullopt;
  }

  Done put_private_files() {
    for (const PrivateFile& file : kPrivateFiles) {
      const Result<std::optional<std::string>> contents = thing(file.kept_as);
      if (!contents) return fail(contents.error());
      if (!contents->has_value()) continue;
      if (file.path.starts_with("info/")) {
        if (Done made = around_.files.make_directory(worktree_.git_dir + "/info", 0755); !made)
          return made;
      }
      if (Done put = around_.files.replace_file(fmt::format("{}/{}", worktree_.git_dir, file.path),
                                                **contents, 0644);
          !put)
        return put;
    }
    return {};
  }

  Done put_files() {
    Result<RawIndex> index = RawIndex::make(around_, worktree_);
    if (!index) return fail(index.error());
    if (Done read = index->read(commit_ + "^{tree}"); !read) return read;
    const Result<std::optional<std::string>> absent = thing("absent");
    if (!absent) return fail(absent.error());
    if (Done left = index->leave_out(split_paths(absent->value_or(""))); !left) return left;
    return index->check_out();
  }

  Done put_index() {
    const Result<std::optional<std::string>> listing = thing("index");
    if (!listing) return fail(listing.error());
    std::string lines;
    std::string skipped;
    std::string assumed;
    for (const IndexEntry& entry : parse_index_listing(listing->value_or(""))) {
      lines += index_line(entry);
      if (entry.skipped()) skipped += entry.path + '\0';
      if (entry.tag == 'h' || entry.tag == 's') assumed += entry.path + '\0';
    }
    if (Done put = tell({"update-index", "-z", "--index-info"}, lines); !put) return put;
    // Says which files differ, which is what it is asked to find out; an exit of 1 is no failure.
    const Result<ProgramEnd> refreshed =
        around_.git.run(whole_tree_call(worktree_, {"update-index", "-q", "--refresh"}));
    if (!refreshed) return fail(refreshed.error());
    if (Done put = tell({"update-index", "-z", "--skip-worktree", "--stdin"}, skipped); !put)
      return put;
    return tell({"update-index", "-z", "--assume-unchanged", "--stdin"}, assumed);
  }

  Done put_refs() {
    std::string lines;
    for (const auto& [ref, commit] : note_.refs)
      lines += fmt::format("update {} {}\n", ref, commit);
    return lines.empty() ? Done{} : tell({"update-ref", "--stdin"}, lines);
  }

  Done make_directories(const std::string& base, std::string_view below) {
    std::string at = base;
    for (const std::string_view part : split(below, '/')) {
      at += "/" + std::string(part);
      if (Done made = around_.files.make_directory(at, 0755); !made) return made;
    }
    return {};
  }

  Done put_submodule(const RescueNote::Submodule& kept) {
    const Result<std::string> message = output({"log", "-1", "--format=%B", kept.commit, "--"});
    if (!message) return fail(message.error());
    const std::optional<RescueNote> note = parse_rescue_message(*message);
    if (!note || contains(kept.name, "..") || contains(kept.path, "..")) {
      return fail(
          ErrorKind::internal,
          fmt::format("what was kept of the submodule {} cannot be read", printable(kept.path)),
          fmt::format("look at it with: git log -1 {}", kept.commit));
    }
    const std::string git_dir = worktree_.git_dir + "/modules/" + kept.name;
    const Repository submodule{.git_dir = git_dir,
                               .common_dir = git_dir,
                               .root = worktree_.root + "/" + kept.path,
                               .bare = false};
    if (Done made = make_directories(worktree_.git_dir, "modules/" + kept.name); !made) return made;
    if (Done made = make_directories(worktree_.root, kept.path); !made) return made;
    if (Done made = make_repository(submodule, kept.commit, *note); !made) return made;
    return Restorer(around_, submodule, kept.commit, *note).run();
  }

  // As `git submodule update --init` would have made it, from our objects instead of the network.
  Done make_repository(const Repository& submodule, const std::string& commit,
                       const RescueNote& note) {
    const Result<std::string> format = output({"rev-parse", "--show-object-format"});
    if (!format) return fail(format.error());
    std::vector<std::vector<std::string>> steps{
        {"init", "--quiet", "--bare", "--template=", "--object-format=" + first_line(*format)},
        {"config", "core.bare", "false"},
        {"config", "core.worktree", submodule.root}};
    if (!note.url.empty()) {
      steps.push_back({"config", "remote.origin.url", note.url});
      steps.push_back({"config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"});
    }
    steps.push_back({"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--update-shallow",
                     around_.common_dir, commit});
    if (!note.head.empty()) steps.push_back({"update-ref", "--no-deref", "HEAD", note.head});
    if (!note.branch.empty())
      steps.push_back({"symbolic-ref", "HEAD", "refs/heads/" + note.branch});
    for (const std::vector<std::string>& step : steps) {
      GitProgram::Call call = whole_tree_call(submodule, step);
      call.work_tree.clear();
      call.settings.emplace_back("protocol.version=2");  // gives any commit
      const Result<std::string> done = around_.git.output_of(call, ErrorKind::internal);
      if (!done) return fail(done.error());
    }
    return around_.files.replace_file(submodule.root + "/.git",
                                      fmt::format("gitdir: {}\n", submodule.git_dir), 0644);
  }

  const Surroundings& around_;
  const Repository& worktree_;
  const std::string& commit_;
  const RescueNote& note_;
};

// The branch it was on if nobody has moved or taken it since; otherwise a new one like it.
Result<NewWorktree> place_for(const Surroundings& around, Worktrees& worktrees,
                              const Rescued& rescued) {
  const RescueNote& note = rescued.note;
  NewWorktree place{.path = {}, .branch = {}, .base = note.head, .files = NewWorktree::Files::none};
  if (note.head.empty()) place.base = rescued.commit;
  const Commits commits(around.files, around.git, around.common_dir);
  const std::string wanted =
      note.branch.empty() && note.head.empty() ? std::string("rescued") : note.branch;
  if (wanted.empty()) return place;
  for (int i = 0; i < kBranchTriesMax; ++i) {
    place.branch = wanted;
    if (i > 0) place.branch += i == 1 ? "-rescued" : fmt::format("-rescued-{}", i);
    const Result<std::optional<std::string>> there = commits.find("refs/heads/" + place.branch);
    if (!there) return fail(there.error());
    if (!there->has_value()) return place;
    if (**there != note.head || note.head.empty()) continue;
    const Result<std::optional<FoundWorktree>> used = worktrees.on_branch(place.branch);
    if (!used) return fail(used.error());
    if (used->has_value()) continue;
    place.base.clear();
    return place;
  }
  return fail(ErrorKind::refused,
              fmt::format("there are too many branches like {}", printable(wanted)),
              fmt::format("delete some: git branch --list {}", shell_word(wanted + "-rescued*")));
}

}  // namespace

Result<Restored> restore_worktree(const Surroundings& around, Worktrees& worktrees,
                                  const Rescued& rescued, const std::string& path) {
  Result<NewWorktree> place = place_for(around, worktrees, rescued);
  if (!place) return fail(place.error());
  place->path = path;
  std::string branch = place->branch;
  // Before the first commit there is nothing that a branch could start from.
  const bool unborn = rescued.note.head.empty();
  if (unborn) place->branch.clear();
  const Result<Repository> made = worktrees.add(*place);
  if (!made) return fail(made.error());
  if (unborn) {
    const Result<std::string> put = around.git.output_of(
        whole_tree_call(*made, {"symbolic-ref", "HEAD", "refs/heads/" + branch}),
        ErrorKind::internal);
    if (!put) return fail(put.error());
  }
  if (Done done = Restorer(around, *made, rescued.commit, rescued.note).run(); !done)
    return fail(done.error());
  return Restored{.worktree = *made, .branch = branch};
}

}  // namespace dibs
