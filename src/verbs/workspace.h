// What every verb starts from: the repository we are in, its settings, who asks, and the ledger
// over its store. Parts are opened when first asked for, so that a verb pays only for what it uses.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "git/git_program.h"
#include "git/repository.h"
#include "git/worktree_identity.h"
#include "ledger/ledger.h"
#include "model/settings.h"
#include "rules/claim.h"
#include "store/store.h"
#include "store/upkeep.h"
#include "sys/clock.h"
#include "sys/counters.h"
#include "sys/file_system.h"
#include "sys/machine.h"
#include "sys/randomness.h"
#include "sys/watched_program.h"

namespace dibs {

using Warn = std::function<void(const std::string&)>;

/// The world, as main hands it down.
struct System {
  FileSystem& files;
  Clock& clock;
  Random& random;
  Machine& machine;
  const GitProgram& git;
  std::function<std::optional<std::string>(const std::string& name)> environment;
  std::string current_directory;
  std::function<Result<std::string>(std::size_t most)> standard_input = {};
  // A command of the user's, with the caller's environment and the call's on top.
  std::function<Result<WatchedEnd>(WatchedCall call)> run_command = {};
};

struct OpenedStore {
  std::unique_ptr<Store> store;
  Upkeep* upkeep = nullptr;  // part of the store; null when it needs none
};

/// Where a repository's store is, and what its settings say about it.
struct StorePlace {
  std::string directory;   // .git/dibs
  std::string common_dir;  // .git
  const Settings& settings;
  unsigned directory_mode;
};

/// One kind of store, as main names it. Verbs know kinds by name only.
struct StoreBackend {
  std::string_view kind;
  std::function<Result<OpenedStore>(const StorePlace& place, const Warn& notice)> open;
  std::function<Done(const StorePlace& place)> create;
  Promises promises;
  // What suits it better than the defaults; `init` writes it down where nobody chose otherwise.
  std::vector<std::pair<std::string_view, std::string_view>> settings = {};
  // Why there is nothing here that it could be on, for a sentence; nothing when there is.
  std::function<std::optional<std::string>(const StorePlace& place)> lacks = {};
  // Not on this machine: a change costs a round trip, and other clones make changes too.
  bool is_remote = false;
};

/// The flags that every command has.
struct GlobalOptions {
  std::optional<std::string> agent_id;
  std::optional<std::string> store;
};

class Workspace {
 public:
  Workspace(System system, std::vector<StoreBackend> backends, GlobalOptions options, Warn warn)
      : system_(std::move(system)),
        backends_(std::move(backends)),
        options_(std::move(options)),
        warn_(std::move(warn)) {}

  [[nodiscard]] Result<const Repository*> repository();
  [[nodiscard]] Result<const Settings*> settings();
  // .git/dibs; an error with `dibs init` as its hint when it is not there.
  [[nodiscard]] Result<std::string> directory();
  // Refuses file systems whose locks and flushes cannot be trusted, unless the settings allow them.
  [[nodiscard]] Done check_file_system(const std::string& directory);
  // What files made in it may be: private, or open to the group as the directory is.
  [[nodiscard]] unsigned file_mode();
  [[nodiscard]] Result<StorePlace> store_place(const std::string& directory);
  // Without what --store says.
  [[nodiscard]] Result<std::string> configured_store();
  [[nodiscard]] Result<Ledger*> ledger();
  [[nodiscard]] Result<Upkeep*> upkeep();  // null when the store needs none
  [[nodiscard]] Result<AgentId> agent();
  // From now on; `next` takes an item for the kind of worker that it chose.
  void act_as(const AgentId& agent) { options_.agent_id = agent.text; }
  [[nodiscard]] Result<WorktreeIdentity> worktree();
  // Who asks, tied to a process if `pid` or DIBS_PID names one.
  [[nodiscard]] Result<Claimant> claimant(std::optional<std::int64_t> pid = std::nullopt);
  // The same agent in another worktree of this repository, which need not be there yet.
  [[nodiscard]] Result<Claimant> claimant_in(const WorktreeId& worktree, const std::string& branch,
                                             std::optional<std::int64_t> pid = std::nullopt);
  // This very process, for what shall end with it.
  [[nodiscard]] Result<ProcessTie> own_process();
  [[nodiscard]] Result<Policy> policy();
  [[nodiscard]] Result<Counters*> counters();
  [[nodiscard]] Result<const StoreBackend*> backend();

  [[nodiscard]] System& system() { return system_; }
  [[nodiscard]] const std::vector<StoreBackend>& backends() const { return backends_; }
  [[nodiscard]] std::string config_directory() const;  // $XDG_CONFIG_HOME/dibs
  // The files that settings come from, the weakest first.
  [[nodiscard]] Result<std::vector<std::string>> settings_files();
  void warn(const std::string& message) const { warn_(message); }

 private:
  [[nodiscard]] Result<std::optional<ProcessTie>> process_tie(std::optional<std::int64_t> pid);

  System system_;
  std::vector<StoreBackend> backends_;
  GlobalOptions options_;
  Warn warn_;

  std::optional<Repository> repository_;
  std::optional<Settings> settings_;
  std::optional<std::string> directory_;
  std::optional<WorktreeIdentity> worktree_;
  std::optional<OpenedStore> opened_;
  std::unique_ptr<Ledger> ledger_;
  std::string configured_store_;
  std::unique_ptr<Counters> counters_;
};

}  // namespace dibs
