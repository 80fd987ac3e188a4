#include "verbs/target.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/name_encoding.h"
#include "base/text.h"
#include "git/commits.h"
#include "model/claim_branch.h"

namespace dibs::verbs {

namespace {

constexpr std::array<const char*, 2> kUsualBranches{"main", "master"};

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// What people call the repository: the main worktree, or the bare directory without its ending.
std::string place_of(const Repository& repository) {
  const std::string& common = repository.common_dir;
  if (last_part(common) == ".git") return parent_of(common);
  return common.ends_with(".git") ? common.substr(0, common.size() - 4) : common;
}

Error no_commit(const std::string& branch) {
  return {.kind = ErrorKind::refused,
          .message = fmt::format("the target branch {} has no commit", printable(branch)),
          .hint =
              "make the first commit, or name another branch: dibs config set landing.target "
              "BRANCH",
          .fields = {}};
}

/// The search for the branch, with what it looks at.
struct Search {
  Workspace& workspace;
  const Repository& repository;
  Commits commits;
  std::string wanted;  // landing.target; may be empty
  std::string remote;
  bool on_remote = false;  // the target is the remote's branch

  [[nodiscard]] Result<std::optional<std::string>> remote_head() const {
    const std::string prefix = fmt::format("refs/remotes/{}/", remote);
    const Result<std::optional<std::string>> head = commits.symbolic(prefix + "HEAD");
    if (!head) return fail(head.error());
    if (!head->has_value() || !(*head)->starts_with(prefix)) return std::nullopt;
    return (*head)->substr(prefix.size());
  }

  [[nodiscard]] std::vector<std::string> candidates(const std::optional<std::string>& head) const {
    if (!wanted.empty()) return {wanted};
    std::vector<std::string> names;
    if (head) names.push_back(*head);
    names.insert(names.end(), kUsualBranches.begin(), kUsualBranches.end());
    const std::string current = current_branch(workspace.system().files, repository);
    if (!current.empty()) names.push_back(current);
    return names;
  }
};

Result<Search> search_of(Workspace& workspace) {
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  return Search{.workspace = workspace,
                .repository = **repository,
                .commits = Commits(workspace.system().files, workspace.system().git,
                                   (*repository)->common_dir),
                .wanted = std::string((*settings)->text("landing.target")),
                .remote = std::string((*settings)->text("store.remote")),
                .on_remote = (*settings)->text("store.kind") == "git"};
}

Result<Target> local_target(const Search& search) {
  const Result<std::optional<std::string>> head = search.remote_head();
  if (!head) return fail(head.error());
  const std::vector<std::string> names = search.candidates(*head);
  for (const std::string& name : names) {
    // A fresh clone may have the remote's branch alone.
    for (const std::string& ref :
         {"refs/heads/" + name, fmt::format("refs/remotes/{}/{}", search.remote, name)}) {
      const Result<std::optional<std::string>> commit = search.commits.find(ref);
      if (!commit) return fail(commit.error());
      if (commit->has_value()) return Target{.branch = name, .commit = **commit, .remote = {}};
    }
  }
  return fail(no_commit(names.front()));
}

Error unreachable(const std::string& remote, const ProgramEnd& end) {
  return {.kind = ErrorKind::unreachable,
          .message =
              fmt::format("the remote {} cannot be read: {}", printable(remote), complaint_of(end)),
          .hint = fmt::format("see whether git reaches it: git ls-remote {}", shell_word(remote)),
          .fields = {}};
}

// The branch names that a remote has, its own first. "ref: refs/heads/main\tHEAD" says which that
// is.
Result<std::vector<std::string>> remote_branches(const Search& search) {
  const Result<ProgramEnd> end = search.workspace.system().git.run(
      {.git_dir = search.repository.common_dir,
       .arguments = {"ls-remote", "--symref", "--", search.remote, "HEAD", "refs/heads/*"},
       .input = {}});
  if (!end) return fail(end.error());
  if (!end->succeeded()) return fail(unreachable(search.remote, *end));
  constexpr std::string_view kBranches = "refs/heads/";
  std::vector<std::string> names;
  for (const std::string_view line : split(end->out, '\n')) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) continue;
    const bool is_head = line.starts_with("ref: refs/heads/") && line.substr(tab + 1) == "HEAD";
    if (is_head)
      names.emplace(names.begin(), line.substr(5 + kBranches.size(), tab - 5 - kBranches.size()));
    if (line.substr(tab + 1).starts_with(kBranches))
      names.emplace_back(line.substr(tab + 1 + kBranches.size()));
  }
  return names;
}

Result<std::string> branch_on_remote(const Search& search) {
  if (!search.wanted.empty()) return search.wanted;
  const Result<std::optional<std::string>> head = search.remote_head();
  if (!head) return fail(head.error());
  if (head->has_value()) return **head;
  const Result<std::vector<std::string>> names = remote_branches(search);
  if (!names) return fail(names.error());
  const bool tells_head = !names->empty() && std::ranges::count(*names, names->front()) > 1;
  if (tells_head) return names->front();
  for (const std::string& name : search.candidates(std::nullopt)) {
    if (std::ranges::count(*names, name) > 0) return name;
  }
  return fail(no_commit(kUsualBranches.front()));
}

// Where a branch of the remote is now; remembered as git would.
Result<std::string> fetched(const Surroundings& around, const std::string& remote,
                            const std::string& branch) {
  const auto turn = lock_worktrees(around);
  if (!turn) return fail(turn.error());
  const std::string ref = fmt::format("refs/remotes/{}/{}", remote, branch);
  const Result<ProgramEnd> end =
      around.git.run({.git_dir = around.common_dir,
                      .arguments = {"fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
                                    "--no-recurse-submodules", "--", remote,
                                    fmt::format("+refs/heads/{}:{}", branch, ref)},
                      .input = {}});
  if (!end) return fail(end.error());
  if (!end->succeeded() && contains(end->err, "couldn't find remote ref"))
    return fail(no_commit(branch));
  if (!end->succeeded()) return fail(unreachable(remote, *end));
  return Commits(around.files, around.git, around.common_dir).resolve(ref);
}

Result<Target> remote_target(const Search& search, const Surroundings& around) {
  const Result<std::string> branch = branch_on_remote(search);
  if (!branch) return fail(branch.error());
  const Result<std::string> commit = fetched(around, search.remote, *branch);
  if (!commit) return fail(commit.error());
  return Target{.branch = *branch, .commit = *commit, .remote = search.remote};
}

}  // namespace

Result<Target> find_target(Workspace& workspace) {
  const Result<Search> search = search_of(workspace);
  if (!search) return fail(search.error());
  if (!search->on_remote) return local_target(*search);
  const Result<Surroundings> around = surroundings(workspace);
  if (!around) return fail(around.error());
  return remote_target(*search, *around);
}

Result<Target> known_target(Workspace& workspace) {
  const Result<Search> search = search_of(workspace);
  if (!search) return fail(search.error());
  if (!search->on_remote) return local_target(*search);
  const Result<std::optional<std::string>> head = search->remote_head();
  if (!head) return fail(head.error());
  const std::string name = search->wanted.empty() ? head->value_or("") : search->wanted;
  if (name.empty()) return find_target(workspace);
  const Result<std::optional<std::string>> commit =
      search->commits.find(fmt::format("refs/remotes/{}/{}", search->remote, name));
  if (!commit) return fail(commit.error());
  if (!commit->has_value()) return find_target(workspace);
  return Target{.branch = name, .commit = **commit, .remote = search->remote};
}

Result<std::string> default_worktree_path(Workspace& workspace, const std::string& name) {
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  const std::string place = place_of(**repository);
  std::string folder(std::string((*settings)->text("worktree.directory")));
  if (folder.empty()) folder = place + ".worktrees";
  if (!folder.starts_with('/')) folder = place + "/" + folder;
  return folder + "/" + encode_name(name);
}

Result<std::string> work_base(Workspace& workspace, const Target& target,
                              const std::string& claim_state, const std::string& item) {
  if (claim_state.empty()) return target.commit;
  const Result<Surroundings> around = surroundings(workspace);
  if (!around) return fail(around.error());
  return fetched(*around, target.remote, claim_branch_name(claim_state, item));
}

Result<Surroundings> surroundings(Workspace& workspace) {
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const Result<std::string> directory = workspace.directory();
  if (!directory) return fail(directory.error());
  System& system = workspace.system();
  return Surroundings{.files = system.files,
                      .git = system.git,
                      .clock = system.clock,
                      .random = system.random,
                      .common_dir = (*repository)->common_dir,
                      .directory = *directory,
                      .file_mode = workspace.file_mode()};
}

}  // namespace dibs::verbs
