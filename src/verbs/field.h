// The field of candidates for one call of `next`, and what was learnt about them so far. Everything
// is asked when its turn comes, and once: of a hundred thousand ready items a few dozen matter.
//
//   Field field(workspace, catalog, labels);
//   field.open();
//   field.choose(workers, schedule);     // and again, after strike(), when somebody was faster
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "items/catalog.h"
#include "model/glob.h"
#include "rules/choice.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

class Field {
 public:
  // Only items with all of these labels count.
  Field(Workspace& workspace, Catalog catalog, std::vector<std::string> labels)
      : workspace_(workspace), catalog_(std::move(catalog)), labels_(std::move(labels)) {}

  [[nodiscard]] Done open();
  // Whether anything about a worker could decide between the best two that are free.
  [[nodiscard]] bool is_close();
  // Items whose files that worker knows.
  [[nodiscard]] Done know_files_of(WorkerNumber worker, const std::vector<ItemNumber>& items);
  // Without workers anybody will do, and nothing is weighed.
  [[nodiscard]] Result<Choice> choose(const std::vector<Worker>& workers, const Schedule& schedule);
  // Somebody was faster.
  void strike(ItemNumber item) { taken_[item] = true; }

  [[nodiscard]] const Catalog& catalog() const { return catalog_; }

 private:
  // The predicates of a choice cannot fail; what went wrong is told when it is over.
  template <class T>
  T noted(Result<T> result, T fallback) {
    if (result) return *std::move(result);
    if (!problem_) problem_ = result.error();
    return fallback;
  }

  bool is_taken(ItemNumber item);
  void look_ahead(ItemNumber item);
  bool is_unwanted(ItemNumber item);
  Asked asked(ItemNumber item, WorkerNumber worker);
  bool touches_known_files(ItemNumber item, WorkerNumber worker);
  std::optional<GlobSet> globs_of(ItemNumber item);
  std::optional<std::string> overlaps(ItemNumber item);
  void learn_held();
  std::optional<std::string> holder_of(const std::string& item);

  struct HeldGlob {
    std::string_view glob;
    std::string item;
  };
  static constexpr std::size_t kFirstLook = 8;  // leases that are asked for at once; then more

  Workspace& workspace_;
  Catalog catalog_;
  std::vector<std::string> labels_;
  Catalog::ReadyOrder order_;
  const ItemColumns* columns_ = nullptr;
  std::map<ItemNumber, bool> taken_;
  std::size_t look_ = kFirstLook;
  bool weighs_ = false;
  std::map<WorkerNumber, std::vector<std::string_view>> known_globs_;
  std::optional<std::vector<HeldGlob>> held_;
  std::optional<Error> problem_;
};

}  // namespace dibs::verbs
