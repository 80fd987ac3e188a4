// dibs without the one check that keeps a zombie out: at the step that counts, the lease is not
// compared with what the store holds now. What others hold by then stays theirs, as with a tool
// that looks at its lease first and pushes after that. The zombie tests and the guarded counter run
// it to see that they would notice.
#include <utility>

#include "program.h"

namespace {

class UnfencedStore final : public dibs::Store {
 public:
  explicit UnfencedStore(std::unique_ptr<dibs::Store> store) : store_(std::move(store)) {}

  [[nodiscard]] dibs::Result<dibs::View> read(const dibs::Selection& selection) override {
    return store_->read(selection);
  }

  // Whatever is there is what was expected, however often that changes, and is left alone.
  [[nodiscard]] dibs::Result<dibs::Outcome> commit(const dibs::Transaction& transaction) override {
    if (transaction.refs.empty()) return store_->commit(transaction);
    dibs::Result<dibs::Outcome> outcome = commit_blindly(transaction);
    for (int tries = 0; tries < kTriesMax; ++tries) {
      if (!outcome || !std::holds_alternative<dibs::LostRace>(*outcome)) break;
      outcome = commit_blindly(transaction);
    }
    return outcome;
  }

  [[nodiscard]] dibs::Result<dibs::Cursor> wait(dibs::Cursor since, std::int64_t most_ms) override {
    return store_->wait(since, most_ms);
  }
  [[nodiscard]] dibs::Result<dibs::History> history(const dibs::HistoryQuery& query) override {
    return store_->history(query);
  }
  [[nodiscard]] dibs::Promises promises() const override { return store_->promises(); }

 private:
  static constexpr int kTriesMax = 4;

  dibs::Result<dibs::Outcome> commit_blindly(dibs::Transaction transaction) {
    std::vector<dibs::Key> keys;
    for (const dibs::Expectation& expected : transaction.expectations) keys.push_back(expected.key);
    const dibs::Result<dibs::View> view = store_->read(dibs::Selection::of(keys));
    if (!view) return dibs::fail(view.error());
    for (dibs::Expectation& expected : transaction.expectations) {
      const dibs::Record* record = view->find(expected.key);
      const auto version = record == nullptr ? std::nullopt : std::optional(record->version);
      if (version == expected.version) continue;
      expected.version = version;
      for (dibs::Write& write : transaction.writes) {
        if (write.key != expected.key) continue;
        write.value = record == nullptr ? std::nullopt : std::optional(record->value);
      }
    }
    return store_->commit(transaction);
  }

  std::unique_ptr<dibs::Store> store_;
};

}  // namespace

int main(int argc, char** argv) {
  return dibs::run_program(argc, argv, [](std::unique_ptr<dibs::Store> store) {
    return std::make_unique<UnfencedStore>(std::move(store));
  });
}
