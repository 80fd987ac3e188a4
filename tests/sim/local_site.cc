// The local store on the disk of one machine, as a site. Its truth is its log.
#include <algorithm>

#include "site.h"
#include "store/local.h"
#include "testing/fake_refs.h"
#include "testing/local_site.h"

namespace dibs::sim {

namespace {

const std::string kDirectory = "/repo/.git/dibs";

class LocalGround final : public Site {
 public:
  explicit LocalGround(const SiteParts& parts);

  Result<std::unique_ptr<Store>> open(Process& process) override;
  void catch_up(Witness& witness) override;
  std::optional<std::vector<Record>> shown() override;
  std::optional<std::string> target() override { return refs_.refs[kTarget]; }
  std::string landing_commit(const LeaseId& lease) override {
    return refs_.refs[kTarget] + "/" + lease.text;
  }
  std::vector<std::string> troubles() override;

 private:
  friend class SteppedRefs;
  [[nodiscard]] std::string whole_log();
  [[nodiscard]] FakeDisk& disk() { return host_.disk(); }

  Host& host_;
  Witness& witness_;
  Process outside_;
  FakeRefs refs_;
  std::string log_;                     // as it was read last
  std::vector<LogPosition> positions_;  // after each of its lines; offsets count from the first
  std::pair<BootId, std::uint64_t> looked_at_;  // which boot, and how many changes of the disk
};

/// The repository's refs, as a process has git move them.
class SteppedRefs final : public LocalRefs {
 public:
  SteppedRefs(LocalGround& site, Process& process)
      : site_(site), process_(process), refs_(site.refs_) {}

  Result<End> move(const std::vector<RefMove>& moves, const std::string& reason,
                   const FileLock* under) override {
    if (!process_.step()) return dead();
    site_.catch_up(site_.witness_);
    const std::string& to = moves.front().to;
    site_.witness_.landed({to.substr(to.rfind('/') + 1)});
    Dice& dice = process_.schedule().dice();
    if (dice.one_in(process_.host().weather().kill_one_in / 20))
      site_.refs_.dies_after = static_cast<std::size_t>(dice.below(2));
    Result<End> end = refs_.move(moves, reason, under);
    if (!process_.step()) return dead();
    return end;
  }
  Result<std::string> commit_at(const std::string& ref) override {
    if (!process_.step()) return dead();
    return refs_.commit_at(ref);
  }
  Result<bool> contains(const std::string& ref, const std::string& commit) override {
    if (!process_.step()) return dead();
    return refs_.contains(ref, commit);
  }
  Done clear_lock(const RefMove& move) override {
    if (!process_.step()) return dead();
    return refs_.clear_lock(move);
  }

 private:
  static tl::unexpected<Error> dead() { return fail(ErrorKind::internal, "the process is dead"); }
  LocalGround& site_;
  Process& process_;
  FakeLocalRefs refs_;
};

LocalGround::LocalGround(const SiteParts& parts)
    : host_(*parts.hosts.front()),
      witness_(parts.witness),
      outside_(parts.schedule, host_, Bug::none, Process::Manner::only_looks) {
  disk().make_durable_directory("/repo/.git");
  if (!LocalStore::create(disk(), kDirectory, kPrivateDirectory))
    witness_.accuse("I15", "the store cannot be made");
  refs_.refs[kTarget] = "start";
}

Result<std::unique_ptr<Store>> LocalGround::open(Process& process) {
  return std::make_unique<LocalStore>(
      process.files(), process.clock(), process.random(), kDirectory, [](const std::string&) {},
      kTinyLimits, std::make_unique<SteppedRefs>(*this, process));
}

std::string LocalGround::whole_log() {
  std::string text;
  const Result<std::vector<std::string>> names = log_files(disk(), kDirectory);
  if (!names) return text;
  for (const std::string& name : *names)
    text += disk().contents(kDirectory + "/" + name).value_or("");
  return text;
}

void LocalGround::catch_up(Witness& witness) {
  const std::pair now{host_.boot(), disk().changes()};
  if (now == looked_at_) return;
  looked_at_ = now;
  std::string log = whole_log();
  // Nearly always it only grew, and that is told without looking for where it did not.
  const std::size_t same =
      log.starts_with(log_)
          ? log_.size()
          : static_cast<std::size_t>(std::ranges::mismatch(log_, log).in1 - log_.begin());
  const auto kept = std::ranges::find_if(
      positions_, [&](const LogPosition& position) { return position.offset > same; });
  if (kept != positions_.end()) {
    positions_.erase(kept, positions_.end());
    witness.cut_to(positions_.size());
  }
  log_ = std::move(log);
  LogPosition at = positions_.empty() ? LogPosition{} : positions_.back();
  while (true) {
    const std::size_t end = log_.find('\n', at.offset);
    if (end == std::string::npos) return;
    const std::string_view line = std::string_view(log_).substr(at.offset, end - at.offset);
    const CheckedLine checked = check_line(at, line);
    const Result<LogLine> parsed = parse_line(line);
    if (checked.fault != LineFault::none || !parsed) return;
    at = {.seq = at.seq + 1, .crc = checked.crc, .offset = end + 1};
    positions_.push_back(at);
    witness.enter(*parsed);
  }
}

std::optional<std::vector<Record>> LocalGround::shown() {
  const Result<std::unique_ptr<Store>> store = open(outside_);
  const Result<View> view = (*store)->read(Selection::everything());
  return view ? std::optional(view->records) : std::nullopt;
}

std::vector<std::string> LocalGround::troubles() {
  LocalStore store(
      disk(), outside_.clock(), outside_.random(), kDirectory, [](const std::string&) {},
      kTinyLimits);
  std::vector<std::string> found;
  for (const Finding& finding : store.inspect()) {
    if (finding.level == Finding::Level::problem) found.push_back(finding.what);
  }
  return found;
}

}  // namespace

std::unique_ptr<Site> local_site(const SiteParts& parts) {
  return std::make_unique<LocalGround>(parts);
}

}  // namespace dibs::sim
