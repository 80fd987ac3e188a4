#include "git/snapshot.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "git/commits.h"
#include "git/index_file.h"
#include "git/raw_index.h"
#include "git/uncommitted.h"
#include "git/worktree_identity.h"

namespace dibs {

namespace {

constexpr std::size_t kSubmoduleDepthMax = 8;
constexpr std::size_t kPrivateFileMax = 1024UL * 1024;

// What an operation that was not finished still needs.
constexpr std::array<const char*, 3> kUnfinished{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"};

/// One work tree, and all that was found out about it.
class Keeper {
 public:
  Keeper(const Surroundings& around, const Repository& worktree, const SnapshotRequest& request)
      : around_(around), worktree_(worktree), request_(request), note_(request.note) {}

  Result<std::optional<Snapshot>> run() {
    for (const auto step :
         {&Keeper::look_at_commits, &Keeper::look_at_files, &Keeper::keep_submodules}) {
      if (Done done = (this->*step)(); !done) return fail(done.error());
    }
    const Result<bool> needed = is_needed();
    if (!needed) return fail(needed.error());
    if (!*needed) return std::nullopt;
    if (Done listed = list_index(); !listed) return fail(listed.error());
    const Result<std::string> commit = write();
    if (!commit) return fail(commit.error());
    return Snapshot{.commit = *commit, .note = note_};
  }

 private:
  GitProgram::Call call(std::vector<std::string> arguments) const {
    return {.git_dir = worktree_.git_dir,
            .arguments = std::move(arguments),
            .input = {},
            .most_ms = kWholeTreeMs,
            .settings = {"core.fsync=all", "gc.auto=0", "maintenance.auto=false"}};
  }
  Result<std::string> output(std::vector<std::string> arguments) const {
    return around_.git.output_of(call(std::move(arguments)), ErrorKind::internal);
  }
  bool is_there(const std::string& path) const { return dibs::is_there(around_.files, path); }
  bool in_submodule() const { return request_.depth > 0; }

  Done look_at_commits() {
    const Commits commits(around_.files, around_.git, worktree_.git_dir);
    const Result<std::optional<std::string>> head = commits.find("HEAD");
    if (!head) return fail(head.error());
    note_.head = head->value_or("");
    note_.branch = current_branch(around_.files, worktree_);
    if (!note_.head.empty()) loose_.push_back(note_.head);
    for (const char* name : kUnfinished) {
      const Result<std::optional<std::string>> commit = commits.find(name);
      if (!commit) return fail(commit.error());
      if (commit->has_value()) note_.refs.emplace_back(name, **commit);
    }
    if (Done listed = look_at_refs(); !listed) return listed;
    for (const auto& [name, commit] : note_.refs) loose_.push_back(commit);
    return {};
  }

  // Those that go with the worktree: its private ones, and all of a submodule's own.
  Done look_at_refs() {
    if (!in_submodule() && has_no_refs_of_its_own()) return {};
    std::vector<std::string> arguments{
        "for-each-ref", "--format=%(objecttype) %(objectname) %(refname)", "refs/worktree/"};
    if (in_submodule()) arguments.insert(arguments.end(), {"refs/heads/", "refs/stash"});
    const Result<std::string> out = output(arguments);
    if (!out) return fail(out.error());
    for (const std::string_view line : split(*out, '\n')) {
      const std::vector<std::string_view> fields = split(line, ' ');
      if (fields.size() == 3 && fields[0] == "commit")
        note_.refs.emplace_back(fields[2], fields[1]);
    }
    if (!in_submodule()) return {};
    // Older stashes are only in the stash's log, and where there is none that is no failure.
    const Result<ProgramEnd> stashes =
        around_.git.run(call({"log", "-g", "--format=%H", "refs/stash", "--"}));
    if (!stashes) return fail(stashes.error());
    if (!stashes->succeeded()) return {};
    for (const std::string_view line : split(stashes->out, '\n')) {
      if (!line.empty()) loose_.emplace_back(line);
    }
    return {};
  }

  bool has_special_entries() const {
    const std::optional<ReadIndex> read = read_index(around_.files, worktree_);
    const std::optional<IndexFile> index = read ? read->parsed() : std::nullopt;
    return !index || index->has_marked() || index->has_submodules();
  }

  // Only where its entries matter: it costs a git process.
  Done list_index() {
    if (listed_) return {};
    const Result<std::string> listing = index_listing(around_.git, tree_for_index());
    if (!listing) return fail(listing.error());
    listing_ = *listing;
    entries_ = parse_index_listing(listing_);
    listed_ = true;
    return {};
  }

  // They are never packed; only another kind of storage could have them elsewhere.
  bool has_no_refs_of_its_own() const {
    return !is_there(worktree_.git_dir + "/refs/worktree") &&
           !is_there(worktree_.common_dir + "/reftable");
  }

  Done look_at_files() {
    if (!has_files() || has_special_entries()) {
      if (Done listed = list_index(); !listed) return listed;
    }
    if (!has_files()) return {};
    const Result<Uncommitted> changes =
        uncommitted_in(around_.files, around_.git, worktree_, entries_);
    if (!changes) return fail(changes.error());
    note_.tracked = changes->tracked.count;
    note_.untracked = changes->untracked.count;
    if (note_.untracked == 0) return {};
    Result<std::vector<std::string>> untracked = untracked_paths(around_.git, worktree_);
    if (!untracked) return fail(untracked.error());
    untracked_ = *std::move(untracked);
    const auto nested = std::ranges::find_if(
        untracked_, [](const std::string& path) { return path.ends_with('/'); });
    if (nested == untracked_.end()) return {};
    const std::string place = worktree_.root + "/" + nested->substr(0, nested->size() - 1);
    return fail(
        ErrorKind::refused,
        fmt::format("{} is a git repository of its own, which git cannot keep", printable(place)),
        fmt::format("move it out of the worktree first: mv {} {}", shell_word(place),
                    shell_word("../")));
  }

  // When the directory is gone the index is still there, and tells what was staged.
  bool has_files() const { return is_there(worktree_.root + "/.git"); }
  Repository tree_for_index() const {
    Repository tree = worktree_;
    if (!has_files()) tree.root = worktree_.git_dir;
    return tree;
  }

  Done keep_submodules() {
    if (!has_files()) return {};
    std::set<std::string> seen;
    for (const IndexEntry& entry : entries_) {
      if (!entry.is_submodule() || !seen.insert(entry.path).second) continue;
      if (Done kept = keep_submodule(entry.path); !kept) return kept;
    }
    return {};
  }

  Done keep_submodule(const std::string& path) {
    const std::string root = worktree_.root + "/" + path;
    const Result<Repository> submodule = find_repository(around_.files, root);
    if (!submodule || submodule->root != root || submodule->bare) return check_nothing_in(root);
    if (request_.depth >= kSubmoduleDepthMax) {
      return fail(ErrorKind::refused,
                  fmt::format("{} has submodules in submodules past a depth of {}",
                              printable(worktree_.root), kSubmoduleDepthMax),
                  "save the innermost by hand and take it out: git submodule deinit PATH");
    }
    SnapshotRequest request{
        .note = request_.note, .staying = {"--remotes"}, .depth = request_.depth + 1};
    request.note.label = path;
    request.note.path = root;
    const Result<std::optional<Snapshot>> kept = take_snapshot(around_, *submodule, request);
    if (!kept) return fail(kept.error());
    if (!kept->has_value()) return {};
    if (Done fetched = fetch(*submodule, (*kept)->commit); !fetched) return fetched;
    const std::string modules = worktree_.git_dir + "/modules/";
    const bool usual = submodule->git_dir.starts_with(modules);
    note_.submodules.push_back({.path = path,
                                .name = usual ? submodule->git_dir.substr(modules.size()) : path,
                                .commit = (*kept)->commit});
    return {};
  }

  // A submodule that is not initialised. git does not look into it, whatever somebody put there.
  Done check_nothing_in(const std::string& place) {
    const Result<std::optional<FileStatus>> status = around_.files.status(place);
    if (!status) return fail(status.error());
    if (!status->has_value() || (*status)->kind != FileKind::directory) return {};
    const Result<std::vector<std::string>> names = around_.files.list(place);
    if (!names) return fail(names.error());
    if (names->empty()) return {};
    return fail(ErrorKind::refused,
                fmt::format("{} belongs to a submodule that is not there, and git cannot keep "
                            "the files in it",
                            printable(place)),
                fmt::format("move them elsewhere first: mv {}/* ../", shell_word(place)));
  }

  Done fetch(const Repository& submodule, const std::string& commit) {
    std::vector<std::string> arguments{
        "fetch",       "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
        "--no-auto-gc"};
    if (is_there(submodule.common_dir + "/shallow")) arguments.emplace_back("--update-shallow");
    arguments.insert(arguments.end(), {submodule.common_dir, commit});
    GitProgram::Call fetching = call(arguments);
    // The newer protocol gives any commit; the older one only what a ref points to.
    fetching.settings.emplace_back("protocol.version=2");
    const auto turn = lock_worktrees(around_);
    if (!turn) return fail(turn.error());
    const Result<std::string> fetched = around_.git.output_of(fetching, ErrorKind::internal);
    return fetched ? Done{} : fail(fetched.error());
  }

  Result<bool> is_needed() const {
    if (note_.tracked + note_.untracked > 0 || !note_.submodules.empty()) return true;
    const std::string& where = in_submodule() ? worktree_.git_dir : worktree_.common_dir;
    const Result<bool> safe =
        Commits(around_.files, around_.git, where).all_reachable(loose_, request_.staying);
    if (!safe) return fail(safe.error());
    return !*safe;
  }

  // What is in the index, a conflict by one of its sides, as the lines that make it.
  std::string staged_lines() const {
    std::map<std::string_view, const IndexEntry*> chosen;
    for (const IndexEntry& entry : entries_) {
      // Of base, ours and theirs: ours if it is there.
      const auto [at, is_new] = chosen.try_emplace(entry.path, &entry);
      if (!is_new && entry.stage == '2') at->second = &entry;
    }
    std::string lines;
    for (const auto& [path, entry] : chosen) {
      IndexEntry merged = *entry;
      merged.stage = '0';
      lines += index_line(merged);
    }
    return lines;
  }

  bool is_absent(const IndexEntry& entry) const {
    return entry.skipped() && !is_there(worktree_.root + "/" + entry.path);
  }

  // Whether a folder of it has become a symbolic link: then it is not there any more, although the
  // link may lead to a file of that name.
  bool is_beyond_link(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return false;
    const std::string folder = path.substr(0, slash);
    if (const auto known = links_.find(folder); known != links_.end()) return known->second;
    const auto status = around_.files.status(worktree_.root + "/" + folder);
    const bool is_link = status && status->has_value() && (*status)->kind == FileKind::symlink;
    const bool beyond = is_link || is_beyond_link(folder);
    links_.emplace(folder, beyond);
    return beyond;
  }

  // Whether a directory stands where the index has a file.
  bool is_folder_now(const IndexEntry& entry) const {
    if (entry.is_submodule()) return false;
    const auto status = around_.files.status(worktree_.root + "/" + entry.path);
    return status && status->has_value() && (*status)->kind == FileKind::directory;
  }

  // Brings the index from what is staged to what is on disk.
  Done take_from_disk(RawIndex& index) {
    std::vector<std::string> paths = untracked_;
    std::vector<std::string> gone;
    for (const IndexEntry& entry : entries_) {
      if (is_absent(entry)) continue;
      const bool is_gone = is_beyond_link(entry.path) || is_folder_now(entry);
      (is_gone ? gone : paths).push_back(entry.path);
    }
    if (Done left = index.leave_out(gone); !left) return left;
    return index.take(paths);
  }

  Result<std::string> write_object(const char* type, std::string_view contents) const {
    GitProgram::Call hash = call({"hash-object", "-t", type, "-w", "--stdin"});
    hash.input = contents;
    const Result<std::string> out = around_.git.output_of(hash, ErrorKind::internal);
    if (!out) return fail(out.error());
    return first_line(*out);
  }

  Result<std::string> write_commit(const std::string& tree, const std::vector<std::string>& parents,
                                   const std::string& message) const {
    std::string text = fmt::format("tree {}\n", tree);
    for (const std::string& parent : parents) text += fmt::format("parent {}\n", parent);
    for (const char* role : {"author", "committer"})
      text += fmt::format("{} dibs <dibs> {} +0000\n", role, note_.unix_ms / 1000);
    return write_object("commit", text + "\n" + message);
  }

  // The index as a listing, both sides of conflicts, and the private files that matter.
  Result<std::string> write_things(RawIndex& index) {
    std::vector<std::pair<std::string, std::string>> blobs{{"index", listing_}, {"absent", {}}};
    std::string lines;
    for (const IndexEntry& entry : entries_) {
      if (is_absent(entry)) blobs[1].second += entry.path + '\0';
      if (entry.stage == '0') continue;
      IndexEntry side = entry;
      side.stage = '0';
      lines += index_line(side, fmt::format("conflicts/{}/", entry.stage));
    }
    for (const PrivateFile& file : kPrivateFiles) {
      const auto text = around_.files.read_file(fmt::format("{}/{}", worktree_.git_dir, file.path),
                                                kPrivateFileMax);
      if (!text) return fail(text.error());
      if (text->has_value()) blobs.emplace_back(file.kept_as, **text);
    }
    for (const auto& [name, contents] : blobs) {
      const Result<std::string> blob = write_object("blob", contents);
      if (!blob) return blob;
      lines += index_line({.mode = "100644", .object = *blob, .path = name});
    }
    if (Done cleared = index.clear(); !cleared) return fail(cleared.error());
    if (Done put = index.put(lines); !put) return fail(put.error());
    return index.write_tree();
  }

  struct Trees {
    std::string staged;
    std::string on_disk;
    std::string things;
  };
  Result<Trees> write_trees() {
    Result<RawIndex> index = RawIndex::make(around_, tree_for_index());
    if (!index) return fail(index.error());
    // A file of which only the intent to add it is staged stands for an empty one that nobody
    // wrote.
    if (const auto empty = write_object("blob", {}); !empty) return fail(empty.error());
    if (Done cleared = index->clear(); !cleared) return fail(cleared.error());
    if (Done put = index->put(staged_lines()); !put) return fail(put.error());
    const Result<std::string> staged = index->write_tree();
    if (!staged) return fail(staged.error());
    if (has_files()) {
      if (Done taken = take_from_disk(*index); !taken) return fail(unreadable(taken.error()));
    }
    const Result<std::string> on_disk = index->write_tree();
    if (!on_disk) return fail(on_disk.error());
    const Result<std::string> things = write_things(*index);
    if (!things) return fail(things.error());
    return Trees{.staged = *staged, .on_disk = *on_disk, .things = *things};
  }

  Error unreadable(const Error& error) const {
    return {.kind = ErrorKind::refused,
            .message = fmt::format("what is in {} cannot be kept: {}", printable(worktree_.root),
                                   error.message),
            .hint = fmt::format("see what there is: git -C {} status", shell_word(worktree_.root)),
            .fields = {}};
  }

  Result<std::string> write() {
    const Result<Trees> trees = write_trees();
    if (!trees) return fail(trees.error());
    if (in_submodule()) {
      const Result<std::string> url = output({"config", "--get", "remote.origin.url"});
      if (url) note_.url = first_line(*url);
    }
    Result<std::string> things =
        write_commit(trees->things, {}, "the index and what belongs to it\n");
    if (!things) return things;
    note_.things = *things;
    std::vector<std::string> parents;
    if (!note_.head.empty()) parents.push_back(note_.head);
    std::vector<std::string> behind = parents;
    behind.push_back(*things);
    for (const RescueNote::Submodule& submodule : note_.submodules)
      behind.push_back(submodule.commit);
    for (const std::string& commit : loose_) {
      if (std::ranges::find(behind, commit) == behind.end()) behind.push_back(commit);
    }
    Result<std::string> index = write_commit(trees->staged, behind, "the index\n");
    if (!index) return index;
    note_.index = *index;
    parents.push_back(*index);
    return write_commit(trees->on_disk, parents, to_message(note_));
  }

  const Surroundings& around_;
  const Repository& worktree_;
  const SnapshotRequest& request_;
  RescueNote note_;
  std::vector<std::string> loose_;  // commits that may be on no ref
  std::string listing_;
  bool listed_ = false;
  std::vector<IndexEntry> entries_;
  std::vector<std::string> untracked_;
  std::map<std::string, bool> links_;  // folders of the index: whether a link stands in the way
};

}  // namespace

Result<std::optional<Snapshot>> take_snapshot(const Surroundings& around,
                                              const Repository& worktree,
                                              const SnapshotRequest& request) {
  return Keeper(around, worktree, request).run();
}

}  // namespace dibs
