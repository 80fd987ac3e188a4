#include "verbs/workspace.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace dibs {

namespace {
constexpr std::size_t kConfigFileMax = 256UL * 1024;
}

Result<const Repository*> Workspace::repository() {
  if (!repository_) {
    Result<Repository> found = find_repository(system_.files, system_.current_directory);
    if (!found) return fail(found.error());
    repository_ = *std::move(found);
  }
  return &*repository_;
}

std::string Workspace::config_directory() const {
  if (const auto xdg = system_.environment("XDG_CONFIG_HOME"); xdg && xdg->starts_with('/'))
    return *xdg + "/dibs";
  const auto home = system_.environment("HOME");
  return home && !home->empty() ? *home + "/.config/dibs" : std::string();
}

Result<std::vector<std::string>> Workspace::settings_files() {
  const Result<const Repository*> repository = this->repository();
  if (!repository) return fail(repository.error());
  std::vector<std::string> paths;
  if (const std::string own = config_directory(); !own.empty())
    paths.push_back(own + "/config.toml");
  if (!(*repository)->bare) paths.push_back((*repository)->root + "/.dibs/config.toml");
  paths.push_back((*repository)->common_dir + "/dibs/config.toml");
  return paths;
}

Result<const Settings*> Workspace::settings() {
  if (settings_) return &*settings_;
  const Result<std::vector<std::string>> paths = settings_files();
  if (!paths) return fail(paths.error());
  Settings settings;
  for (const std::string& path : *paths) {
    const Result<std::optional<std::string>> text = system_.files.read_file(path, kConfigFileMax);
    if (!text) return fail(text.error());
    if (!text->has_value()) continue;
    const Result<std::vector<Assignment>> assignments = parse_settings(**text, path);
    if (!assignments) return fail(assignments.error());
    settings.apply(*assignments);
  }
  for (const SettingSpec& spec : setting_specs()) {
    const std::string name = environment_name(spec);
    const std::optional<std::string> value = system_.environment(name);
    if (!value) continue;
    const Result<Assignment> assignment = check_setting(spec.key, *value, name);
    if (!assignment) return fail(assignment.error());
    settings.apply({&*assignment, 1});
  }
  configured_store_ = settings.text("store.kind");
  if (options_.store) {
    const Result<Assignment> assignment = check_setting("store.kind", *options_.store, "--store");
    if (!assignment) return fail(assignment.error());
    settings.apply({&*assignment, 1});
  }
  settings_ = std::move(settings);
  return &*settings_;
}

Result<const StoreBackend*> Workspace::backend() {
  const Result<const Settings*> settings = this->settings();
  if (!settings) return fail(settings.error());
  const std::string_view kind = (*settings)->text("store.kind");
  const auto found = std::ranges::find(backends_, kind, &StoreBackend::kind);
  if (found != backends_.end()) return &*found;
  return fail(ErrorKind::usage, fmt::format("this dibs has no {} store", printable(kind)),
              "see: dibs promises");
}

Done Workspace::check_file_system(const std::string& directory) {
  const Result<const Settings*> settings = this->settings();
  if (!settings) return fail(settings.error());
  const std::optional<std::string> kind = system_.files.untrusted_kind(directory);
  if (!kind || (*settings)->boolean("store.allow_network_file_system")) return {};
  return fail(ErrorKind::not_set_up,
              fmt::format("{} is on {}, where locks and flushes cannot be trusted",
                          printable(directory), *kind),
              "move the repository to a local disk, or accept the risk with: "
              "export DIBS_STORE_ALLOW_NETWORK_FILE_SYSTEM=true");
}

Result<std::string> Workspace::directory() {
  if (directory_) return *directory_;
  const Result<const Repository*> repository = this->repository();
  if (!repository) return fail(repository.error());
  std::string directory = (*repository)->common_dir + "/dibs";
  const Result<std::optional<FileStatus>> locks = system_.files.status(directory + "/locks");
  if (!locks) return fail(locks.error());
  if (!locks->has_value() || (*locks)->kind != FileKind::directory) {
    return fail(ErrorKind::not_set_up,
                fmt::format("dibs is not set up in {}", printable((*repository)->root)),
                "set it up with: dibs init");
  }
  if (Done fine = check_file_system(directory); !fine) return fail(fine.error());
  directory_ = directory;
  return directory;
}

Result<StorePlace> Workspace::store_place(const std::string& directory) {
  const Result<const Repository*> repository = this->repository();
  if (!repository) return fail(repository.error());
  const Result<const Settings*> settings = this->settings();
  if (!settings) return fail(settings.error());
  return StorePlace{.directory = directory,
                    .common_dir = (*repository)->common_dir,
                    .settings = **settings,
                    .directory_mode = shared_directory_mode(system_.files, **repository)};
}

Result<std::string> Workspace::configured_store() {
  const Result<const Settings*> settings = this->settings();
  if (!settings) return fail(settings.error());
  return configured_store_;
}

Result<Ledger*> Workspace::ledger() {
  if (ledger_) return ledger_.get();
  const Result<std::string> directory = this->directory();
  if (!directory) return fail(directory.error());
  const Result<const StoreBackend*> backend = this->backend();
  if (!backend) return fail(backend.error());
  const Result<StorePlace> place = store_place(*directory);
  if (!place) return fail(place.error());
  Result<OpenedStore> opened = (*backend)->open(*place, warn_);
  if (!opened) return fail(opened.error());
  opened_ = *std::move(opened);
  ledger_ =
      std::make_unique<Ledger>(*opened_->store, system_.clock, system_.random, system_.machine);
  return ledger_.get();
}

Result<Upkeep*> Workspace::upkeep() {
  const Result<Ledger*> opened = ledger();
  if (!opened) return fail(opened.error());
  return opened_->upkeep;
}

unsigned Workspace::file_mode() {
  const Result<std::string> directory = this->directory();
  if (!directory) return kPrivateFile;
  const Result<std::optional<FileStatus>> status = system_.files.status(*directory);
  return status && status->has_value() ? (*status)->mode & 0666U : kPrivateFile;
}

Result<Counters*> Workspace::counters() {
  if (!counters_) {
    const Result<std::string> directory = this->directory();
    if (!directory) return fail(directory.error());
    counters_ = std::make_unique<MappedCounters>(*directory + "/counters", file_mode());
  }
  return counters_.get();
}

Result<AgentId> Workspace::agent() {
  if (options_.agent_id) return parse_agent_id(*options_.agent_id);
  if (const auto from_environment = system_.environment("DIBS_AGENT_ID"))
    return parse_agent_id(*from_environment);
  const std::string own = config_directory();
  if (!own.empty()) {
    const std::string path = own + "/agent.toml";
    const Result<std::optional<std::string>> text = system_.files.read_file(path, kConfigFileMax);
    if (!text) return fail(text.error());
    if (text->has_value()) {
      const Result<std::optional<std::string>> id = parse_agent_file(**text, path);
      if (!id) return fail(id.error());
      if (id->has_value()) return parse_agent_id(**id);
    }
  }
  return fail(ErrorKind::usage, "dibs does not know who you are",
              "say so for this shell: export DIBS_AGENT_ID=agent:your-name");
}

Result<WorktreeIdentity> Workspace::worktree() {
  if (worktree_) return *worktree_;
  const Result<const Repository*> repository = this->repository();
  if (!repository) return fail(repository.error());
  Result<WorktreeIdentity> identity =
      worktree_identity(system_.files, system_.clock, system_.random, **repository);
  if (!identity) return fail(identity.error());
  if (identity->moved_from) {
    warn(fmt::format("this worktree was moved from {}; it keeps its name {}",
                     printable(*identity->moved_from), identity->id.text));
  }
  worktree_ = *identity;
  return identity;
}

Result<std::optional<ProcessTie>> Workspace::process_tie(std::optional<std::int64_t> pid) {
  if (!pid) {
    const auto from_environment = system_.environment("DIBS_PID");
    if (!from_environment) return std::nullopt;
    const auto number = parse_unsigned(*from_environment);
    if (!number || *number == 0 || *number > INT32_MAX) {
      return fail(
          ErrorKind::usage,
          fmt::format("DIBS_PID is '{}', which is no process id", printable(*from_environment)),
          "set it to the pid of the process that the session lives in, or unset it");
    }
    pid = static_cast<std::int64_t>(*number);
  }
  const std::optional<ProcessView> process = system_.machine.find_process(*pid);
  if (!process || process->zombie) {
    return fail(ErrorKind::not_found, fmt::format("there is no process {}", *pid),
                "tie the lease to one that runs, for example the shell: --pid $$");
  }
  return ProcessTie{.host = system_.machine.host_name(),
                    .boot = system_.clock.now().boot,
                    .pid_namespace = system_.machine.pid_namespace(),
                    .pid = *pid,
                    .start_ticks = process->start_ticks};
}

Result<Claimant> Workspace::claimant(std::optional<std::int64_t> pid) {
  // First of all: naming a worktree writes a file, and nothing is written where dibs is not set up.
  if (const Result<std::string> set_up = directory(); !set_up) return fail(set_up.error());
  const Result<AgentId> agent = this->agent();
  if (!agent) return fail(agent.error());
  const Result<const Settings*> settings = this->settings();
  if (!settings) return fail(settings.error());
  const Result<const Repository*> repository = this->repository();
  if (!repository) return fail(repository.error());
  const std::string_view mode = (*settings)->text("worktree.mode");
  if (mode == "on" && (*repository)->bare) {
    return fail(ErrorKind::refused, "worktree.mode is on, and this is no worktree",
                "go into a worktree and try again");
  }
  Claimant claimant{
      .agent = *agent, .session = {}, .worktree = {}, .branch = {}, .process = std::nullopt};
  if (mode != "off") {
    const Result<WorktreeIdentity> worktree = this->worktree();
    if (!worktree) return fail(worktree.error());
    claimant.worktree = worktree->id;
    claimant.branch = current_branch(system_.files, **repository);
  }
  claimant.session = session_of(*agent, claimant.worktree);
  if (const auto named = system_.environment("DIBS_SESSION"); named && !named->empty()) {
    const Result<SessionId> session = parse_session_id(*named);
    if (!session) return fail(session.error());
    claimant.session = *session;
  }
  const Result<std::optional<ProcessTie>> process = process_tie(pid);
  if (!process) return fail(process.error());
  claimant.process = *process;
  return claimant;
}

Result<Claimant> Workspace::claimant_in(const WorktreeId& worktree, const std::string& branch,
                                        std::optional<std::int64_t> pid) {
  Result<Claimant> claimant = this->claimant(pid);
  if (!claimant || claimant->worktree.empty()) return claimant;
  // A session that was named stays; one that is this agent here becomes this agent there.
  if (claimant->session == session_of(claimant->agent, claimant->worktree))
    claimant->session = session_of(claimant->agent, worktree);
  claimant->worktree = worktree;
  claimant->branch = branch;
  return claimant;
}

Result<ProcessTie> Workspace::own_process() {
  Result<std::optional<ProcessTie>> own = process_tie(system_.machine.own_pid());
  if (!own) return fail(own.error());
  return **std::move(own);
}

Result<Policy> Workspace::policy() {
  const Result<const Settings*> settings = this->settings();
  if (!settings) return fail(settings.error());
  const auto number = [&](const char* key) { return (*settings)->integer(key); };
  return Policy{.stale_after_secs = number("coordination.stale_after_secs"),
                .indefinite_per_agent =
                    static_cast<std::size_t>(number("coordination.max_indefinite_per_agent")),
                .indefinite_per_repository =
                    static_cast<std::size_t>(number("coordination.max_indefinite_per_repository"))};
}

}  // namespace dibs
