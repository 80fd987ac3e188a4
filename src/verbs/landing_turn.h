// Of several landings from one clone, one merges at a time: the others would lose the race for the
// target and merge again. Whoever has to wait leaves an offer of its work, and whoever has the turn
// takes it along: one step for all of them, with its flushes to disk, or its push. No promise
// depends on this; the store decides what lands.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sys/file_system.h"
#include "verbs/landing_step.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

class LandingTurn {
 public:
  // Waits, and not for ever: whoever has the turn may be paused, or on a slow remote.
  [[nodiscard]] static LandingTurn offering(Workspace& workspace, const Landable& landable) {
    return wait_for(workspace, &landable);
  }
  // The same without an offer.
  [[nodiscard]] static LandingTurn alone(Workspace& workspace) {
    return wait_for(workspace, nullptr);
  }

  LandingTurn(LandingTurn&&) = default;
  LandingTurn& operator=(LandingTurn&&) = delete;
  LandingTurn(const LandingTurn&) = delete;
  LandingTurn& operator=(const LandingTurn&) = delete;
  ~LandingTurn();

  // Somebody who had the turn before says that it has landed our work, too.
  [[nodiscard]] bool was_taken_along() const { return taken_along_; }
  // What those who wait have ready, as far as their leases stand.
  [[nodiscard]] std::vector<Landable> offered(std::size_t most) const;
  // All but the first are somebody else's, and have landed.
  void took_along(std::span<const Stacked> stack) const;

 private:
  LandingTurn(Workspace& workspace, std::string directory)
      : workspace_(&workspace), directory_(std::move(directory)) {}
  [[nodiscard]] static LandingTurn wait_for(Workspace& workspace, const Landable* offered);
  [[nodiscard]] bool take();
  void offer(const Landable& landable);
  void withdraw();
  [[nodiscard]] bool is_offer_gone() const;
  [[nodiscard]] std::string offers() const { return directory_ + "/landing"; }
  [[nodiscard]] std::string offer_of(const Landable& landable) const;
  [[nodiscard]] std::vector<Offer> living_offers() const;

  Workspace* workspace_;
  std::string directory_;
  std::unique_ptr<FileLock> turn_;
  std::string offer_path_;           // empty: nothing is offered
  std::unique_ptr<FileLock> offer_;  // for as long as somebody stands behind it
  bool taken_along_ = false;
};

}  // namespace dibs::verbs
