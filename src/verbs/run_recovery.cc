#include "verbs/run_recovery.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "git/worktree_identity.h"
#include "git/worktrees.h"
#include "sys/children.h"
#include "sys/processes.h"
#include "verbs/claim.h"
#include "verbs/dead_locks.h"
#include "verbs/run_steps.h"
#include "verbs/target.h"

namespace dibs::verbs {

namespace {

constexpr std::string_view kMarkEnd = ".lock";
constexpr std::string_view kWhy = "its run was killed";

/// A worktree of a run, and who worked there.
struct Orphan {
  std::string path;
  SessionId session;
  AgentId agent;
};

// Whoever holds it, or held it last.
Result<std::optional<Orphan>> orphan_in(Ledger& ledger, const Board& board,
                                        const std::string& prefix, const WorktreeId& id) {
  for (const auto& [key, seat] : board.seats) {
    for (const Lease& lease : seat.holding.leases) {
      if (lease.worktree != id) continue;
      if (!lease.session.text.starts_with(prefix)) return std::nullopt;
      return Orphan{.path = {}, .session = lease.session, .agent = lease.agent};
    }
  }
  HistoryQuery query;
  query.mentioning = id.text;
  query.newest = 1;
  const Result<History> history = ledger.store().history(query);
  if (!history) return fail(history.error());
  if (history->events.empty()) return std::nullopt;
  const Event& last = history->events.back().event;
  if (!last.session.text.starts_with(prefix)) return std::nullopt;
  return Orphan{.path = {}, .session = last.session, .agent = last.agent};
}

Result<std::vector<Orphan>> orphans_of(Workspace& workspace, const std::string& run) {
  const Result<Surroundings> around = surroundings(workspace);
  if (!around) return fail(around.error());
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  const Result<std::vector<FoundWorktree>> all = Worktrees(*around).all();
  if (!all) return fail(all.error());
  const Result<Board> board = (*ledger)->look(Selection::everything());
  if (!board) return fail(board.error());
  std::vector<Orphan> orphans;
  for (const FoundWorktree& worktree : *all) {
    if (worktree.missing || worktree.is_main()) continue;
    const auto identity = find_worktree_identity(workspace.system().files, worktree.repository);
    if (!identity || !identity->has_value()) continue;
    Result<std::optional<Orphan>> found = orphan_in(**ledger, *board, run + "-", (*identity)->id);
    if (!found) return fail(found.error());
    if (!found->has_value()) continue;
    (*found)->path = worktree.repository.root;
    orphans.push_back(**std::move(found));
  }
  return orphans;
}

// One at a time; what does not work out is worth a warning, and the rest goes on.
// Each is a step of that run: if this is killed as well, whoever comes next waits for it.
std::size_t abandon_all(Workspace& workspace, const std::string& run,
                        const std::vector<Orphan>& orphans) {
  Result<Children> children = Children::make();
  if (!children) return 0;
  std::size_t given = 0;
  for (const Orphan& orphan : orphans) {
    const RunIdentity who{.run = run,
                          .agent = orphan.agent.text,
                          .pid = workspace.system().machine.own_pid(),
                          .directory = workspace.system().current_directory,
                          .global_words = {}};
    remove_dead_locks(workspace.system().files, orphan.path);
    const Result<ChildId> child =
        children->start(abandon_step(who, orphan.session.text, orphan.path, std::string(kWhy)));
    std::optional<ChildEnded> end;
    while (child && !end) {
      for (ChildNews& news : children->wait(1000))
        if (auto* ended = std::get_if<ChildEnded>(&news)) end = std::move(*ended);
    }
    if (end && end->exit_code == 0) ++given;
    if (end && end->exit_code != 0)
      workspace.warn(printable(orphan.path) + " stays: " + printable(complaint_in(*end)));
  }
  return given;
}

Done end_leases(Workspace& workspace, const std::string& run) {
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  const Result<Board> board = (*ledger)->look(Selection::with_text(run + "-"));
  if (!board) return fail(board.error());
  for (const auto& [key, seat] : board->seats) {
    for (const Lease& lease : seat.holding.leases) {
      if (!lease.session.text.starts_with(run + "-")) continue;
      const Result<Grants> ended = force_evict(workspace, lease.id.text, std::string(kWhy));
      // It may have been taken over, or given back, since we looked.
      if (!ended && ended.error().kind == ErrorKind::unreachable) return fail(ended.error());
    }
  }
  return {};
}

// What did not work at first may the next time: others clear up and land meanwhile.
Result<std::size_t> clear_worktrees(Workspace& workspace, const std::string& run) {
  constexpr int kPassesMax = 3;
  std::size_t cleared = 0;
  for (int pass = 0; pass <= kPassesMax; ++pass) {
    const Result<std::vector<Orphan>> orphans = orphans_of(workspace, run);
    if (!orphans) return fail(orphans.error());
    if (orphans->empty()) return cleared;
    if (pass < kPassesMax) cleared += abandon_all(workspace, run, *orphans);
  }
  return fail(ErrorKind::internal, "some of its worktrees stay");
}

// A step that was under way ends by itself; until then it may be in the middle of a landing.
bool have_ended(Clock& clock, const std::string& mark) {
  constexpr int kLooksMax = 100;
  constexpr std::int64_t kPauseMs = 100;
  for (int look = 0; look < kLooksMax; ++look) {
    if (processes_with(mark).empty()) return true;
    clock.sleep_ms(kPauseMs);
  }
  return false;
}

Result<std::size_t> recover_run(Workspace& workspace, const std::string& run) {
  (void)end_processes_with(kCommandMark + run);
  if (!have_ended(workspace.system().clock, kStepMark + run))
    return fail(ErrorKind::internal, "a step of it is still under way");
  Result<std::size_t> cleared = clear_worktrees(workspace, run);
  if (!cleared) return fail(cleared.error());
  if (Done ended = end_leases(workspace, run); !ended) return fail(ended.error());
  return cleared;
}

Result<std::string> marks_folder(Workspace& workspace) {
  const Result<std::string> directory = workspace.directory();
  if (!directory) return fail(directory.error());
  return *directory + "/run";
}

}  // namespace

Result<RunMark> RunMark::make(Workspace& workspace, const std::string& run) {
  const Result<std::string> folder = marks_folder(workspace);
  if (!folder) return fail(folder.error());
  FileSystem& files = workspace.system().files;
  if (Done made = files.make_directory(*folder); !made) return fail(made.error());
  const std::string path = *folder + "/" + run + std::string(kMarkEnd);
  Result<std::unique_ptr<FileLock>> lock = files.lock(path, Patience::at_once);
  if (!lock) return fail(lock.error());
  return RunMark(files, path, *std::move(lock));
}

void RunMark::clear() { (void)files_->remove(path_); }

Result<std::size_t> recover_runs(Workspace& workspace) {
  const Result<std::string> folder = marks_folder(workspace);
  if (!folder) return fail(folder.error());
  FileSystem& files = workspace.system().files;
  const Result<std::optional<FileStatus>> there = files.status(*folder);
  if (!there || !there->has_value()) return 0;
  const Result<std::vector<std::string>> names = files.list(*folder);
  if (!names) return fail(names.error());
  std::size_t given = 0;
  for (const std::string& name : *names) {
    if (!name.starts_with("run-") || !name.ends_with(kMarkEnd)) continue;
    const std::string path = *folder + "/" + name;
    const Result<std::unique_ptr<FileLock>> lock = files.lock(path, Patience::at_once);
    if (!lock || !*lock) continue;  // it is alive, or another sees to it
    const Result<std::size_t> recovered =
        recover_run(workspace, name.substr(0, name.size() - kMarkEnd.size()));
    if (!recovered) {
      workspace.warn(fmt::format("what {} left stays for now: {}; try again with: dibs recover",
                                 printable(name), recovered.error().message));
      continue;
    }
    given += *recovered;
    (void)files.remove(path);
  }
  return given;
}

}  // namespace dibs::verbs
