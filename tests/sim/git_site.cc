// The store on a git remote, with a clone on every machine, as a site. Its truth is the remote's
// refs.
#include <fmt/core.h>

#include "base/name_encoding.h"
#include "base/sha.h"
#include "remote_model.h"
#include "site.h"
#include "spoiled_git.h"
#include "store/git_store.h"

namespace dibs::sim {

namespace {

constexpr std::int64_t kUsualMs = 200;
constexpr std::int64_t kSlowMostMs = 150'000;
constexpr std::int64_t kOutageMostMs = 30'000;
const std::string kPrefix = "refs/dibs/";

GitStorePlace place() {
  return {.directory = "/repo/.git/dibs",
          .common_dir = "/repo/.git",
          .remote = "origin",
          .prefix = kPrefix};
}

class GitGround final : public Site {
 public:
  explicit GitGround(const SiteParts& parts);

  Result<std::unique_ptr<Store>> open(Process& process) override;
  void catch_up(Witness& witness) override;
  void tidy(Process& process) override;
  std::size_t in_sight(const Witness& witness) override {
    return under_way_.empty() ? witness.chronicle().size() : *under_way_.begin();
  }
  std::optional<std::string> target() override { return remote_.refs[kTarget]; }
  std::string landing_commit(const LeaseId& lease) override {
    const std::string commit = sha1_hex(lease.text);
    landings_[commit] = lease;
    return commit;
  }

 private:
  friend class Clone;
  friend class Wire;
  [[nodiscard]] Result<LogLine> line_of_commit(const std::string& commit);
  void moved(const std::vector<RefMove>& moves);

  Witness& witness_;
  RemoteModel remote_;
  std::int64_t silent_until_ms_ = 0;  // nobody gets an answer before
  std::map<std::string, LeaseId> landings_;
  std::vector<LogLine> news_;
  std::map<std::string, std::size_t> begun_;
  std::multiset<std::size_t> under_way_;  // where in the chronicle pushes are whose refs still move
};

/// Nothing goes wrong, and nothing takes time.
class Undisturbed final : public Connection {
 public:
  bool goes_on() override { return true; }
  Mishap mishap() override { return Mishap::none; }
  bool took_longer_than(std::int64_t) override { return false; }
};

/// As one git of a machine has it. It goes on when the dibs that started it is killed, and ends
/// with its machine.
class Wire final : public Connection {
 public:
  Wire(Process& process, GitGround& site)
      : schedule_(process.schedule()),
        host_(process.host()),
        site_(site),
        boot_(host_.boot()),
        began_ms_(schedule_.now_ms()) {}

  bool goes_on() override {
    const bool slow = schedule_.dice().one_in(host_.weather().remote_fault_one_in * 8);
    schedule_.sleep_ms(schedule_.dice().below(slow ? kSlowMostMs : kUsualMs));
    if (host_.asleep()) schedule_.wait([&] { return !host_.asleep(); }, host_.asleep_until_ms());
    return host_.boot() == boot_;
  }
  Mishap mishap() override;
  bool took_longer_than(std::int64_t ms) override { return schedule_.now_ms() - began_ms_ > ms; }

 private:
  Schedule& schedule_;
  Host& host_;
  GitGround& site_;
  BootId boot_;
  std::int64_t began_ms_;
};

Connection::Mishap Wire::mishap() {
  Dice& dice = schedule_.dice();
  // Somebody looks after the server, too.
  if (dice.one_in(4)) site_.remote_.stale_locks.clear();
  const bool fair = host_.weather().remote_fault_one_in == 0;
  if (!fair && schedule_.now_ms() < site_.silent_until_ms_) return Mishap::no_answer;
  if (!dice.one_in(host_.weather().remote_fault_one_in)) return Mishap::none;
  constexpr std::array kAll{Mishap::no_answer, Mishap::server_dies, Mishap::reply_is_lost};
  const Mishap mishap = kAll[static_cast<std::size_t>(dice.below(kAll.size()))];
  if (mishap == Mishap::no_answer)
    site_.silent_until_ms_ = schedule_.now_ms() + dice.below(kOutageMostMs);
  return mishap;
}

/// The store as one process has it.
class Clone final : public Store {
 public:
  Clone(GitGround& site, Process& process)
      : process_(process),
        wire_(process, site),
        model_(process.host().disk(), site.remote_, wire_),
        spoiled_(model_, process.bug()),
        git_(*this->gate(), [] { return std::vector<std::string>{}; }) {}

  [[nodiscard]] Done open() {
    Result<std::unique_ptr<GitStore>> store = GitStore::open({.files = process_.files(),
                                                              .clock = process_.clock(),
                                                              .random = process_.random(),
                                                              .machine = process_.machine(),
                                                              .git = git_},
                                                             place(), [](const std::string&) {});
    if (!store) return fail(store.error());
    store_ = *std::move(store);
    return {};
  }
  Result<View> read(const Selection& selection) override { return store_->read(selection); }
  Result<Outcome> commit(const Transaction& transaction) override {
    return store_->commit(transaction);
  }
  Result<Cursor> wait(Cursor since, std::int64_t most_ms) override {
    return store_->wait(since, most_ms);
  }
  Result<History> history(const HistoryQuery& query) override { return store_->history(query); }
  Promises promises() const override { return store_->promises(); }
  [[nodiscard]] Result<std::size_t> tidy() { return store_->tidy(); }

 private:
  /// Starting git is a step of the process; what git then does is not.
  class Gate final : public Programs {
   public:
    Gate(Process& process, Programs& git) : process_(process), git_(git) {}
    Result<ProgramEnd> run(const ProgramCall& call) override {
      if (!process_.step()) return fail(ErrorKind::internal, "the process is dead");
      Result<ProgramEnd> end = git_.run(call);
      if (!process_.step()) return fail(ErrorKind::internal, "the process is dead");
      return end;
    }

   private:
    Process& process_;
    Programs& git_;
  };
  Programs* gate() { return &gate_; }

  Process& process_;
  Wire wire_;
  GitModel model_;
  SpoiledGit spoiled_;
  Gate gate_{process_, spoiled_};
  GitProgram git_;
  std::unique_ptr<GitStore> store_;
};

GitGround::GitGround(const SiteParts& parts) : witness_(parts.witness) {
  Undisturbed undisturbed;
  remote_.refs[kTarget] = sha1_hex("start");
  for (const std::unique_ptr<Host>& host : parts.hosts) {
    host->reboots_in_order();
    host->disk().make_durable_directory("/repo/.git");
    Process process(parts.schedule, *host, Bug::none, Process::Manner::only_looks);
    GitModel model(host->disk(), remote_, undisturbed);
    const GitProgram git(model, [] { return std::vector<std::string>{}; });
    const Done made = GitStore::create({.files = host->disk(),
                                        .clock = process.clock(),
                                        .random = process.random(),
                                        .machine = process.machine(),
                                        .git = git},
                                       place());
    if (!made) witness_.accuse("I15", made.error().message);
  }
  remote_.moved = [this](const std::vector<RefMove>& moves) { moved(moves); };
  remote_.shown = [this](const std::vector<RefMove>& moves) {
    const auto begun = begun_.find(moves.front().to);
    under_way_.erase(under_way_.find(begun->second));
    begun_.erase(begun);
  };
}

Result<std::unique_ptr<Store>> GitGround::open(Process& process) {
  auto clone = std::make_unique<Clone>(*this, process);
  if (Done opened = clone->open(); !opened) return fail(opened.error());
  return clone;
}

void GitGround::tidy(Process& process) {
  Clone clone(*this, process);
  if (clone.open()) (void)clone.tidy();
}

Result<LogLine> GitGround::line_of_commit(const std::string& commit) {
  std::string_view text = remote_.commits[commit].message;
  while (text.ends_with('\n')) text.remove_suffix(1);
  return parse_line(text);
}

// Of a change, what its refs that moved say.
void GitGround::moved(const std::vector<RefMove>& moves) {
  catch_up(witness_);
  begun_[moves.front().to] = witness_.chronicle().size();
  under_way_.insert(witness_.chronicle().size());
  std::map<std::string, Result<LogLine>> said;  // by commit: the refs of one change have one
  std::map<std::string, LogLine> changes;
  for (const RefMove& move : moves) {
    if (const auto landing = landings_.find(move.to); landing != landings_.end())
      witness_.landed(landing->second);
    if (!move.name.starts_with(kPrefix + "r/") || move.to.empty()) continue;
    auto found = said.find(move.to);
    if (found == said.end()) found = said.emplace(move.to, line_of_commit(move.to)).first;
    const Result<LogLine>& line = found->second;
    if (!line) {
      witness_.accuse("I13", "a ref says what nobody understands");
      continue;
    }
    LogLine& change = changes[move.to];
    change.seq = line->seq;
    change.unix_ms = line->unix_ms;
    change.nonce = line->nonce;
    change.events = line->events;
    for (const LoggedWrite& write : line->writes) {
      if (kPrefix + "r/" + encode_name(write.key.text) == move.name) change.writes.push_back(write);
    }
  }
  for (auto& [commit, change] : changes) news_.push_back(std::move(change));
  catch_up(witness_);
}

void GitGround::catch_up(Witness& witness) {
  const std::vector<LogLine> news = std::exchange(news_, {});
  for (const LogLine& line : news) witness.enter(line);
}

}  // namespace

std::unique_ptr<Site> git_site(const SiteParts& parts) {
  return std::make_unique<GitGround>(parts);
}

}  // namespace dibs::sim
