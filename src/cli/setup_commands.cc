// Setting up and looking after: init, config, doctor, recover, promises.
#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "cli/invocation.h"
#include "verbs/setup.h"

namespace dibs::cli {

namespace {

constexpr std::array<Option, 2> kInitOptions{
    {{.name = "--remote",
      .takes = Takes::text,
      .value = "NAME",
      .meaning = "the git remote that --store git keeps leases on (default origin)"},
     {.name = "--layout",
      .takes = Takes::text,
      .value = "NAME",
      .meaning = "how they lie there: refs (default), branches to see each claim as a branch too, "
                 "or lock-branch to share with other tools",
      .choices = "refs|branches|lock-branch"}}};

Done run_init(Invocation& call) {
  const Result<verbs::Initialised> done = verbs::init(
      call.workspace, {.remote = call.args.text("--remote"), .layout = call.args.text("--layout")});
  if (!done) return fail(done.error());
  JsonObject reply;
  reply.add("directory", done->directory).add("store", done->store).add("already", done->already);
  if (!done->note.empty()) reply.add("note", done->note);
  call.terminal.reply(reply);
  call.terminal.say(
      fmt::format("{} {} ({} store)",
                  call.terminal.styled(Style::good, done->already ? "already set up:" : "set up"),
                  printable(done->directory), done->store));
  if (!done->already) {
    call.terminal.say(
        call.terminal.styled(Style::dim, "  next: export DIBS_AGENT_ID=agent:your-name"));
    call.terminal.say(call.terminal.styled(Style::dim, "        dibs claim acquire 42"));
  }
  return {};
}

constexpr std::array<Option, 1> kConfigListOptions{
    {{.name = "--show-origin", .meaning = "also say where each value comes from"}}};

std::string value_json(const verbs::SettingLine& line) {
  const SettingSpec* spec = find_setting(line.key);
  return spec != nullptr && !is_text(spec->type) ? line.value : json_string(line.value);
}

Done run_config_list(Invocation& call) {
  const Result<std::vector<verbs::SettingLine>> lines = verbs::config_list(call.workspace);
  if (!lines) return fail(lines.error());
  JsonArray settings;
  for (const verbs::SettingLine& line : *lines) {
    settings.add_raw(JsonObject()
                         .add("key", line.key)
                         .add_raw("value", value_json(line))
                         .add("origin", line.origin)
                         .text());
    const std::string assignment = fmt::format("{} = {}", line.key, line.value);
    if (call.args.has("--show-origin")) {
      call.terminal.say(fmt::format("{:<50}  {}", assignment, printable(line.origin)));
    } else {
      call.terminal.say(
          fmt::format("{:<50}  {}", assignment, call.terminal.styled(Style::dim, line.meaning)));
    }
  }
  call.terminal.reply(
      JsonObject().add_raw("settings", settings.text()).add("count", std::uint64_t{lines->size()}));
  return {};
}

constexpr std::array<Positional, 1> kKey{
    {{.name = "KEY", .meaning = "a setting, such as coordination.default_ttl_secs"}}};
constexpr std::array<Positional, 2> kKeyAndValue{
    {{.name = "KEY", .meaning = "a setting"}, {.name = "VALUE", .meaning = "its new value"}}};
constexpr std::array<Option, 1> kConfigSetOptions{
    {{.name = "--shared", .meaning = "in the committed .dibs/config.toml, for everybody"}}};

Done run_config_get(Invocation& call) {
  const Result<verbs::SettingLine> line =
      verbs::config_get(call.workspace, call.args.words().front());
  if (!line) return fail(line.error());
  call.terminal.reply(JsonObject()
                          .add("key", line->key)
                          .add_raw("value", value_json(*line))
                          .add("origin", line->origin));
  call.terminal.say(line->value);
  return {};
}

Done run_config_set(Invocation& call) {
  const Result<verbs::SettingLine> line = verbs::config_set(
      call.workspace, call.args.words()[0], call.args.words()[1],
      call.args.has("--shared") ? verbs::Audience::everyone : verbs::Audience::this_clone);
  if (!line) return fail(line.error());
  call.terminal.reply(JsonObject()
                          .add("key", line->key)
                          .add_raw("value", value_json(*line))
                          .add("origin", line->origin));
  call.terminal.say(fmt::format("{} = {} in {}", line->key, line->value, printable(line->origin)));
  return {};
}

std::string_view word_for(Finding::Level level) {
  switch (level) {
    case Finding::Level::ok:
      return "ok";
    case Finding::Level::warning:
      return "warning";
    case Finding::Level::problem:
      return "problem";
  }
  return "?";
}

constexpr std::array<Option, 1> kDoctorOptions{
    {{.name = "--fix", .meaning = "put right what dibs can, then look again"}}};

Done run_doctor(Invocation& call) {
  if (call.args.has("--fix")) {
    const Result<std::vector<std::string>> notes = verbs::mend(call.workspace);
    if (!notes) return fail(notes.error());
    for (const std::string& note : *notes) call.terminal.say(fmt::format("fixed    {}", note));
  }
  JsonArray findings;
  std::size_t problems = 0;
  for (const Finding& finding : verbs::doctor(call.workspace)) {
    JsonObject json;
    json.add("level", word_for(finding.level)).add("what", finding.what);
    if (!finding.fix.empty()) json.add("fix", finding.fix);
    findings.add_raw(json.text());
    const Style style = finding.level == Finding::Level::ok ? Style::good : Style::bad;
    call.terminal.say(fmt::format("{}{} {}", call.terminal.styled(style, word_for(finding.level)),
                                  std::string(8 - word_for(finding.level).size(), ' '),
                                  finding.what));
    if (!finding.fix.empty()) call.terminal.say(fmt::format("         fix: {}", finding.fix));
    if (finding.level == Finding::Level::problem) ++problems;
  }
  call.terminal.reply(JsonObject()
                          .add("healthy", problems == 0)
                          .add("problems", std::uint64_t{problems})
                          .add_raw("findings", findings.text()));
  if (problems == 0) return {};
  return fail(ErrorKind::internal,
              fmt::format("{} problem{} found", problems, problems == 1 ? "" : "s"),
              "each has its fix above");
}

constexpr std::array<Option, 1> kRecoverOptions{
    {{.name = "--salvage",
      .meaning = "after damage: keep what can be read, set the old files aside"}}};

Done run_recover(Invocation& call) {
  const Result<verbs::Recovered> recovered =
      verbs::recover(call.workspace, call.args.has("--salvage"));
  if (!recovered) return fail(recovered.error());
  const RepairReport& report = recovered->report;
  call.terminal.reply(
      JsonObject()
          .add("log_repaired", report.log_repaired)
          .add("index_rebuilt", report.index_rebuilt)
          .add("expired_evicted", std::uint64_t{recovered->expired_evicted})
          .add("run_worktrees_cleared", std::uint64_t{recovered->run_worktrees_cleared})
          .add("temporary_files_removed", std::uint64_t{report.temporary_files_removed})
          .add("damaged_entries", std::uint64_t{report.damaged_entries}));
  for (const std::string& note : report.notes) call.terminal.say(note);
  if (recovered->expired_evicted > 0)
    call.terminal.say(
        fmt::format("{} leases that had ended were removed", recovered->expired_evicted));
  if (recovered->run_worktrees_cleared > 0)
    call.terminal.say(fmt::format("{} worktrees of runs that were killed were cleared up",
                                  recovered->run_worktrees_cleared));
  if (report.notes.empty() && recovered->expired_evicted == 0 &&
      recovered->run_worktrees_cleared == 0)
    call.terminal.say("nothing needed mending");
  return {};
}

Done run_promises(Invocation& call) {
  JsonArray stores;
  for (const StoreBackend& backend : call.workspace.backends()) {
    const Promises& p = backend.promises;
    const std::array<std::pair<std::string_view, std::string_view>, 6> rows{
        {{"exclusive_under_a_pause", p.pause},
         {"under_partition", p.partition},
         {"clock_jump", p.clock_jump},
         {"power_loss", p.power_loss},
         {"order_of_waiters", p.waiters},
         {"offline", p.offline}}};
    JsonObject json;
    json.add("store", p.store);
    call.terminal.say(call.terminal.styled(Style::strong, p.store));
    for (const auto& [name, promise] : rows) {
      json.add(name, promise);
      std::string label(name);
      for (char& c : label) c = c == '_' ? ' ' : c;
      call.terminal.say(fmt::format("  {:<24}  {}", label, promise));
    }
    stores.add_raw(json.text());
  }
  call.terminal.reply(JsonObject().add_raw("stores", stores.text()));
  return {};
}

constexpr std::array<Command, 7> kCommands{{
    {.name = "init",
     .summary = "set dibs up in this repository",
     .details = "Makes .git/dibs, shared by all worktrees. Safe to run again. --store local keeps "
                "leases there, for\n"
                "all worktrees on this machine; --store git keeps them on a git remote, for every "
                "clone of it.",
     .positionals = {},
     .options = kInitOptions,
     .example = "dibs init --store git --remote origin",
     .run = run_init},
    {.name = "config list",
     .summary = "list all settings",
     .details = "Later sources win: defaults, $XDG_CONFIG_HOME/dibs/config.toml, .dibs/config.toml "
                "(committed),\n"
                ".git/dibs/config.toml (this clone), the environment (DIBS_SECTION_NAME).",
     .positionals = {},
     .options = kConfigListOptions,
     .example = "dibs config list --show-origin",
     .run = run_config_list},
    {.name = "config get",
     .summary = "show one setting",
     .details = "",
     .positionals = kKey,
     .options = {},
     .example = "dibs config get coordination.default_ttl_secs",
     .run = run_config_get},
    {.name = "config set",
     .summary = "change one setting of this clone",
     .details = "Comments and order of the file stay as they are.",
     .positionals = kKeyAndValue,
     .options = kConfigSetOptions,
     .example = "dibs config set coordination.default_ttl_secs 1800",
     .run = run_config_set},
    {.name = "doctor",
     .summary = "check everything that could be wrong, each with its fix",
     .details = "Exit 0 when there is no problem, exit 1 otherwise. Warnings alone are exit 0.",
     .positionals = {},
     .options = kDoctorOptions,
     .example = "dibs doctor --fix",
     .run = run_doctor},
    {.name = "recover",
     .summary = "mend what a crash left; runs by itself when needed",
     .details = "Cuts an unfinished entry, rebuilds the index, removes leftovers and leases that "
                "have ended.\n"
                "Damage in the middle of the log is never mended silently: --salvage keeps every "
                "entry that can\n"
                "be read, sets the old files aside and goes on with higher fences.",
     .positionals = {},
     .options = kRecoverOptions,
     .example = "dibs recover",
     .run = run_recover},
    {.name = "promises",
     .summary = "show what each store may honestly claim",
     .details = "",
     .positionals = {},
     .options = {},
     .example = "dibs promises",
     .run = run_promises},
}};

}  // namespace

std::span<const Command> setup_commands() { return kCommands; }

}  // namespace dibs::cli
