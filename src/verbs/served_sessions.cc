#include "verbs/served_sessions.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/name_encoding.h"

namespace dibs::verbs {

namespace {

constexpr std::size_t kSessionsMax = 1024;
constexpr std::size_t kSessionFileMax = 4096;
constexpr std::string_view kSuffix = ".session";

/// What one file says.
struct Entry {
  SessionId session;
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string boot;
  std::uint64_t pid_namespace = 0;
};

std::string to_json(const Entry& entry) {
  return JsonObject()
      .add("schema_version", 1)
      .add("session", entry.session.text)
      .add("pid", entry.pid)
      .add("start_ticks", entry.start_ticks)
      .add("boot", entry.boot)
      .add("pid_namespace", entry.pid_namespace)
      .text();
}

std::optional<Entry> read_entry(FileSystem& files, const std::string& path) {
  const Result<std::optional<std::string>> text = files.read_file(path, kSessionFileMax);
  if (!text || !text->has_value()) return std::nullopt;
  const Result<Json> json = parse_json(**text);
  if (!json || unsigned_member(*json, "schema_version") != 1) return std::nullopt;
  const auto session = text_member(*json, "session");
  const auto pid = unsigned_member(*json, "pid");
  const auto start_ticks = unsigned_member(*json, "start_ticks");
  const auto boot = text_member(*json, "boot");
  const auto pid_namespace = unsigned_member(*json, "pid_namespace");
  if (!session || !pid || !start_ticks || !boot || !pid_namespace) return std::nullopt;
  const Result<SessionId> parsed = parse_session_id(*session);
  if (!parsed) return std::nullopt;
  return Entry{.session = *parsed,
               .pid = static_cast<std::int64_t>(*pid),
               .start_ticks = *start_ticks,
               .boot = *boot,
               .pid_namespace = *pid_namespace};
}

// Only what is certain: a loop in another container may well be running, and beats for itself.
Presence presence_of(Machine& machine, const Entry& entry) {
  if (entry.boot != machine.boot_id().text) return Presence::gone;
  if (entry.pid_namespace == 0 || entry.pid_namespace != machine.pid_namespace())
    return Presence::unknown;
  return machine.presence(entry.pid, entry.start_ticks);
}

}  // namespace

ServedSession::ServedSession(Workspace& workspace, const SessionId& session)
    : workspace_(workspace) {
  Machine& machine = workspace.system().machine;
  const Result<std::string> directory = workspace.directory();
  const std::optional<ProcessView> own = machine.find_process(machine.own_pid());
  if (!directory || !own) return;
  const Entry entry{.session = session,
                    .pid = machine.own_pid(),
                    .start_ticks = own->start_ticks,
                    .boot = machine.boot_id().text,
                    .pid_namespace = machine.pid_namespace()};
  const std::string path =
      *directory + "/heartbeat/" + encode_name(session.text) + std::string(kSuffix);
  if (workspace.system().files.replace_file(path, to_json(entry) + "\n", workspace.file_mode()))
    path_ = path;
}

ServedSession::~ServedSession() {
  if (!path_.empty()) (void)workspace_.system().files.remove(path_);
}

std::vector<SessionId> served_sessions(Workspace& workspace) {
  std::vector<SessionId> sessions;
  const Result<std::string> directory = workspace.directory();
  if (!directory) return sessions;
  FileSystem& files = workspace.system().files;
  const std::string folder = *directory + "/heartbeat";
  const Result<std::vector<std::string>> names = files.list(folder);
  if (!names) return sessions;
  for (const std::string& name : *names) {
    if (sessions.size() == kSessionsMax) break;
    if (!name.ends_with(kSuffix)) continue;
    const std::string path = folder + "/" + name;
    const std::optional<Entry> entry = read_entry(files, path);
    if (!entry) continue;
    const Presence presence = presence_of(workspace.system().machine, *entry);
    if (presence == Presence::gone) (void)files.remove(path);
    if (presence == Presence::running) sessions.push_back(entry->session);
  }
  return sessions;
}

}  // namespace dibs::verbs
