#include "verbs/item_sync.h"

#include <fmt/core.h>

#include "base/text.h"
#include "verbs/target.h"

namespace dibs::verbs {

namespace {

constexpr std::size_t kStampBytesMax = 64;

Result<ItemSync> sync_of(Workspace& workspace, const std::string& remote) {
  const Result<std::string> directory = workspace.directory();
  if (!directory) return fail(directory.error());
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  // Looking at items takes no name, and a merge that it makes has none either.
  const Result<AgentId> agent = workspace.agent();
  System& system = workspace.system();
  return ItemSync(
      {.files = system.files, .clock = system.clock, .random = system.random, .git = system.git},
      {.directory = *directory,
       .common_dir = (*repository)->common_dir,
       .file_mode = workspace.file_mode()},
      {.name = remote, .prefix = std::string((*settings)->text("store.ref_prefix"))},
      agent ? agent->text : "dibs");
}

Result<ItemSyncEnd> sync_with(Workspace& workspace, const std::string& remote,
                              ItemSync::Begin begin) {
  Result<ItemSync> sync = sync_of(workspace, remote);
  if (!sync) return fail(sync.error());
  Result<ItemSyncEnd> end = sync->run(begin);
  if (end) {
    for (const std::string& note : end->notes) workspace.warn(note);
  }
  return end;
}

Done check_remote(Workspace& workspace, const std::string& remote) {
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const Result<ProgramEnd> url =
      workspace.system().git.run({.git_dir = (*repository)->common_dir,
                                  .arguments = {"remote", "get-url", "--", remote},
                                  .input = {}});
  if (!url) return fail(url.error());
  if (url->succeeded()) return {};
  return fail(ErrorKind::not_set_up,
              fmt::format("this repository has no remote {}", printable(remote)),
              fmt::format("add it with: git remote add {} URL", shell_word(remote)));
}

/// When the items were last looked for on the store's remote, remembered between processes.
class LastLook {
 public:
  explicit LastLook(Workspace& workspace, std::string directory)
      : workspace_(workspace), path_(std::move(directory) + "/items.synced") {}

  // Also when the clock was set back since: then nobody knows how old it is.
  [[nodiscard]] bool is_older_than(std::int64_t ms) const {
    const Result<std::optional<std::string>> text =
        workspace_.system().files.read_file(path_, kStampBytesMax);
    if (!text || !text->has_value()) return true;
    const std::optional<std::uint64_t> then = parse_unsigned(trim(**text));
    const std::int64_t now = workspace_.system().clock.now().unix_ms;
    return !then || static_cast<std::int64_t>(*then) > now ||
           now - static_cast<std::int64_t>(*then) >= ms;
  }

  // One that failed counts too: a remote that is away is not asked by every command.
  void note() const {
    (void)workspace_.system().files.replace_file(
        path_, fmt::format("{}\n", workspace_.system().clock.now().unix_ms),
        workspace_.file_mode());
  }

 private:
  Workspace& workspace_;
  std::string path_;
};

struct Automatic {
  bool on_own_ref = true;  // otherwise items lie on the target branch
  std::string remote;
  std::string directory;
  std::int64_t every_ms = 0;
};

// Nothing where items are synced by hand only. What is wrong with the set-up others will say.
std::optional<Automatic> automatic(Workspace& workspace) {
  const Result<const Settings*> settings = workspace.settings();
  const Result<const StoreBackend*> backend = workspace.backend();
  const Result<std::string> directory = workspace.directory();
  if (!settings || !backend || !directory) return std::nullopt;
  if (!(*backend)->is_remote || (*settings)->text("items.sync") != "auto") return std::nullopt;
  // What lies in the work tree goes with its commits.
  const std::string_view source = (*settings)->text("items.source");
  if (source != "native" && source != "folders") return std::nullopt;
  return Automatic{.on_own_ref = source == "native",
                   .remote = std::string((*settings)->text("store.remote")),
                   .directory = *directory,
                   .every_ms = (*settings)->integer("items.sync_secs") * 1000};
}

Done look(Workspace& workspace, const Automatic& how) {
  if (!how.on_own_ref) {
    const Result<Target> target = find_target(workspace);
    return target ? Done{} : Done(fail(target.error()));
  }
  const Result<ItemSyncEnd> end = sync_with(workspace, how.remote, ItemSync::Begin::fetch);
  return end ? Done{} : Done(fail(end.error()));
}

}  // namespace

Result<SyncedItems> sync_items(Workspace& workspace, const std::optional<std::string>& remote) {
  const Result<std::string> directory = workspace.directory();
  if (!directory) return fail(directory.error());
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  const std::string usual((*settings)->text("store.remote"));
  SyncedItems synced{.remote = remote.value_or(usual), .end = {}};
  if (Done there = check_remote(workspace, synced.remote); !there) return fail(there.error());
  Result<ItemSyncEnd> end = sync_with(workspace, synced.remote, ItemSync::Begin::fetch);
  if (!end) return fail(end.error());
  synced.end = *std::move(end);
  if (synced.remote == usual) LastLook(workspace, *directory).note();
  return synced;
}

std::optional<ItemSync> automatic_sync(Workspace& workspace) {
  const std::optional<Automatic> how = automatic(workspace);
  if (!how || !how->on_own_ref) return std::nullopt;
  Result<ItemSync> sync = sync_of(workspace, how->remote);
  return sync ? std::optional(*std::move(sync)) : std::nullopt;
}

void send_items(Workspace& workspace) {
  const std::optional<Automatic> how = automatic(workspace);
  if (!how || !how->on_own_ref) return;
  const Result<ItemSyncEnd> end = sync_with(workspace, how->remote, ItemSync::Begin::push);
  if (!end)
    workspace.warn(
        fmt::format("the change is made here and not on {} yet: {}; send it later with: "
                    "dibs item sync",
                    printable(how->remote), end.error().message));
}

void look_for_items(Workspace& workspace) {
  const std::optional<Automatic> how = automatic(workspace);
  if (!how) return;
  const LastLook last(workspace, how->directory);
  if (!last.is_older_than(how->every_ms)) return;
  // Of many that ask at once one looks for all.
  const Result<std::unique_ptr<FileLock>> turn = workspace.system().files.lock(
      how->directory + "/locks/items-look.lock", Patience::wait, workspace.file_mode());
  if (turn && !last.is_older_than(how->every_ms)) return;
  const Done looked = look(workspace, *how);
  last.note();
  if (!looked)
    workspace.warn(
        fmt::format("these are the items as they were last seen: {}", looked.error().message));
}

}  // namespace dibs::verbs
