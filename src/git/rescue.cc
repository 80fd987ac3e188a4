#include "git/rescue.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/name_encoding.h"
#include "base/text.h"
#include "git/commits.h"
#include "git/snapshot.h"
#include "git/worktree_identity.h"

namespace dibs {

namespace {

// Everything that is left when the worktree is gone. Our own refs are no place for work: they are
// dropped when nobody wants them any more.
std::vector<std::string> staying_refs(const KeepRequest& request) {
  std::vector<std::string> staying{"--exclude=refs/dibs/*"};
  for (const std::string& ref : request.going) staying.push_back("--exclude=" + ref);
  staying.emplace_back("--glob=refs/*");
  staying.insert(staying.end(), request.landed.begin(), request.landed.end());
  return staying;
}

std::optional<Rescued> rescued_of(std::string_view entry) {
  // "COMMIT REF\nMESSAGE"
  while (entry.starts_with('\n')) entry.remove_prefix(1);
  const std::size_t space = entry.find(' ');
  const std::size_t newline = entry.find('\n');
  if (space == std::string_view::npos || newline == std::string_view::npos || newline < space)
    return std::nullopt;
  const std::string_view ref = entry.substr(space + 1, newline - space - 1);
  std::optional<RescueNote> note = parse_rescue_message(entry.substr(newline + 1));
  if (!note || !ref.starts_with(kRescuePrefix)) return std::nullopt;
  return Rescued{.name = std::string(ref.substr(kRescuePrefix.size())),
                 .commit = std::string(entry.substr(0, space)),
                 .note = *std::move(note)};
}

}  // namespace

Result<std::optional<Rescued>> Rescue::snapshot(const Repository& worktree,
                                                const KeepRequest& request) {
  const std::int64_t now = around_.clock.now().unix_ms;
  RescueNote note{.label = request.label, .why = request.why, .agent = request.agent};
  note.path = worktree.root;
  note.unix_ms = now;
  const Result<std::optional<WorktreeIdentity>> identity =
      find_worktree_identity(around_.files, worktree);
  if (identity && identity->has_value()) note.worktree_id = (*identity)->id.text;
  Result<std::optional<Snapshot>> taken =
      take_snapshot(around_, worktree, {.note = note, .staying = staying_refs(request)});
  if (!taken) return fail(taken.error());
  if (!taken->has_value()) return std::nullopt;
  const std::string name =
      fmt::format("{}/{}", encode_name(request.label), around_.random.lease_id(now).text);
  const std::string create = fmt::format("create {}{} {}\n", kRescuePrefix, name, (*taken)->commit);
  const Result<std::string> put = around_.git.output_of({.git_dir = around_.common_dir,
                                                         .arguments = {"update-ref", "--stdin"},
                                                         .input = create,
                                                         .settings = {"core.fsync=all"}},
                                                        ErrorKind::internal);
  if (!put) return fail(put.error());
  return Rescued{.name = name, .commit = (*taken)->commit, .note = (*taken)->note};
}

Result<std::vector<Rescued>> Rescue::list() const {
  const Result<std::string> out = around_.git.output_of(
      {.git_dir = around_.common_dir,
       .arguments = {"for-each-ref", "--format=%(objectname) %(refname)%0a%(contents)%00",
                     std::string(kRescuePrefix)},
       .input = {}},
      ErrorKind::internal);
  if (!out) return fail(out.error());
  std::vector<Rescued> all;
  for (const std::string_view entry : split(*out, '\0')) {
    if (std::optional<Rescued> rescued = rescued_of(entry)) all.push_back(*std::move(rescued));
  }
  std::ranges::sort(all, {}, [](const Rescued& rescued) {
    return std::pair(rescued.note.unix_ms, std::string_view(rescued.name));
  });
  return all;
}

Result<Rescued> Rescue::find(const std::string& name) const {
  Result<std::vector<Rescued>> all = list();
  if (!all) return fail(all.error());
  const auto found = std::ranges::find_if(*all, [&](const Rescued& rescued) {
    return rescued.name == name || rescued.name.ends_with("/" + name) ||
           name == std::string(kRescuePrefix) + rescued.name;
  });
  if (found != all->end()) return std::move(*found);
  return fail(ErrorKind::not_found, fmt::format("nothing is kept as {}", printable(name)),
              "see what is: dibs worktree rescue list");
}

Result<Rescued> Rescue::drop(const std::string& name) {
  Result<Rescued> rescued = find(name);
  if (!rescued) return rescued;
  const Result<std::string> gone = around_.git.output_of(
      {.git_dir = around_.common_dir,
       .arguments = {"update-ref", "-d", std::string(kRescuePrefix) + rescued->name,
                     rescued->commit},
       .input = {}},
      ErrorKind::internal);
  if (!gone) return fail(gone.error());
  return rescued;
}

}  // namespace dibs
