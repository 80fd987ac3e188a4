// From the world to the command line. The only file that names concrete stores, and the only one
// that knows the process it runs in.
#include "program.h"

#include <unistd.h>

#include <array>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli.h"
#include "git/git_program.h"
#include "git/local_refs.h"
#include "store/git_store.h"
#include "store/local.h"
#include "sys/clock.h"
#include "sys/machine.h"
#include "sys/posix_file_system.h"
#include "sys/programs.h"
#include "sys/randomness.h"
#include "sys/standard_streams.h"
#include "sys/watched_program.h"

namespace {

std::vector<std::string> inherited_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    all.emplace_back(*entry);
  return all;
}

std::string_view name_in(std::string_view entry) { return entry.substr(0, entry.find('=')); }

// With our environment, but what the call says counts; and where we were started by git, what it
// said about its repository is not about the directory that the command runs in.
dibs::Result<dibs::WatchedEnd> run_command(dibs::WatchedCall call) {
  std::set<std::string, std::less<>> taken{"GIT_DIR",        "GIT_WORK_TREE",
                                           "GIT_INDEX_FILE", "GIT_COMMON_DIR",
                                           "GIT_PREFIX",     "GIT_OBJECT_DIRECTORY"};
  for (const std::string& entry : call.environment) taken.emplace(name_in(entry));
  for (std::string& entry : inherited_environment()) {
    if (!taken.contains(name_in(entry))) call.environment.push_back(std::move(entry));
  }
  return dibs::run_watched(call);
}

dibs::GitStorePlace git_place(const dibs::StorePlace& place) {
  return {.directory = place.directory,
          .common_dir = place.common_dir,
          .remote = std::string(place.settings.text("store.remote")),
          .prefix = std::string(place.settings.text("store.ref_prefix")),
          .layout = std::string(place.settings.text("store.layout")),
          .claim_state = std::string(place.settings.text("store.claim_state")),
          .target = std::string(place.settings.text("landing.target")),
          .lock_branch = std::string(place.settings.text("store.lock_branch")),
          .skew_margin_ms = place.settings.integer("store.skew_margin_secs") * 1000,
          .directory_mode = place.directory_mode};
}

void wrap_stores(std::vector<dibs::StoreBackend>& backends, const dibs::WrapStore& wrap) {
  for (dibs::StoreBackend& backend : backends) {
    backend.open = [open = backend.open, &wrap](
                       const dibs::StorePlace& place,
                       const dibs::Warn& notice) -> dibs::Result<dibs::OpenedStore> {
      dibs::Result<dibs::OpenedStore> opened = open(place, notice);
      if (opened) opened->store = wrap(std::move(opened->store));
      return opened;
    };
  }
}

}  // namespace

int dibs::run_program(int argc, char** argv, const WrapStore& wrap) {
  dibs::fill_closed_streams();
  // A reader that goes away must not kill a command half-way through its work.
  std::signal(SIGPIPE, SIG_IGN);

  dibs::PosixFileSystem files;
  dibs::SystemClock clock;
  dibs::SystemRandom random;
  dibs::LinuxMachine machine;
  dibs::PosixPrograms programs;
  const dibs::GitProgram git(programs, inherited_environment);
  std::array<char, PATH_MAX> directory{};
  const dibs::System system{
      .files = files,
      .clock = clock,
      .random = random,
      .machine = machine,
      .git = git,
      .environment = [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
      },
      .current_directory =
          ::getcwd(directory.data(), directory.size()) != nullptr ? directory.data() : "/",
      .standard_input = dibs::read_standard_input,
      .run_command = run_command};

  const dibs::GitStoreParts git_parts{
      .files = files, .clock = clock, .random = random, .machine = machine, .git = git};
  std::vector<dibs::StoreBackend> backends{
      {.kind = "local",
       .open =
           [&](const dibs::StorePlace& place, const dibs::Warn& notice) {
             auto store = std::make_unique<dibs::LocalStore>(
                 files, clock, random, place.directory, notice, dibs::LocalLimits{},
                 std::make_unique<dibs::GitLocalRefs>(
                     files, git, place.common_dir,
                     dibs::OwnHead{.directory = place.directory + "/landing.git",
                                   .mode = place.directory_mode}));
             dibs::Upkeep* upkeep = store.get();
             return dibs::OpenedStore{.store = std::move(store), .upkeep = upkeep};
           },
       .create =
           [&](const dibs::StorePlace& place) {
             return dibs::LocalStore::create(files, place.directory, place.directory_mode);
           },
       .promises = dibs::local_promises()},
      {.kind = "git",
       .open = [&](const dibs::StorePlace& place,
                   const dibs::Warn& notice) -> dibs::Result<dibs::OpenedStore> {
         auto store = dibs::GitStore::open(git_parts, git_place(place), notice);
         if (!store) return dibs::fail(store.error());
         dibs::Upkeep* upkeep = store->get();
         return dibs::OpenedStore{.store = *std::move(store), .upkeep = upkeep};
       },
       .create =
           [&](const dibs::StorePlace& place) {
             return dibs::GitStore::create(git_parts, git_place(place));
           },
       .promises = dibs::git_promises(),
       // A hosted remote bears a few pushes a minute for a whole repository.
       .settings = {{"coordination.default_ttl_secs", "3600"},
                    {"coordination.heartbeat_interval_secs", "300"},
                    {"coordination.stale_after_secs", "3600"}},
       .lacks = [&](const dibs::StorePlace& place) -> std::optional<std::string> {
         if (dibs::GitStore::has_remotes(git, place.common_dir)) return std::nullopt;
         return "this repository has no remote";
       },
       .is_remote = true},
  };
  if (wrap) wrap_stores(backends, wrap);
  return dibs::cli::run(std::vector<std::string>(argv + 1, argv + argc), system, backends,
                        DIBS_VERSION);
}
