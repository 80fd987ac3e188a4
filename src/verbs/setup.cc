#include "verbs/setup.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "verbs/claim.h"
#include "verbs/leftovers.h"
#include "verbs/observe.h"
#include "verbs/run_recovery.h"

namespace dibs::verbs {

namespace {

void check_agent(Workspace& workspace, std::vector<Finding>& findings) {
  const Result<AgentId> agent = workspace.agent();
  if (agent) {
    findings.push_back({.level = Finding::Level::ok, .what = "you are " + agent->text, .fix = {}});
  } else {
    findings.push_back({.level = Finding::Level::warning,
                        .what = agent.error().message,
                        .fix = agent.error().hint});
  }
}

/// A path in .git/dibs whose mode is not the one that the repository's sharing asks for.
struct WrongMode {
  std::string path;
  unsigned is = 0;
  unsigned wanted = 0;
};

// Wider modes let others read or change who holds what; narrower ones lock out a group that shares.
std::vector<WrongMode> wrong_modes(Workspace& workspace, const std::string& directory) {
  std::vector<WrongMode> wrong;
  FileSystem& files = workspace.system().files;
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return wrong;
  const unsigned wanted = shared_directory_mode(files, **repository);
  const auto look = [&](const std::string& path) {
    const auto status = files.status(path);
    if (!status || !status->has_value()) return;
    const bool folder = (*status)->kind == FileKind::directory;
    if (!folder && (*status)->kind != FileKind::regular) return;
    const unsigned right = folder ? wanted : wanted & 0666U;
    if (((*status)->mode & 0777U) != (right & 0777U))
      wrong.push_back({.path = path, .is = (*status)->mode & 0777U, .wanted = right});
  };
  for (const char* folder : {"", "/locks", "/heartbeat"}) {
    look(directory + folder);
    const Result<std::vector<std::string>> names = files.list(directory + folder);
    for (const std::string& name : names ? *names : std::vector<std::string>{}) {
      const auto status = files.status(directory + folder + "/" + name);
      if (status && status->has_value() && (*status)->kind == FileKind::regular)
        look(directory + folder + "/" + name);
    }
  }
  return wrong;
}

void check_places(Workspace& workspace, const std::string& directory,
                  std::vector<Finding>& findings) {
  for (const char* folder : {"", "/locks", "/heartbeat"}) {
    const auto status = workspace.system().files.status(directory + folder);
    if (status && status->has_value() && (*status)->kind == FileKind::directory) continue;
    findings.push_back(
        {.level = Finding::Level::problem,
         .what = fmt::format("{}{} is not a directory", printable(directory), folder),
         .fix =
             fmt::format("remove it, then run dibs init: rm {}", shell_word(directory + folder))});
  }
  for (const WrongMode& wrong : wrong_modes(workspace, directory)) {
    findings.push_back({.level = Finding::Level::warning,
                        .what = fmt::format("{} has mode {:o}, and this repository wants {:o}",
                                            printable(wrong.path), wrong.is, wrong.wanted & 0777U),
                        .fix = fmt::format("chmod {:o} {}", wrong.wanted, shell_word(wrong.path))});
  }
}

// What has ended and is still listed, and what the settings call worth a warning.
void check_leases(Workspace& workspace, std::vector<Finding>& findings) {
  using Level = Finding::Level;
  const Result<std::vector<Ended>> ended =
      cleanup(workspace, {.older_than_secs = 0, .dry_run = true});
  const Result<Metrics> numbers = metrics(workspace, Counting::passing);
  if (!ended || !numbers) {
    const Error& error = ended ? numbers.error() : ended.error();
    findings.push_back({.level = Level::problem, .what = error.message, .fix = error.hint});
    return;
  }
  for (const Alert& alert : numbers->alerts)
    findings.push_back({.level = Level::warning, .what = alert.what, .fix = alert.fix});
  if (ended->empty() || std::ranges::count(numbers->alerts, Alert::About::stale, &Alert::about) > 0)
    return;
  findings.push_back({.level = Level::warning,
                      .what = fmt::format("{} leases have ended or gone stale and are still listed",
                                          ended->size()),
                      .fix = "dibs claim cleanup"});
}

}  // namespace

namespace {

// Leases that stay behind in a store nobody looks at any more would protect nothing.
Done check_nothing_is_left_behind(Workspace& workspace, const std::string& old_kind,
                                  const StorePlace& place) {
  const auto old = std::ranges::find(workspace.backends(), old_kind, &StoreBackend::kind);
  if (old == workspace.backends().end()) return {};
  const Result<OpenedStore> opened =
      old->open(place, [&](const std::string& text) { workspace.warn(text); });
  if (!opened) return fail(opened.error());
  const Result<View> view = opened->store->read(Selection::everything());
  if (!view) return fail(view.error());
  const bool held = std::ranges::any_of(
      view->records, [](const Record& record) { return resource_of(record.key).has_value(); });
  if (!held) return {};
  return fail(
      ErrorKind::refused,
      fmt::format("there are leases in the {} store, and they would be left behind", old_kind),
      "see them with: dibs claim list");
}

// The settings as they will be.
Done apply_request(Settings& settings, const Init& request) {
  const auto apply = [&](const char* key, const std::optional<std::string>& value,
                         const char* option) -> Done {
    if (!value) return {};
    const Result<Assignment> assignment = check_setting(key, *value, option);
    if (!assignment) return fail(assignment.error());
    settings.apply({{*assignment}});
    return {};
  };
  if (Done remote = apply("store.remote", request.remote, "--remote"); !remote) return remote;
  return apply("store.layout", request.layout, "--layout");
}

// Writes down what was chosen, and what suits that store where nobody chose otherwise.
Done keep_choice(Workspace& workspace, const StoreBackend& backend, bool other_kind,
                 const Init& request) {
  std::vector<std::pair<std::string, std::string>> chosen;
  if (other_kind) chosen.emplace_back("store.kind", backend.kind);
  if (request.remote) chosen.emplace_back("store.remote", *request.remote);
  if (request.layout) chosen.emplace_back("store.layout", *request.layout);
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  for (const auto& [key, value] : backend.settings) {
    if ((*settings)->origin(key) == "default") chosen.emplace_back(key, value);
  }
  for (const auto& [key, value] : chosen) {
    const Result<SettingLine> set = write_setting(workspace, key, value, Audience::this_clone);
    if (!set) return fail(set.error());
  }
  return {};
}

}  // namespace

namespace {

// Sets up the store of this machine in place of one that has nothing to be on. Only where that one
// is not in use yet: changing over by itself would leave leases behind.
Result<Initialised> init_in_place_of(Workspace& workspace, const std::string& lack);

Result<Initialised> init_on(Workspace& workspace, const StoreBackend& backend,
                            const Init& request) {
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const Result<std::string> configured = workspace.configured_store();
  if (!configured) return fail(configured.error());
  if (Done fine = workspace.check_file_system((*repository)->common_dir); !fine)
    return fail(fine.error());
  const bool set_up = workspace.directory().has_value();
  const bool other_kind = backend.kind != *configured;
  Initialised done{.directory = (*repository)->common_dir + "/dibs",
                   .store = std::string(backend.kind),
                   .already = set_up && !other_kind && !request.remote && !request.layout};
  if (done.already) return done;
  Result<StorePlace> place = workspace.store_place(done.directory);
  if (!place) return fail(place.error());
  Settings settings = place->settings;
  if (Done applied = apply_request(settings, request); !applied) return fail(applied.error());
  if (const auto lack = backend.lacks ? backend.lacks(*place) : std::nullopt;
      lack && (other_kind || !set_up))
    return init_in_place_of(workspace, *lack);
  const bool elsewhere =
      other_kind || settings.text("store.layout") != place->settings.text("store.layout");
  if (set_up && elsewhere) {
    if (Done nothing = check_nothing_is_left_behind(workspace, *configured, *place); !nothing)
      return fail(nothing.error());
  }
  const StorePlace chosen{.directory = place->directory,
                          .common_dir = place->common_dir,
                          .settings = settings,
                          .directory_mode = place->directory_mode};
  if (Done created = backend.create(chosen); !created) return fail(created.error());
  if (Done kept = keep_choice(workspace, backend, other_kind, request); !kept)
    return fail(kept.error());
  return done;
}

Result<Initialised> init_in_place_of(Workspace& workspace, const std::string& lack) {
  const auto here = std::ranges::find(workspace.backends(), false, &StoreBackend::is_remote);
  if (here == workspace.backends().end()) return fail(ErrorKind::not_set_up, lack);
  Result<Initialised> done = init_on(workspace, *here, {});
  if (!done) return done;
  done->note = fmt::format(
      "{}, so leases are kept on this machine alone, in the {} store; change over later with: git "
      "remote add origin URL && dibs init --store git",
      lack, here->kind);
  workspace.warn(done->note);
  return done;
}

}  // namespace

Result<Initialised> init(Workspace& workspace, const Init& request) {
  const Result<const StoreBackend*> backend = workspace.backend();
  if (!backend) return fail(backend.error());
  return init_on(workspace, **backend, request);
}

std::vector<Finding> doctor(Workspace& workspace) {
  using Level = Finding::Level;
  std::vector<Finding> findings;
  const Result<const Repository*> repository = workspace.repository();
  if (!repository)
    return {{.level = Level::problem,
             .what = repository.error().message,
             .fix = repository.error().hint}};
  findings.push_back(
      {.level = Level::ok, .what = "repository " + printable((*repository)->root), .fix = {}});
  if (const auto settings = workspace.settings(); !settings) {
    findings.push_back(
        {.level = Level::problem, .what = settings.error().message, .fix = settings.error().hint});
    return findings;
  }
  findings.push_back({.level = Level::ok, .what = "the configuration is readable", .fix = {}});
  check_agent(workspace, findings);
  const Result<std::string> directory = workspace.directory();
  if (!directory) {
    findings.push_back({.level = Level::problem,
                        .what = directory.error().message,
                        .fix = directory.error().hint});
    return findings;
  }
  check_places(workspace, *directory, findings);
  if (const auto upkeep = workspace.upkeep(); upkeep && *upkeep != nullptr) {
    for (Finding& finding : (*upkeep)->inspect()) findings.push_back(std::move(finding));
  }
  // A store that could not be read has said so; asking it again would say the same in other words.
  if (std::ranges::count(findings, Level::problem, &Finding::level) > 0) return findings;
  check_leases(workspace, findings);
  return findings;
}

Result<std::vector<std::string>> mend(Workspace& workspace) {
  const Result<Initialised> initialised = init(workspace);
  if (!initialised) return fail(initialised.error());
  std::vector<std::string> notes;
  for (const WrongMode& wrong : wrong_modes(workspace, initialised->directory)) {
    if (Done changed = workspace.system().files.change_mode(wrong.path, wrong.wanted); !changed)
      return fail(changed.error());
    notes.push_back(
        fmt::format("{} now has mode {:o}", printable(wrong.path), wrong.wanted & 0777U));
  }
  const Result<Recovered> recovered = recover(workspace, /*salvage=*/false);
  if (!recovered) return fail(recovered.error());
  notes.insert(notes.end(), recovered->report.notes.begin(), recovered->report.notes.end());
  return notes;
}

Result<Recovered> recover(Workspace& workspace, bool salvage) {
  const Result<Upkeep*> upkeep = workspace.upkeep();
  if (!upkeep) return fail(upkeep.error());
  Recovered recovered;
  if (*upkeep != nullptr) {
    Result<RepairReport> report = salvage ? (*upkeep)->salvage() : (*upkeep)->repair();
    if (!report) return fail(report.error());
    recovered.report = *std::move(report);
  }
  const Result<std::size_t> cleared = recover_runs(workspace);
  if (!cleared) return fail(cleared.error());
  recovered.run_worktrees_cleared = *cleared;
  const Result<std::size_t> removed = remove_leftovers(workspace);
  if (!removed) return fail(removed.error());
  recovered.report.temporary_files_removed += *removed;
  const Result<std::vector<Ended>> ended = cleanup(workspace, {});
  if (!ended) return fail(ended.error());
  recovered.expired_evicted = ended->size();
  return recovered;
}

}  // namespace dibs::verbs
