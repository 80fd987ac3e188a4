// The files of a repository that dibs reads without git: where it is, what is checked out, where
// refs stand, what an index has. The first byte chooses which file is the input.
#include "fuzzing.h"
#include "git/index_file.h"
#include "git/ref_files.h"
#include "git/ref_lookup.h"
#include "git/repository.h"
#include "git/worktree_identity.h"
#include "testing/fake_disk.h"

namespace dibs::fuzz {

namespace {

constexpr std::array kFiles{"/r/.git/HEAD",   "/r/.git/packed-refs",
                            "/r/.git/config", "/r/.git/refs/heads/main",
                            "/r/w/.git",      "/r/.git/dibs/worktree.json"};

void ask(FakeDisk& disk) {
  for (const char* place : {"/r", "/r/w"}) {
    const Result<Repository> found = find_repository(disk, place);
    if (!found) continue;
    (void)current_branch(disk, *found);
    (void)all_worktrees(disk, *found);
    (void)shared_directory_mode(disk, *found);
    (void)find_worktree_identity(disk, *found);
  }
  for (const char* ref : {"HEAD", "refs/heads/main", "refs/remotes/origin/main"}) {
    (void)look_up_commit(disk, "/r/.git", ref);
    (void)look_up_symbolic(disk, "/r/.git", ref);
  }
  RefFiles refs(disk, "/r/.git");
  (void)refs.commit_at("refs/heads/main");
  (void)refs.most_in("refs/dibs/r/");
}

}  // namespace

void try_input(std::string_view input) {
  Pieces pieces(input);
  const std::uint8_t choice = pieces.byte();
  if (choice == 'I') {
    (void)parse_index(pieces.rest(), 20);
    (void)parse_index(pieces.rest(), 32);
    return;
  }
  FakeClock clock;
  FakeDisk disk(clock);
  for (const char* directory : {"/r/.git/refs/heads", "/r/.git/objects", "/r/.git/dibs", "/r/w"})
    disk.make_durable_directory(directory);
  disk.put("/r/.git/HEAD", "ref: refs/heads/main\n");
  disk.put(kFiles.at(choice % kFiles.size()), std::string(pieces.rest()));
  ask(disk);
}

}  // namespace dibs::fuzz
