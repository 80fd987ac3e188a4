// What a command said last, as part of the sentence that says how it failed.
#pragma once

#include <string>

namespace dibs::verbs {

// "; it said last:" and a few lines, safe to show; empty when it said nothing.
[[nodiscard]] std::string last_words(const std::string& output);

}  // namespace dibs::verbs
