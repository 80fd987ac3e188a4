// Looking at settings and changing them.
#include <fmt/core.h>

#include "base/text.h"
#include "verbs/setup.h"

namespace dibs::verbs {

namespace {

constexpr std::size_t kConfigFileMax = 256UL * 1024;

SettingLine line_for(const Settings& settings, const SettingSpec& spec) {
  return {.key = std::string(spec.key),
          .value = std::string(settings.text(spec.key)),
          .origin = std::string(settings.origin(spec.key)),
          .meaning = std::string(spec.meaning)};
}

// The `init` that changes where leases are kept as this setting would.
std::string init_instead(const std::string& key, const std::string& value) {
  if (key == "store.kind") return "dibs init --store " + shell_word(value);
  return "dibs init --store git --layout " + shell_word(value);
}

// Leases would be left behind where nobody looks any more; `init` sees whether there are any.
Done check_stays_in_place(Workspace& workspace, const std::string& key, const std::string& value,
                          Audience audience) {
  if (key != "store.kind" && key != "store.layout") return {};
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  const bool used = key == "store.kind" || (*settings)->text("store.kind") == "git";
  const bool changes = used && (*settings)->text(key) != value;
  // What everyone is told does not reach a clone that has its own.
  const Result<std::string> directory = workspace.directory();
  const bool own = directory && (*settings)->origin(key).starts_with(*directory);
  if (!changes || (audience == Audience::everyone && own)) return {};
  return fail(ErrorKind::refused,
              fmt::format("{} is {} here, and leases may be held there", key,
                          printable((*settings)->text(key))),
              fmt::format("change over with: {}", init_instead(key, value)));
}

}  // namespace

Result<std::vector<SettingLine>> config_list(Workspace& workspace) {
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  std::vector<SettingLine> lines;
  for (const SettingSpec& spec : setting_specs()) lines.push_back(line_for(**settings, spec));
  return lines;
}

Result<SettingLine> config_get(Workspace& workspace, const std::string& key) {
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  const SettingSpec* spec = find_setting(key);
  if (spec == nullptr) return fail(unknown_setting(key, "config get"));
  return line_for(**settings, *spec);
}

Result<SettingLine> write_setting(Workspace& workspace, const std::string& key,
                                  const std::string& value, Audience audience) {
  const bool shared = audience == Audience::everyone;
  const Result<Assignment> assignment = check_setting(key, value, "config set");
  if (!assignment) return fail(assignment.error());
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const Result<std::string> directory = workspace.directory();
  if (!directory) return fail(directory.error());
  if (shared && (*repository)->bare) {
    return fail(ErrorKind::refused, "a bare repository has no committed files",
                "leave --shared out");
  }
  FileSystem& files = workspace.system().files;
  const std::string folder = shared ? (*repository)->root + "/.dibs" : *directory;
  const std::string path = folder + "/config.toml";
  // Two people who set two things at once must not undo each other.
  const auto lock =
      files.lock(*directory + "/locks/config.lock", Patience::wait, workspace.file_mode());
  if (!lock) return fail(lock.error());
  const Result<std::optional<std::string>> before = files.read_file(path, kConfigFileMax);
  if (!before) return fail(before.error());
  const Result<std::string> after = with_setting(before->value_or(""), *assignment, path);
  if (!after) return fail(after.error());
  if (shared) {
    if (Done made = files.make_directory(folder, 0755); !made) return fail(made.error());
  }
  if (Done written = files.replace_file(path, *after, shared ? 0644U : workspace.file_mode());
      !written)
    return fail(written.error());
  return SettingLine{.key = key,
                     .value = value,
                     .origin = path,
                     .meaning = std::string(find_setting(key)->meaning)};
}

Result<SettingLine> config_set(Workspace& workspace, const std::string& key,
                               const std::string& value, Audience audience) {
  if (const Result<Assignment> assignment = check_setting(key, value, "config set"); !assignment)
    return fail(assignment.error());
  if (Done stays = check_stays_in_place(workspace, key, value, audience); !stays)
    return fail(stays.error());
  return write_setting(workspace, key, value, audience);
}

}  // namespace dibs::verbs
