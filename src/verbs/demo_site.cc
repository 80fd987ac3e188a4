#include "verbs/demo_site.h"

#include <fmt/core.h>

#include "base/text.h"
#include "sys/child.h"
#include "sys/processes.h"
#include "verbs/claim.h"
#include "verbs/demo_project.h"
#include "verbs/items.h"
#include "verbs/setup.h"
#include "verbs/trust.h"

namespace dibs::verbs {

namespace {

constexpr std::int64_t kLookMs = 50;
constexpr std::int64_t kPatienceMs = 60'000;  // for any one step of the sleeper
constexpr std::size_t kSmallFileMax = 4096;

// The user's own settings must not sign these commits, or run hooks on them.
constexpr const char* kMakeRepository =
    "git init -q -b main && git config user.name 'dibs demo' && git config user.email "
    "demo@localhost "
    "&& git config commit.gpgsign false && git config core.hooksPath /dev/null "
    "&& git config core.autocrlf false && git config gc.auto 0 "
    "&& git add -A && git commit -q -m 'a program of which no step is written yet'";

Done trust_own_gate(Workspace& workspace) {
  const Result<std::vector<JudgedCommand>> judged = judged_commands(workspace);
  if (!judged) return fail(judged.error());
  std::vector<ConfiguredCommand> commands;
  for (const JudgedCommand& one : *judged) {
    if (one.command.source == ConfigSource::committed) commands.push_back(one.command);
  }
  return trust(workspace, commands);
}

Done set_up(Workspace& workspace, const DemoPlan& plan) {
  if (Result<Initialised> initialised = init(workspace); !initialised)
    return fail(initialised.error());
  if (Done trusted = trust_own_gate(workspace); !trusted) return trusted;
  if (Result<std::vector<ItemId>> added = add_batch(workspace, batch_of(plan)); !added)
    return fail(added.error());
  return {};
}

}  // namespace

Result<int> run_shell(const std::string& directory, const std::string& line) {
  Result<Child> shell = Child::start({.command = {"sh", "-c", line}, .directory = directory});
  if (!shell) return fail(shell.error());
  return shell->wait();
}

Result<DemoSite> DemoSite::make(Workspace& outer, const DemoPlan& plan,
                                const std::string& directory) {
  if (Done written = write_demo_files(outer.system().files, plan, directory); !written)
    return fail(written.error());
  const std::string repository = directory + "/repository";
  const Result<int> made = run_shell(repository, kMakeRepository);
  if (!made) return fail(made.error());
  if (*made != 0)
    return fail(ErrorKind::internal,
                fmt::format("git could not make a repository in {}", printable(repository)),
                "see whether git is there: git --version");
  System system = outer.system();
  system.current_directory = repository;
  auto workspace = std::make_unique<Workspace>(
      system, outer.backends(), GlobalOptions{.agent_id = "agent:demo", .store = "local"},
      [](const std::string&) {});
  if (Done ready = set_up(*workspace, plan); !ready) return fail(ready.error());
  return DemoSite(std::move(workspace), directory);
}

DemoSite::~DemoSite() {
  if (workspace_) (void)end_processes_with(mark());
}

// The sleeper has it in its environment. The scratch directory's name is nobody else's.
std::string DemoSite::mark() const {
  return "DIBS_DEMO=" + directory_.substr(directory_.rfind('/') + 1);
}

bool DemoSite::has_compiler() const {
  const Result<int> found = run_shell(directory_, "command -v cc > /dev/null");
  return found && *found == 0;
}

bool DemoSite::is_there(const std::string& file) {
  const auto status = workspace_->system().files.status(directory_ + "/" + file);
  return status && status->has_value();
}

// In the background of a shell that ends at once: a child of ours would be taken for one of the
// run's.
Done DemoSite::put_to_sleep(const std::string& item) {
  const Result<std::string> program = workspace_->system().files.real_path("/proc/self/exe");
  if (!program) return fail(program.error());
  const Result<int> started = run_shell(
      directory_,
      fmt::format("{} sh paused.sh {} {} > paused.log 2>&1 &", mark(), shell_word(*program), item));
  if (!started) return fail(started.error());
  Clock& clock = workspace_->system().clock;
  const std::int64_t since_ms = clock.now().boot_ms;
  while (!is_there("paused")) {
    if (clock.now().boot_ms - since_ms > kPatienceMs || is_there("over"))
      return fail(ErrorKind::internal, "the agent beside the run did not come to its pause",
                  fmt::format("see what it said: cat {}/paused.log", shell_word(directory_)));
    clock.sleep_ms(kLookMs);
  }
  return {};
}

Done DemoSite::sleep_over(const std::string& item) {
  Clock& clock = workspace_->system().clock;
  const std::int64_t since_ms = clock.now().boot_ms;
  while (clock.now().boot_ms - since_ms < kPatienceMs) {
    const Result<Status> now = status(*workspace_, "item:" + item);
    if (!now) return fail(now.error());
    if (now->leases.empty()) return {};
    clock.sleep_ms(kLookMs);
  }
  return fail(ErrorKind::internal, fmt::format("the lease on {} does not lapse", item));
}

void DemoSite::wake() { wake_processes_with(mark()); }

std::optional<std::int64_t> DemoSite::sleeper_exit() {
  Clock& clock = workspace_->system().clock;
  const std::int64_t since_ms = clock.now().boot_ms;
  while (!is_there("over")) {
    if (clock.now().boot_ms - since_ms > kPatienceMs) return std::nullopt;
    wake();
    clock.sleep_ms(kLookMs);
  }
  const auto text = workspace_->system().files.read_file(directory_ + "/woken", kSmallFileMax);
  if (!text || !text->has_value()) return std::nullopt;
  const std::optional<std::uint64_t> code = parse_unsigned(trim(**text));
  return code ? std::optional(static_cast<std::int64_t>(*code)) : std::nullopt;
}

}  // namespace dibs::verbs
