// Setting up and opening the store on a git remote: which layout it has, and whether the remote
// takes it.
#include <fmt/core.h>

#include "base/name_encoding.h"
#include "base/text.h"
#include "store/claim_branches.h"
#include "store/git_lock_branch.h"
#include "store/git_refs.h"
#include "store/git_store.h"

namespace dibs {

namespace {

std::unique_ptr<RemoteRefs> remote_of(const GitStoreParts& parts, const GitStorePlace& place) {
  // No prefix ends like a branch, so that each layout and each branch has its own repository.
  const std::string prefix =
      place.layout == kLockBranch ? "refs/heads/" + place.lock_branch : place.prefix;
  return std::make_unique<RemoteRefs>(
      parts.files, parts.git,
      RemotePlace{.directory = fmt::format("{}/remotes/{}.git", place.directory,
                                           encode_name(place.remote + ":" + prefix)),
                  .common_dir = place.common_dir,
                  .remote = place.remote,
                  .prefix = prefix});
}

// As git knows the user here; without an address the agent's name stands for it.
LockHolder lock_holder(const GitStoreParts& parts, const std::string& common_dir) {
  const Result<std::string> email = parts.git.output_of(
      {.git_dir = common_dir, .arguments = {"config", "user.email"}, .input = {}},
      ErrorKind::internal);
  return {.email = std::string(trim(email.value_or(""))), .host = parts.machine.host_name()};
}

std::unique_ptr<GitLayout> layout_of(const GitStoreParts& parts, const GitStorePlace& place,
                                     RemoteRefs& remote, const GitStore::Notice& notice) {
  if (place.layout == kLockBranch) {
    return std::make_unique<GitLockBranch>(
        remote, BranchFiles(parts.git, remote.place().directory, Flushing::none),
        [parts, common_dir = place.common_dir] { return lock_holder(parts, common_dir); }, notice);
  }
  std::unique_ptr<ClaimBranches> branches;
  if (place.layout == kBranches) {
    branches = std::make_unique<ClaimBranches>(
        parts.git, remote,
        ClaimBranches::Names{.state = place.claim_state, .target = place.target});
  }
  return std::make_unique<GitRefs>(parts.files, remote, place.directory_mode & 0666U, notice,
                                   std::move(branches));
}

Done check_remote(const GitProgram& git, const GitStorePlace& place) {
  const Result<ProgramEnd> url = git.run({.git_dir = place.common_dir,
                                          .arguments = {"remote", "get-url", "--", place.remote},
                                          .input = {}});
  if (!url) return fail(url.error());
  if (url->succeeded()) return {};
  return fail(ErrorKind::not_set_up,
              fmt::format("this repository has no remote {}", printable(place.remote)),
              fmt::format("add it with: git remote add {} URL, or keep leases on this machine "
                          "with: dibs init --store local",
                          shell_word(place.remote)));
}

Done check_names(const GitStoreParts& parts, const GitStorePlace& place) {
  if (!place.prefix.starts_with("refs/") || !place.prefix.ends_with('/')) {
    return fail(ErrorKind::usage,
                fmt::format("store.ref_prefix cannot be '{}'", printable(place.prefix)),
                "it must begin with refs/ and end with /");
  }
  if (place.layout != kLockBranch) return {};
  const Result<ProgramEnd> end =
      parts.git.run({.git_dir = place.common_dir,
                     .arguments = {"check-ref-format", "refs/heads/" + place.lock_branch},
                     .input = {}});
  if (!end) return fail(end.error());
  if (end->succeeded()) return {};
  return fail(ErrorKind::usage,
              fmt::format("store.lock_branch cannot be '{}'", printable(place.lock_branch)),
              "it must be what git takes as the name of a branch");
}

Done push_beginning(RemoteRefs& remote, const RefMove& beginning) {
  const Result<PushEnd> end = remote.push({beginning});
  if (!end) return fail(end.error());
  const std::string name = printable(remote.place().remote);
  switch (end->kind) {
    case PushEnd::Kind::moved:
      return {};
    case PushEnd::Kind::lost: {  // another began it in the same moment
      const auto looked = remote.look({beginning.name});
      return looked ? Done{} : fail(looked.error());
    }
    case PushEnd::Kind::refused:
      return fail(ErrorKind::refused,
                  fmt::format("the remote {} does not take dibs' refs: {}", name, end->why),
                  beginning.name.starts_with("refs/heads/")
                      ? "see what it allows with: dibs doctor"
                      : "if it takes branches only: dibs config set store.ref_prefix "
                        "refs/heads/dibs/");
    case PushEnd::Kind::unsent:
    case PushEnd::Kind::unknown:
      break;
  }
  return fail(unwritable_remote(remote.place().remote, end->why));
}

}  // namespace

Error unwritable_remote(const std::string& remote, const std::string& why) {
  return {
      .kind = ErrorKind::unreachable,
      .message = fmt::format("the remote {} cannot be written: {}", printable(remote), why),
      .hint = fmt::format("see whether git reaches it: git push --dry-run {}", shell_word(remote)),
      .fields = {}};
}

Done GitStore::create(const GitStoreParts& parts, const GitStorePlace& place) {
  if (Done names = check_names(parts, place); !names) return names;
  if (Done there = check_remote(parts.git, place); !there) return there;
  for (const char* below : {"", "/heartbeat", "/remotes"}) {
    if (Done made = parts.files.make_directory(place.directory + below, place.directory_mode);
        !made)
      return made;
  }
  const std::unique_ptr<RemoteRefs> remote = remote_of(parts, place);
  if (Done opened = remote->open(place.directory_mode); !opened) return opened;
  const std::unique_ptr<GitLayout> layout =
      layout_of(parts, place, *remote, [](const std::string&) {});
  if (const Result<Sight> looked = layout->look({}); !looked) return fail(looked.error());
  const Result<std::optional<RefMove>> beginning = layout->beginning(parts.clock.now().unix_ms);
  if (!beginning) return fail(beginning.error());
  if (beginning->has_value()) {
    if (Done begun = push_beginning(*remote, **beginning); !begun) return begun;
  }
  // Last: where this is, `init` was not cut short.
  return parts.files.make_directory(place.directory + "/locks", place.directory_mode);
}

bool GitStore::has_remotes(const GitProgram& git, const std::string& common_dir) {
  const Result<ProgramEnd> end =
      git.run({.git_dir = common_dir, .arguments = {"remote"}, .input = {}});
  // A git that does not answer is a trouble of its own, and setting up will name it.
  return !end || !end->succeeded() || !trim(end->out).empty();
}

Result<std::unique_ptr<GitStore>> GitStore::open(const GitStoreParts& parts,
                                                 const GitStorePlace& place, const Notice& notice) {
  if (Done made = parts.files.make_directory(place.directory + "/remotes", place.directory_mode);
      !made)
    return fail(made.error());
  std::unique_ptr<RemoteRefs> remote = remote_of(parts, place);
  if (Done opened = remote->open(place.directory_mode); !opened) return fail(opened.error());
  std::unique_ptr<GitLayout> layout = layout_of(parts, place, *remote, notice);
  return std::make_unique<GitStore>(parts, place, std::move(remote), std::move(layout));
}

}  // namespace dibs
