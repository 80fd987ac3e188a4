// The refs that dibs keeps on a git remote, and a private bare repository that remembers how they
// were last seen.
//
// The private repository keeps dibs' objects and refs out of the user's: nothing of it shows in
// `git log --all`, is pushed by `push --mirror`, or slows the user's own refs. It includes the
// user's configuration, so that the remote, its credentials and its proxies are those the user set
// up.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "git/git_program.h"
#include "git/loose_object.h"
#include "git/push_report.h"
#include "git/ref_files.h"
#include "model/ref_move.h"
#include "sys/file_system.h"

namespace dibs {

/// A ref as it was last seen: the commit it points to, and what that says.
struct SeenRef {
  std::string name;
  std::string commit;
  std::string message;
};

struct RemotePlace {
  std::string directory;   // of the private repository
  std::string common_dir;  // of the user's
  std::string remote;      // its name there
  std::string prefix;      // of every ref that is dibs', such as "refs/dibs/"
};

class RemoteRefs {
 public:
  RemoteRefs(FileSystem& files, const GitProgram& git, RemotePlace place)
      : files_(files), git_(git), place_(std::move(place)), ref_files_(files, place_.directory) {}

  [[nodiscard]] const RemotePlace& place() const { return place_; }
  // Comes first. Makes the private repository when it is not there yet.
  [[nodiscard]] Done open(unsigned directory_mode);

  // As last seen, without asking the remote; a name that is not there is left out.
  [[nodiscard]] Result<std::vector<SeenRef>> seen(const std::vector<std::string>& names);
  // The same for all whose names begin with the prefix and `folder`, such as "r/".
  [[nodiscard]] Result<std::vector<SeenRef>> seen_below(const std::string& folder);
  // The commit that a ref was last seen at; empty when there is no such ref.
  [[nodiscard]] Result<std::string> commit_at(const std::string& ref) {
    return ref_files_.commit_at(ref);
  }
  // How many refs whose names begin with the prefix and `folder` were last seen, at most. Cheap.
  [[nodiscard]] std::size_t most_below(const std::string& folder) {
    return ref_files_.most_in(place_.prefix + folder);
  }
  // Looks at the remote again: at these refs; a name that ends in '/' is all below it. Says which
  // of those that were seen before are not there any more, and where they stood (without their
  // messages).
  [[nodiscard]] Result<std::vector<SeenRef>> look(const std::vector<std::string>& names);
  // Refs that went when they should not have; they are remembered as they last were, until they are
  // seen again.
  [[nodiscard]] Done keep_gone(const std::vector<SeenRef>& gone);
  // Those of these names; no names: all.
  [[nodiscard]] Result<std::vector<SeenRef>> gone(const std::vector<std::string>& names = {});
  // Makes a commit without files that says `message`, and does not put it anywhere yet.
  [[nodiscard]] Result<std::string> write_commit(const std::vector<std::string>& parents,
                                                 const std::string& message, std::int64_t unix_ms);
  /// Which repository a push goes out from: the one that has what is sent.
  enum class From {
    ours,
    users,  // branches move too, and what is remembered of them is the user's
  };
  // Moves all of them or none. What moved and is ours is remembered as seen.
  [[nodiscard]] Result<PushEnd> push(const std::vector<RefMove>& moves, From from = From::ours);
  // As far as a push goes without changing anything.
  [[nodiscard]] Result<PushEnd> rehearse();
  // Where refs of any name stand on the remote right now; one that is not there is left out.
  // Nothing is remembered.
  [[nodiscard]] Result<std::map<std::string, std::string>> ask_remote(
      const std::vector<std::string>& names);
  // What every commit from which these refs can be reached says, newest first.
  [[nodiscard]] Result<std::vector<std::string>> messages();

 private:
  // A branch of the remote that is ours alone.
  [[nodiscard]] bool is_own_branch(const RefMove& move) const;
  [[nodiscard]] Result<std::vector<std::string>> unnoted_settings(
      const std::vector<RefMove>& moves) const;
  [[nodiscard]] Result<std::string> make(unsigned directory_mode);
  [[nodiscard]] Error unreadable(const ProgramEnd& end) const;
  [[nodiscard]] std::string borrowing_ours() const;
  [[nodiscard]] Done write_object(const std::string& folder, const std::string& path,
                                  std::string_view bytes);
  [[nodiscard]] bool outbox_has(const std::vector<RefMove>& moves);
  void empty_outbox(const std::vector<RefMove>& moves);
  void remember(const std::vector<RefMove>& moves);
  [[nodiscard]] bool has_object(const std::string& commit) const;
  [[nodiscard]] Done fetch(const std::vector<std::string>& names);
  void pack_if_many(const std::vector<std::string>& names);
  [[nodiscard]] Result<std::vector<SeenRef>> known_below(const std::string& prefix);
  [[nodiscard]] Result<std::vector<SeenRef>> ask_git(const std::vector<std::string>& names);
  [[nodiscard]] Result<std::string> text_of_commit(const std::string& commit) const;
  [[nodiscard]] GitProgram::Call call(std::vector<std::string> arguments) const;
  [[nodiscard]] GitProgram::Call remote_call(std::vector<std::string> arguments) const;
  [[nodiscard]] GitProgram::Call look_call(std::vector<std::string> arguments) const;
  void remove_unfinished();

  FileSystem& files_;
  const GitProgram& git_;
  RemotePlace place_;
  RefFiles ref_files_;
  std::string empty_tree_;
  ObjectFormat format_ = ObjectFormat::sha1;
  unsigned directory_mode_ = kPrivateDirectory;
  std::map<std::string, SeenRef> known_;  // what commits say never changes, only where refs are
};

}  // namespace dibs
