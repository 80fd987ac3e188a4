#include "items/folders_source.h"

#include <fmt/core.h>

#include "base/text.h"
#include "git/branch_push.h"

namespace dibs {

namespace {

// Why a file cannot say what an item is; empty when it can.
std::string unreadable_why(const BranchEntry& entry) {
  return entry.is_file ? "" : "it is no file";
}

std::vector<std::string> paths_of(const std::vector<BranchEntry>& files) {
  std::vector<std::string> paths;
  for (const BranchEntry& file : files) paths.push_back(file.path);
  return paths;
}

}  // namespace

Result<std::string> FoldersSource::tip() {
  if (landing_) return landing_->to;
  Result<std::string> commit = refs_.commit_at(branch_.seen());
  if (commit && commit->empty()) return branch_.commit;
  return commit;
}

Result<std::vector<BranchEntry>> FoldersSource::files_at(const std::string& commit) {
  if (commit.empty()) return std::vector<BranchEntry>{};
  Result<std::vector<BranchEntry>> files = commits_.list_below(commit, folder_);
  if (!files) return files;
  if (files->size() > kSourceFilesMax)
    return fail(ErrorKind::refused, fmt::format("{} has too many files", printable(folder_)));
  for (BranchEntry& file : *files) file.path.erase(0, folder_.size() + 1);
  return files;
}

Result<std::vector<WorkFolders::Move>> FoldersSource::gather(std::vector<BranchEntry>& files) {
  const Result<std::vector<BranchEntry>> before =
      files_at(landing_->from.empty() ? branch_.commit : landing_->from);
  if (!before) return fail(before.error());
  std::vector<WorkFolders::Move> moves =
      torn_apart(FolderLayout(workflow_), paths_of(*before), paths_of(files));
  std::map<std::string, std::string> to;
  for (const WorkFolders::Move& move : moves) to[move.from] = move.to;
  for (BranchEntry& file : files) {
    if (const auto moved = to.find(file.path); moved != to.end()) file.path = moved->second;
  }
  return moves;
}

Result<std::shared_ptr<const FoldersSource::Read>> FoldersSource::read_at(
    const std::string& commit) {
  if (last_ != nullptr && last_commit_ == commit) return last_;
  Result<Read> read = read_anew(commit);
  if (!read) return fail(read.error());
  last_ = std::make_shared<const Read>(*std::move(read));
  last_commit_ = commit;
  return last_;
}

Result<FoldersSource::Read> FoldersSource::read_anew(const std::string& commit) {
  Result<std::vector<BranchEntry>> files = files_at(commit);
  if (!files) return fail(files.error());
  Result<std::vector<WorkFolders::Move>> gathered = std::vector<WorkFolders::Move>{};
  if (landing_) gathered = gather(*files);
  if (!gathered) return fail(gathered.error());
  std::vector<FolderEntry> entries;
  std::map<std::string, const BranchEntry*> by_path;
  for (const BranchEntry& file : *files) {
    entries.push_back({.path = file.path, .unreadable_why = unreadable_why(file)});
    by_path[file.path] = &file;
  }
  Read read{.work = WorkFolders(workflow_, entries), .gathered = *std::move(gathered), .modes = {}};
  const std::vector<std::string> paths = read.work.main_files();
  std::vector<std::string> objects;
  for (const std::string& path : paths) objects.push_back(by_path.at(path)->object);
  std::map<std::string, std::string> texts;
  const Done got = commits_.read_each(objects, kItemFileBytesMax, [&](const ObjectText& object) {
    if (object.text) texts[paths[object.number]] = *object.text;
  });
  if (!got) return fail(got.error());
  for (const std::string& path : paths) read.modes[path] = by_path.at(path)->mode;
  read.work.read(texts);
  return read;
}

Result<ItemList> FoldersSource::read_all() {
  const Result<std::string> commit = tip();
  if (!commit) return fail(commit.error());
  const Result<std::shared_ptr<const Read>> read = read_at(*commit);
  if (!read) return fail(read.error());
  ItemList list = (*read)->work.list();
  for (StoredItem& stored : list.items) stored.file = folder_ + "/" + stored.file;
  for (BrokenItem& broken : list.broken) broken.file = folder_ + "/" + broken.file;
  return list;
}

Result<Catalog> FoldersSource::catalog(const Workflow& workflow) {
  const Result<std::string> commit = tip();
  if (!commit) return fail(commit.error());
  Result<Catalog> catalog = ItemSource::catalog(workflow);
  if (catalog) catalog->now_shows(*commit);
  return catalog;
}

Result<bool> FoldersSource::is_up_to_date(const Catalog& catalog) {
  const Result<std::string> commit = tip();
  if (!commit) return fail(commit.error());
  return *commit == catalog.shows();
}

Result<std::vector<StoredItem>> FoldersSource::read(const std::vector<ItemId>& ids) {
  const Result<ItemList> list = read_all();
  if (!list) return fail(list.error());
  return chosen(*list, ids);
}

Result<std::optional<BranchFiles::NewCommit>> FoldersSource::commit_of(const Batch& batch,
                                                                       const std::string& parent) {
  const Result<std::shared_ptr<const Read>> read = read_at(parent);
  if (!read) return fail(read.error());
  const auto writes = (*read)->work.changes(batch.changes, Precision::of_the_form);
  if (!writes) return fail(writes.error());
  if (!*writes) return std::nullopt;
  BranchFiles::NewCommit commit{.parent = parent,
                                .changes = {},
                                .message = batch.message + "\n",
                                .unix_ms = batch.unix_ms,
                                .author = batch.author.text};
  for (const auto* moves : {&(*read)->gathered, &(*writes)->moves}) {
    for (const WorkFolders::Move& move : *moves)
      commit.moves.push_back({.from = folder_ + "/" + move.from, .to = folder_ + "/" + move.to});
  }
  for (const WorkFolders::Text& file : (*writes)->files) {
    FileChange change{.path = folder_ + "/" + file.path, .text = file.text};
    const auto mode = (*read)->modes.find(file.was);
    if (mode != (*read)->modes.end()) change.mode = mode->second;
    commit.changes.push_back(std::move(change));
  }
  return commit;
}

Result<bool> FoldersSource::write(const Batch& batch) {
  const auto lock = site_.files.lock(site_.lock_file, Patience::wait);
  if (!lock) return fail(lock.error());
  const Result<std::string> parent = tip();
  if (!parent) return fail(parent.error());
  const auto commit = commit_of(batch, *parent);
  if (!commit) return fail(commit.error());
  if (!*commit) return false;
  if ((*commit)->changes.empty() && (*commit)->moves.empty()) return true;
  if (!branch_.remote.empty()) return send(**commit);
  const auto made = commits_.put(**commit, branch_.ref());
  if (!made) return fail(made.error());
  return made->has_value();
}

Result<bool> FoldersSource::send(const BranchFiles::NewCommit& commit) {
  const Result<std::string> made = commits_.write(commit);
  if (!made) return fail(made.error());
  const Result<PushEnd> end =
      push_branch(site_.git, site_.git_dir, branch_.remote,
                  {.name = branch_.ref(), .from = commit.parent, .to = *made});
  if (!end) return fail(end.error());
  if (end->kind == PushEnd::Kind::moved) {
    note_seen(*made);
    return true;
  }
  if (end->kind == PushEnd::Kind::lost || end->kind == PushEnd::Kind::unknown) {
    if (Done looked = branch_.look_again(); !looked) return fail(looked.error());
    const Result<std::string> now = tip();
    if (!now) return fail(now.error());
    if (*now == *made) return true;
    if (*now != commit.parent) return false;
  }
  return fail(end->kind == PushEnd::Kind::refused ? ErrorKind::refused : ErrorKind::unreachable,
              fmt::format("{} of {} did not move: {}", printable(branch_.name),
                          printable(branch_.remote), end->why),
              "nothing has changed; run the command again when it can be pushed to");
}

// As git does after a push, where it knows the branch.
void FoldersSource::note_seen(const std::string& commit) {
  if (branch_.remote.empty()) return;
  (void)site_.git.run({.git_dir = site_.git_dir,
                       .arguments = {"update-ref", "-m", "dibs", branch_.seen(), commit},
                       .input = {}});
}

void FoldersSource::moved(const Prepared& prepared, const Batch& /*batch*/) {
  note_seen(prepared.to);
}

bool FoldersSource::stand_on(const RefMove& landing) {
  if (landing.name != branch_.ref()) return false;
  landing_ = landing;
  last_.reset();
  return true;
}

Result<std::optional<ItemSource::Prepared>> FoldersSource::prepare(const Batch& batch) {
  Result<std::unique_ptr<FileLock>> turn = site_.files.lock(site_.lock_file, Patience::wait);
  if (!turn) return fail(turn.error());
  const Result<std::string> parent = tip();
  if (!parent) return fail(parent.error());
  const auto commit = commit_of(batch, *parent);
  if (!commit) return fail(commit.error());
  if (!*commit) return std::nullopt;
  const bool changes_nothing = (*commit)->changes.empty() && (*commit)->moves.empty();
  const Result<std::string> made = changes_nothing ? *parent : commits_.write(**commit);
  if (!made) return fail(made.error());
  return Prepared{.ref = branch_.ref(),
                  .from = landing_ ? landing_->from : *parent,
                  .to = *made,
                  .turn = std::shared_ptr<const FileLock>(*std::move(turn))};
}

Result<std::vector<ItemRevision>> FoldersSource::history(const ItemId& id, std::size_t most) {
  const Result<std::string> commit = tip();
  if (!commit) return fail(commit.error());
  const Result<std::vector<StoredItem>> stored = read({id});
  if (!stored) return fail(stored.error());
  if (stored->empty()) return std::vector<ItemRevision>{};
  SourceSite at_tip = site_;
  at_tip.tip = *commit;
  return file_history(at_tip, stored->front().file, {}, most);
}

}  // namespace dibs
