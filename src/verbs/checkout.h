// The user's own checkout of the target branch, after something landed on it.
#pragma once

#include <optional>
#include <string>

#include "git/surroundings.h"
#include "verbs/target.h"

namespace dibs::verbs {

// Wherever the target is checked out, files and index follow it, as far as that loses nothing of
// the user's. Says what to do where it could not. `target` is how it was before, `commit` where it
// is now. Never an error: the landing has happened.
[[nodiscard]] std::optional<std::string> bring_checkout_along(const Surroundings& around,
                                                              const Target& target,
                                                              const std::string& commit);

}  // namespace dibs::verbs
