// A three-way merge of texts by lines, for what people write about an item. It never fails and
// loses nothing that was written: where both sides changed the same lines, both versions stand
// there, one after the other, without marks that somebody would have to clean up.
#pragma once

#include <string>
#include <string_view>

namespace dibs {

// The same lines whichever side is called first, but for the order of two versions of one place:
// those of `first` come first.
[[nodiscard]] std::string merge_texts(std::string_view base, std::string_view first,
                                      std::string_view second);

}  // namespace dibs
