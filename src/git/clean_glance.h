// Whether nothing in a work tree could get lost, told from the files alone. Most who ask have just
// committed everything, and `git status` would be the dearest process of a landing.
#pragma once

#include "git/repository.h"
#include "sys/file_system.h"

namespace dibs {

// Every file is one of HEAD's, as git last saw it, and there is no other, not even an ignored one.
// False wherever that is not certain: then git has to be asked.
[[nodiscard]] bool is_plainly_clean(FileSystem& files, const Repository& worktree);

}  // namespace dibs
