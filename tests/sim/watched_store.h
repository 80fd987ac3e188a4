// A store as one command of an agent uses it: the witness hears of every look and every change on
// its way, and a planted bug may spoil both.
#pragma once

#include <memory>

#include "site.h"

namespace dibs::sim {

class WatchedStore final : public Store {
 public:
  WatchedStore(std::unique_ptr<Store> inner, Process& process, Site& site, Witness& witness,
               Asked& asked)
      : inner_(std::move(inner)),
        process_(process),
        site_(site),
        witness_(witness),
        asked_(asked) {}

  [[nodiscard]] Result<View> read(const Selection& selection) override;
  [[nodiscard]] Result<Outcome> commit(const Transaction& transaction) override;
  [[nodiscard]] Result<Cursor> wait(Cursor since, std::int64_t most_ms) override {
    return inner_->wait(since, most_ms);
  }
  [[nodiscard]] Result<History> history(const HistoryQuery& query) override {
    return inner_->history(query);
  }
  [[nodiscard]] Promises promises() const override { return inner_->promises(); }

 private:
  [[nodiscard]] Result<Outcome> spoiled(const Transaction& transaction);

  std::unique_ptr<Store> inner_;
  Process& process_;
  Site& site_;
  Witness& witness_;
  Asked& asked_;
  std::uint64_t cursor_ = 0;
};

}  // namespace dibs::sim
