// Where a ref stands, read from git's own files where that is certain: a git process for each would
// be most of what starting and landing an item costs. Whatever is out of the ordinary (a reftable,
// a name that git would have to judge, a ref to a ref to no branch) is left to git.
#pragma once

#include <string>

#include "sys/file_system.h"

namespace dibs {

struct RefAnswer {
  enum class Kind { found, absent, unsure };
  Kind kind = Kind::unsure;
  std::string text = {};  // the commit, or what a symbolic ref names
};

// The commit that HEAD, MERGE_HEAD and the like, a branch or a remote's branch is at. `git_dir`
// decides whose HEAD.
[[nodiscard]] RefAnswer look_up_commit(FileSystem& files, const std::string& git_dir,
                                       const std::string& ref);
// What a symbolic ref names; absent when it is not there or not symbolic.
[[nodiscard]] RefAnswer look_up_symbolic(FileSystem& files, const std::string& git_dir,
                                         const std::string& ref);

// Whether git would take it for the name of a branch beyond doubt: letters, digits, ._- and
// slashes.
[[nodiscard]] bool is_plain_branch_name(std::string_view name);

}  // namespace dibs
