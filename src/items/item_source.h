// Where items are kept. One interface over dibs' own ref and over what other tools keep in the
// tree, so that no command knows which it is.
//
//   const auto stored = source.read({id});
//   … change …
//   source.write({.changes = {{.item = changed, .expected = stored->front().version}}, …});
//
// Sources keep what they do not understand, byte for byte.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "items/broken_item.h"
#include "items/catalog.h"
#include "model/agent.h"
#include "model/item.h"
#include "model/ref_move.h"

namespace dibs {

struct StoredItem {
  Item item;
  std::string version;  // differs whenever what is stored does
  std::string file;     // where, for a person
};

struct ItemList {
  std::vector<StoredItem> items;  // by id
  std::vector<BrokenItem> broken;
};

/// One past change of an item.
struct ItemRevision {
  std::string commit;
  std::int64_t unix_ms = 0;
  std::string by;
  std::string message;
};

class ItemSource {
 public:
  virtual ~ItemSource() = default;

  // An id for something new, in the way of this source: aitasks has numbers, beads its prefix.
  [[nodiscard]] virtual Result<ItemId> new_id(std::string_view title,
                                              const std::array<std::uint8_t, 4>& chance) {
    return make_item_id(title, chance);
  }
  // Whether a dependency on something that is neither there nor broken is over: in tools that pack
  // away or delete what is finished.
  [[nodiscard]] virtual bool forgets_what_is_done() const { return false; }

  // Everything there is; what is broken hides nothing else. Bodies may be left out.
  [[nodiscard]] virtual Result<ItemList> read_all() = 0;
  // The same, ready to be asked. A source that can tell what changed does not read everything
  // again.
  [[nodiscard]] virtual Result<Catalog> catalog(const Workflow& workflow);
  // Whether nothing has changed since a catalog was made; false also where only reading everything
  // could tell.
  [[nodiscard]] virtual Result<bool> is_up_to_date(const Catalog& catalog);
  // These, whole; one that is not there is left out, one that is broken is an error.
  [[nodiscard]] virtual Result<std::vector<StoredItem>> read(const std::vector<ItemId>& ids) = 0;

  struct Change {
    Item item;
    std::optional<std::string> expected;  // its version; none: there must be no such item
    ItemId was = {};  // the id it had, in a source where an id is a name that can change
  };
  struct Batch {
    std::vector<Change> changes;
    AgentId author;
    std::string message;
    std::int64_t unix_ms = 0;
  };
  // All of them, in one commit where the source has commits. False, with nothing written, when
  // somebody else was faster: read and apply again.
  [[nodiscard]] virtual Result<bool> write(const Batch& batch) = 0;

  // For a source whose items lie on branches of the repository: from here on everything is as if
  // this branch had moved so, and a prepared change follows it. False when they do not lie there.
  [[nodiscard]] virtual bool stand_on(const RefMove& landing);
  /// A change that is made and not put in place yet: it counts once the ref has moved.
  struct Prepared {
    std::string ref;
    std::string from;
    std::string to;
    std::shared_ptr<const void> turn;  // nobody else changes items while it is kept
  };
  // So that a change is one step with others. Nothing when somebody was faster.
  [[nodiscard]] virtual Result<std::optional<Prepared>> prepare(const Batch& batch) = 0;
  // It has moved.
  virtual void moved(const Prepared& prepared, const Batch& batch);

  // Newest first, at most so many.
  [[nodiscard]] virtual Result<std::vector<ItemRevision>> history(const ItemId& id,
                                                                  std::size_t most) = 0;
};

}  // namespace dibs
