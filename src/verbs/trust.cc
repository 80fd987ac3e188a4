#include "verbs/trust.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "base/time.h"

namespace dibs::verbs {

namespace {

constexpr std::size_t kConfigFileMax = 256UL * 1024;
constexpr std::size_t kTrustFileMax = 1024UL * 1024;
constexpr std::size_t kTrustedMax = 900;  // fewer than a JSON array may have
constexpr unsigned kOwnersFile = 0600;

struct TrustedCommand {
  std::string kind;
  std::string name;
  std::string sha256;
  std::string at;
};

Result<std::string> trust_file(Workspace& workspace) {
  Result<std::string> directory = workspace.directory();
  if (!directory) return directory;
  return *directory + "/trusted.json";
}

std::vector<TrustedCommand> parse_trusted(const std::string& text) {
  const Result<Json> json = parse_json(text);
  if (!json || !json->is_object()) return {};
  const auto commands = json->find("commands");
  if (commands == json->end() || !commands->is_array()) return {};
  std::vector<TrustedCommand> trusted;
  for (const Json& entry : *commands) {
    if (!entry.is_object()) return {};
    trusted.push_back({.kind = text_member(entry, "kind").value_or(""),
                       .name = text_member(entry, "name").value_or(""),
                       .sha256 = text_member(entry, "sha256").value_or(""),
                       .at = text_member(entry, "at").value_or("")});
  }
  return trusted;
}

// Of a file that cannot be read or understood nothing is trusted.
std::vector<TrustedCommand> read_trusted(Workspace& workspace, const std::string& path) {
  const Result<std::optional<std::string>> text =
      workspace.system().files.read_file(path, kTrustFileMax);
  return text && text->has_value() ? parse_trusted(**text) : std::vector<TrustedCommand>{};
}

std::string encode(const std::vector<TrustedCommand>& trusted) {
  JsonArray commands;
  for (const TrustedCommand& one : trusted) {
    commands.add_raw(JsonObject()
                         .add("kind", one.kind)
                         .add("name", one.name)
                         .add("sha256", one.sha256)
                         .add("at", one.at)
                         .text());
  }
  return one_member_a_line(
      JsonObject().add("schema_version", 1).add_raw("commands", commands.text()).text());
}

TrustStanding standing_of(const ConfiguredCommand& command,
                          const std::vector<TrustedCommand>& trusted) {
  if (command.source != ConfigSource::committed || command.words.empty())
    return TrustStanding::needs_none;
  const auto known = std::ranges::find_if(trusted, [&](const TrustedCommand& one) {
    return one.kind == command.kind && one.name == command.name;
  });
  if (known == trusted.end()) return TrustStanding::unknown;
  return known->sha256 == fingerprint(command) ? TrustStanding::trusted : TrustStanding::changed;
}

Error untrusted(const JudgedCommand& judged) {
  const ConfiguredCommand& command = judged.command;
  const bool changed = judged.standing == TrustStanding::changed;
  return {.kind = ErrorKind::refused,
          .message = fmt::format("the {} {} {}: {} ({})", command.kind, command.name,
                                 changed ? "has changed since it was trusted"
                                         : "came with the repository and is not trusted here",
                                 shown(command), printable(command.origin)),
          .hint = "look at what would run, and allow it: dibs trust",
          .fields = {{"untrusted", json_string(command.name)},
                     {"command", json_string(shown(command))}}};
}

// One at a time: two who trust at once must not undo each other.
Result<std::unique_ptr<FileLock>> lock_trust(Workspace& workspace) {
  const Result<std::string> directory = workspace.directory();
  if (!directory) return fail(directory.error());
  return workspace.system().files.lock(*directory + "/locks/trust.lock", Patience::wait,
                                       workspace.file_mode());
}

}  // namespace

std::string_view name_of(TrustStanding standing) {
  switch (standing) {
    case TrustStanding::needs_none:
      return "own";
    case TrustStanding::trusted:
      return "trusted";
    case TrustStanding::changed:
      return "changed";
    case TrustStanding::unknown:
      return "not trusted";
  }
  return "";
}

Result<Configured> configured(Workspace& workspace) {
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const Result<std::vector<std::string>> paths = workspace.settings_files();
  if (!paths) return fail(paths.error());
  const std::string own = workspace.config_directory() + "/config.toml";
  const std::string clone = (*repository)->common_dir + "/dibs/config.toml";
  Configured all;
  for (const std::string& path : *paths) {
    const Result<std::optional<std::string>> text =
        workspace.system().files.read_file(path, kConfigFileMax);
    if (!text) return fail(text.error());
    if (!text->has_value()) continue;
    // Whatever is neither the person's nor the clone's came with the repository.
    const ConfigSource source = path == own     ? ConfigSource::person
                                : path == clone ? ConfigSource::clone
                                                : ConfigSource::committed;
    Result<Configured> found = parse_configured(**text, path, source);
    if (!found) return fail(found.error());
    overlay(all, *std::move(found));
  }
  return all;
}

Result<std::vector<JudgedCommand>> judged_commands(Workspace& workspace) {
  const Result<Configured> all = configured(workspace);
  if (!all) return fail(all.error());
  const Result<std::string> path = trust_file(workspace);
  if (!path) return fail(path.error());
  const std::vector<TrustedCommand> trusted = read_trusted(workspace, *path);
  std::vector<JudgedCommand> judged;
  const auto add = [&](const ConfiguredCommand& command) {
    if (!command.words.empty())
      judged.push_back({.command = command, .standing = standing_of(command, trusted)});
  };
  for (const Gate& gate : all->gates) add(gate.command);
  for (const WorkerKind& worker : all->workers) add(worker.command);
  for (const Resolver& resolver : all->resolvers) add(resolver.command);
  return judged;
}

Done check_trusted(Workspace& workspace, std::span<const ConfiguredCommand> commands) {
  const Result<std::string> path = trust_file(workspace);
  if (!path) return fail(path.error());
  const std::vector<TrustedCommand> trusted = read_trusted(workspace, *path);
  for (const ConfiguredCommand& command : commands) {
    const JudgedCommand judged{.command = command, .standing = standing_of(command, trusted)};
    if (!judged.may_run()) return fail(untrusted(judged));
  }
  return {};
}

Done trust(Workspace& workspace, std::span<const ConfiguredCommand> commands) {
  const Result<std::string> path = trust_file(workspace);
  if (!path) return fail(path.error());
  const auto lock = lock_trust(workspace);
  if (!lock) return fail(lock.error());
  std::vector<TrustedCommand> trusted = read_trusted(workspace, *path);
  const std::string now = rfc3339(workspace.system().clock.now().unix_ms);
  for (const ConfiguredCommand& command : commands) {
    std::erase_if(trusted, [&](const TrustedCommand& one) {
      return one.kind == command.kind && one.name == command.name;
    });
    trusted.push_back(
        {.kind = command.kind, .name = command.name, .sha256 = fingerprint(command), .at = now});
  }
  // The oldest go first: they are of commands that are long gone.
  if (trusted.size() > kTrustedMax)
    trusted.erase(trusted.begin(), trusted.end() - static_cast<std::ptrdiff_t>(kTrustedMax));
  return workspace.system().files.replace_file(*path, encode(trusted), kOwnersFile);
}

Result<std::size_t> revoke_trust(Workspace& workspace) {
  const Result<std::string> path = trust_file(workspace);
  if (!path) return fail(path.error());
  const auto lock = lock_trust(workspace);
  if (!lock) return fail(lock.error());
  const std::size_t count = read_trusted(workspace, *path).size();
  if (Done removed = workspace.system().files.remove(*path); !removed) return fail(removed.error());
  return count;
}

}  // namespace dibs::verbs
