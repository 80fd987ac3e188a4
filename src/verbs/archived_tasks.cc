#include "verbs/archived_tasks.h"

#include <fmt/core.h>

#include "base/text.h"
#include "model/resource.h"

namespace dibs::verbs {

namespace {

constexpr std::string_view kArchive = "aitasks/archived/";

// The digits at the front, which an underscore has to follow; both are taken off.
std::optional<std::string> take_number(std::string_view& text) {
  const std::size_t end = text.find_first_not_of("0123456789");
  if (end == 0 || end == std::string_view::npos || text[end] != '_') return std::nullopt;
  std::string number(text.substr(0, end));
  text.remove_prefix(end + 1);
  return number;
}

// Of a path below the archive: t42_name.md, or t42/t42_1_name.md.
std::optional<std::string> task_of(std::string_view path) {
  if (!path.ends_with(".md")) return std::nullopt;
  const std::size_t slash = path.find('/');
  const bool child = slash != std::string_view::npos;
  const std::string_view folder = child ? path.substr(0, slash) : std::string_view();
  std::string_view name = child ? path.substr(slash + 1) : path;
  if (!name.starts_with('t')) return std::nullopt;
  name.remove_prefix(1);
  std::optional<std::string> parent = take_number(name);
  if (!parent || !child) return parent;
  const std::optional<std::string> number = take_number(name);
  if (!number || folder != "t" + *parent) return std::nullopt;
  return *parent + "_" + *number;
}

}  // namespace

ArchivedTasks archived_in(std::string_view names_by_nul) {
  ArchivedTasks archived;
  for (const std::string_view name : split(names_by_nul, '\0')) {
    if (!name.starts_with(kArchive)) continue;
    if (auto task = task_of(name.substr(kArchive.size())))
      archived.emplace(*std::move(task), std::string(name));
  }
  return archived;
}

Result<ArchivedTasks> archived_tasks(Workspace& workspace) {
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  const Result<const StoreBackend*> backend = workspace.backend();
  if (!backend) return fail(backend.error());
  const bool on_a_lock_branch =
      (*backend)->kind == "git" && (*settings)->text("store.layout") == "lock-branch";
  if (!on_a_lock_branch) return ArchivedTasks{};
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const Result<ProgramEnd> listed =
      workspace.system().git.run({.git_dir = (*repository)->git_dir,
                                  .arguments = {"ls-tree", "-r", "-z", "--name-only", "--full-tree",
                                                "HEAD", "--", std::string(kArchive)},
                                  .input = {}});
  if (!listed) return fail(listed.error());
  // Without a commit there is no archive either.
  return listed->succeeded() ? archived_in(listed->out) : ArchivedTasks{};
}

void note_archived(Board& board, const ArchivedTasks& archived) {
  for (const auto& [key, seat] : board.seats) {
    const std::optional<Resource> resource = resource_of(key);
    if (!resource || resource->kind != ResourceKind::item) continue;
    const auto task = archived.find(resource->name);
    if (task == archived.end()) continue;
    for (const Lease& lease : seat.holding.leases) {
      if (!lease.indefinite()) continue;
      board.gone.try_emplace(lease.id,
                             fmt::format("the task is archived: {}", printable(task->second)));
    }
  }
}

}  // namespace dibs::verbs
