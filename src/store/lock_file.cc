#include "store/lock_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/crc32c.h"
#include "base/name_encoding.h"
#include "base/sha.h"
#include "base/text.h"
#include "model/lease.h"
#include "store/log_line.h"
#include "sys/local_time.h"

namespace dibs {

namespace {

constexpr std::string_view kItem = "item:";
constexpr std::string_view kFolder = "dibs/";
constexpr std::string_view kEnding = "_lock.yaml";
constexpr std::size_t kIdMax = 200;
constexpr std::uint64_t kLockSchema = 1;

// As other tools write them, in this order.
constexpr std::array<std::string_view, 7> kShared{
    "task_id", "locked_by", "locked_at", "hostname", "pid", "pid_starttime", "pid_starttime_kind"};
constexpr std::array<std::string_view, 6> kOwn{"dibs_schema", "dibs_key",    "dibs_seq",
                                               "dibs_nonce",  "dibs_record", "dibs_seal"};

bool is_known(std::string_view key) {
  return std::ranges::count(kShared, key) > 0 || std::ranges::count(kOwn, key) > 0;
}

// Ids that can stand in a file name as they are, and that no file system folds together.
bool is_plain_id(std::string_view id) {
  return !id.empty() && id.size() <= kIdMax && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  });
}

// The id in t<id>_lock.yaml; nothing when the file is called otherwise.
std::optional<std::string_view> id_in(std::string_view path) {
  if (!path.starts_with('t') || !path.ends_with(kEnding)) return std::nullopt;
  if (path.size() <= 1 + kEnding.size()) return std::nullopt;
  const std::string_view id = path.substr(1, path.size() - 1 - kEnding.size());
  return is_plain_id(id) ? std::optional(id) : std::nullopt;
}

// Shows whether somebody changed a field that dibs wrote and left the rest.
std::string seal_of(const LockFields& fields) {
  std::string sealed;
  for (const LockField& field : fields) {
    if (is_known(field.key) && field.key != "dibs_seal")
      sealed += field.key + "=" + field.value.value_or("") + "\n";
  }
  return hex32(crc32c(0, sealed));
}

bool is_ours(const LockFields& fields) {
  const std::optional<std::string> seal = value_in(fields, "dibs_seal");
  return seal && *seal == seal_of(fields);
}

std::uint64_t schema_of(const LockFields& fields) {
  return parse_unsigned(value_in(fields, "dibs_schema").value_or("0")).value_or(UINT64_MAX);
}

std::optional<Record> own_record(const LockFields& fields) {
  if (!is_ours(fields)) return std::nullopt;
  auto key = value_in(fields, "dibs_key");
  auto value = value_in(fields, "dibs_record");
  const auto seq = parse_unsigned(value_in(fields, "dibs_seq").value_or(""));
  const auto nonce = Nonce::from_hex(value_in(fields, "dibs_nonce").value_or(""));
  if (!key || !value || !seq || !nonce || *seq == 0 || *seq > kSeqMax) return std::nullopt;
  return Record{.key = {*std::move(key)},
                .value = *std::move(value),
                .version = {*seq},
                .fence = {*seq},
                .nonce = *nonce};
}

// An e-mail address as the name of an agent.
AgentId agent_for(std::string_view email) {
  std::string text = "human:";
  for (const char c : email.substr(0, kAgentIdMax - text.size())) {
    const bool fits = parse_agent_id(std::string("human:") + c).has_value();
    text += fits ? c : '-';
  }
  return {text};
}

// Stays the same as long as the file does, and is unlike any other's.
std::array<std::uint8_t, 16> fingerprint(std::string_view path, std::string_view text) {
  const std::string hash = sha256_hex(std::string(path) + '\n' + std::string(text));
  return Nonce::from_hex(std::string_view(hash).substr(0, 32)).value_or(Nonce{}).bytes;
}

Version version_from(const std::array<std::uint8_t, 16>& print) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 7; ++i) bits = bits << 8U | print[i];
  // Above all numbers that dibs gives, so that it is never taken for one of them.
  return {bits | 1ULL << 62U};
}

std::optional<Record> foreign_record(std::string_view path, std::string_view text,
                                     const LockFields& fields) {
  const std::optional<std::string_view> id = id_in(path);
  const auto email = value_in(fields, "locked_by");
  const auto since = parse_local_time(value_in(fields, "locked_at").value_or(""));
  const auto host = value_in(fields, "hostname");
  const bool whole = value_in(fields, "task_id") && email && !email->empty() && since && host;
  if (!id || !whole) return std::nullopt;
  const std::array<std::uint8_t, 16> print = fingerprint(path, text);
  std::array<std::uint8_t, 10> random{};
  std::copy_n(print.begin() + 6, random.size(), random.begin());
  const AgentId agent = agent_for(*email);
  Holding holding;
  holding.leases.push_back(
      {.id = {make_ulid(*since, random)},
       .agent = agent,
       .session = {std::string(kAnotherTool) + agent.text},
       .mode = Mode::exclusive,
       .acquired_unix_ms = *since,
       .beat = {.unix_ms = *since},
       .reason = fmt::format("locked by another tool on {}", printable(host->substr(0, kIdMax)))});
  return Record{.key = {std::string(kItem) + std::string(*id)},
                .value = to_json(holding),
                .version = version_from(print),
                .fence = {},
                .nonce = {}};
}

std::optional<Lease> first_lease(const Record& record) {
  const Result<Holding> holding = holding_of(record);
  if (!holding || holding->leases.empty()) return std::nullopt;
  return holding->leases.front();
}

// Says again what the file says of the holder when it is still the same lease.
std::optional<LockHolder> same_holder(const LockFields& before, const std::optional<Lease>& lease) {
  const std::optional<Record> record = own_record(before);
  const std::optional<Lease> last = record ? first_lease(*record) : std::nullopt;
  auto email = value_in(before, "locked_by");
  auto host = value_in(before, "hostname");
  const bool same = last && lease && last->id == lease->id && last->agent == lease->agent;
  if (!same || !email || !host) return std::nullopt;
  return LockHolder{.email = *std::move(email), .host = *std::move(host)};
}

void add_shared(LockFields& fields, const Record& record, const LockFields& before,
                const std::function<LockHolder()>& ask) {
  const std::optional<Lease> lease = first_lease(record);
  const std::optional<LockHolder> same = same_holder(before, lease);
  const LockHolder holder = same ? *same : ask();
  const std::string agent = lease ? lease->agent.text : "dibs";
  fields.push_back(lock_field("task_id", std::string_view(record.key.text).substr(kItem.size())));
  fields.push_back(lock_field("locked_by", holder.email.empty() ? agent : holder.email));
  fields.push_back(lock_field("locked_at", local_minute(lease ? lease->acquired_unix_ms : 0)));
  fields.push_back(lock_field("hostname", holder.host));
  // A process that is not the holder's would make another tool take the lock for a dead one's.
  if (!lease || !lease->process) return;
  fields.push_back(lock_field("pid", std::to_string(lease->process->pid)));
  fields.push_back(lock_field("pid_starttime", std::to_string(lease->process->start_ticks)));
  fields.push_back(lock_field("pid_starttime_kind", "proc"));
}

}  // namespace

std::string lock_path(const Key& key) {
  const std::string_view text = key.text;
  if (text.starts_with(kItem) && is_plain_id(text.substr(kItem.size())))
    return fmt::format("t{}{}", text.substr(kItem.size()), kEnding);
  return fmt::format("{}{}.yaml", kFolder, encode_name(text));
}

bool is_lock_path(std::string_view path) {
  if (path.find('/') == std::string_view::npos)
    return path.starts_with('t') && path.ends_with(kEnding);
  const std::string_view name = path.substr(std::min(kFolder.size(), path.size()));
  return path.starts_with(kFolder) && name.ends_with(".yaml") &&
         name.find('/') == std::string_view::npos;
}

Result<Record> record_in(const std::string& path, std::string_view text) {
  const Result<LockFields> fields = parse_lock_yaml(text);
  if (!fields) return fail(fields.error());
  if (schema_of(*fields) > kLockSchema) return fail(ErrorKind::internal, "it is from a newer dibs");
  std::optional<Record> own = own_record(*fields);
  if (own && lock_path(own->key) == path) return *std::move(own);
  if (std::optional<Record> foreign = foreign_record(path, text, *fields))
    return *std::move(foreign);
  return fail(ErrorKind::internal, "it is not a whole lock");
}

std::string lock_text(const Record& record, std::string_view before,
                      const std::function<LockHolder()>& holder) {
  // What could not be read was never shown as free, so nobody asks to replace it.
  const LockFields old = parse_lock_yaml(before).value_or(LockFields{});
  LockFields fields;
  if (!lock_path(record.key).starts_with(kFolder)) add_shared(fields, record, old, holder);
  for (const LockField& field : old) {
    if (!is_known(field.key)) fields.push_back(field);
  }
  fields.push_back(lock_field("dibs_schema", std::to_string(kLockSchema)));
  fields.push_back(lock_field("dibs_key", record.key.text));
  fields.push_back(lock_field("dibs_seq", std::to_string(record.fence.value)));
  fields.push_back(lock_field("dibs_nonce", record.nonce.hex()));
  fields.push_back(lock_field("dibs_record", record.value));
  fields.push_back(lock_field("dibs_seal", seal_of(fields)));
  return to_yaml(fields);
}

}  // namespace dibs
