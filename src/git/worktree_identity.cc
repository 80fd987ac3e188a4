#include "git/worktree_identity.h"

#include <fmt/core.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/sha.h"
#include "base/text.h"
#include "base/time.h"
#include "sys/replacement.h"

namespace dibs {

namespace {

constexpr std::size_t kIdentityMax = 16UL * 1024;

// Two directories can share one private git directory: a linked worktree that was copied with its
// .git file. The copy keeps its identity under a name of its own.
struct IdentityFile {
  std::string directory;
  std::string path;
};

IdentityFile own_file(const Repository& repository) {
  const std::string directory = repository.git_dir + "/dibs";
  return {.directory = directory, .path = directory + "/worktree.json"};
}

IdentityFile file_of_copy(const Repository& repository) {
  IdentityFile file = own_file(repository);
  file.path = file.directory + "/worktree-" + sha256_hex(repository.root).substr(0, 16) + ".json";
  return file;
}

Result<std::optional<WorktreeIdentity>> load(FileSystem& files, const IdentityFile& file) {
  const Result<std::optional<std::string>> text = files.read_file(file.path, kIdentityMax);
  if (!text) return fail(text.error());
  // An empty one is what a power loss leaves of one that was not flushed.
  if (text->value_or("").empty()) return std::nullopt;
  const Result<Json> json = parse_json(**text);
  const auto id = json ? text_member(*json, "worktree_id") : std::nullopt;
  const auto root = json ? text_member(*json, "root") : std::nullopt;
  const auto created =
      json ? parse_rfc3339(text_member(*json, "created_at").value_or("")) : std::nullopt;
  if (!id || !root || !created || !id->starts_with("wt:") || !is_printable(*id)) {
    return fail(
        ErrorKind::internal, fmt::format("{} cannot be read", printable(file.path)),
        fmt::format("remove it; the next command makes a new one: rm '{}'", printable(file.path)));
  }
  return WorktreeIdentity{
      .id = {*id},
      .branch = text_member(*json, "branch").value_or(""),
      .root = *root,
      .created_unix_ms = *created,
      .relocated_unix_ms = parse_rfc3339(text_member(*json, "relocated_at").value_or("")),
      .moved_from = std::nullopt};
}

std::string to_json(const WorktreeIdentity& identity) {
  JsonObject json;
  json.add("schema_version", 1)
      .add("worktree_id", identity.id.text)
      .add("branch", identity.branch)
      .add("root", identity.root)
      .add("created_at", rfc3339(identity.created_unix_ms));
  if (identity.relocated_unix_ms) json.add("relocated_at", rfc3339(*identity.relocated_unix_ms));
  return json.text() + "\n";
}

Done save(FileSystem& files, const Repository& repository, const IdentityFile& file,
          const WorktreeIdentity& identity) {
  const unsigned mode = shared_directory_mode(files, repository);
  return files.replace_file(file.path, to_json(identity), mode & 0666U);
}

enum class Whereabouts {
  here,
  moved,            // nothing is where it was made
  copied,           // it is still there, with a git directory of its own
  copied_and_tied,  // it is still there and shares our git directory
};

Whereabouts whereabouts(FileSystem& files, const Repository& repository,
                        const WorktreeIdentity& identity) {
  if (identity.root == repository.root) return Whereabouts::here;
  const Result<Repository> there = find_repository(files, identity.root);
  if (!there || there->root != identity.root) return Whereabouts::moved;
  return there->git_dir == repository.git_dir ? Whereabouts::copied_and_tied : Whereabouts::copied;
}

WorktreeIdentity identity_under(const WorktreeId& id, FileSystem& files, Clock& clock,
                                const Repository& repository) {
  return {.id = id,
          .branch = current_branch(files, repository),
          .root = repository.root,
          .created_unix_ms = clock.now().unix_ms,
          .relocated_unix_ms = std::nullopt,
          .moved_from = std::nullopt};
}

// Under the identity lock: whatever is not simply here is made, moved or told apart.
Result<WorktreeIdentity> settle_identity(FileSystem& files, Clock& clock, Random& random,
                                         const Repository& repository) {
  IdentityFile file = own_file(repository);
  Result<std::optional<WorktreeIdentity>> known = load(files, file);
  if (!known) return fail(known.error());
  Whereabouts where = Whereabouts::copied;
  if (known->has_value()) where = whereabouts(files, repository, **known);
  if (where == Whereabouts::here) return **std::move(known);
  if (where == Whereabouts::copied_and_tied) {
    file = file_of_copy(repository);
    known = load(files, file);
    if (!known) return fail(known.error());
    if (known->has_value()) return **std::move(known);
  }
  WorktreeIdentity identity;
  if (where == Whereabouts::moved) {
    identity = **std::move(known);
    identity.moved_from = std::exchange(identity.root, repository.root);
    identity.relocated_unix_ms = clock.now().unix_ms;
  } else {
    identity = identity_under(new_worktree_id(random), files, clock, repository);
  }
  if (Done saved = save(files, repository, file, identity); !saved) return fail(saved.error());
  return identity;
}

}  // namespace

Result<std::optional<WorktreeIdentity>> find_worktree_identity(FileSystem& files,
                                                               const Repository& repository) {
  Result<std::optional<WorktreeIdentity>> identity = load(files, own_file(repository));
  if (!identity || !identity->has_value()) return identity;
  switch (whereabouts(files, repository, **identity)) {
    case Whereabouts::here:
    case Whereabouts::moved:
      return identity;
    case Whereabouts::copied:
      return std::nullopt;
    case Whereabouts::copied_and_tied:
      return load(files, file_of_copy(repository));
  }
  return identity;
}

Result<WorktreeIdentity> worktree_identity(FileSystem& files, Clock& clock, Random& random,
                                           const Repository& repository) {
  const Result<std::optional<WorktreeIdentity>> known = load(files, own_file(repository));
  if (!known) return fail(known.error());
  if (known->has_value() && whereabouts(files, repository, **known) == Whereabouts::here)
    return **known;

  // Two first commands at once must not leave with two names.
  const unsigned mode = shared_directory_mode(files, repository);
  const std::string directory = own_file(repository).directory;
  if (Done made = files.make_directory(directory, mode); !made) return fail(made.error());
  const auto lock = files.lock(directory + "/worktree.lock", Patience::wait, mode & 0666U);
  if (!lock) return fail(lock.error());
  return settle_identity(files, clock, random, repository);
}

WorktreeId new_worktree_id(Random& random) {
  std::array<std::uint8_t, 4> bytes{};
  random.fill(bytes);
  std::string id = "wt:";
  for (const std::uint8_t byte : bytes) append_hex(id, byte);
  return {id};
}

Result<WorktreeIdentity> put_worktree_identity(FileSystem& files, Clock& clock,
                                               const Repository& repository, const WorktreeId& id) {
  const IdentityFile file = own_file(repository);
  const unsigned mode = shared_directory_mode(files, repository);
  if (Done made = files.make_directory(file.directory, mode); !made) return fail(made.error());
  WorktreeIdentity identity = identity_under(id, files, clock, repository);
  Result<Replacement> made = Replacement::begin(files, file.path, mode & 0666U);
  if (!made) return fail(made.error());
  if (Done put = made->file().append(to_json(identity)); !put) return fail(put.error());
  if (Done put = made->put_in_place(Replacement::Keep::until_reboot); !put)
    return fail(put.error());
  return identity;
}

}  // namespace dibs
