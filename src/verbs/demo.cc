#include "verbs/demo.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "sys/child.h"
#include "verbs/claim.h"
#include "verbs/observe.h"
#include "verbs/setup.h"

namespace dibs::verbs {

namespace {

constexpr std::int64_t kRedrawMs = 40;
constexpr std::int64_t kLongestDemoMs = 120'000;
constexpr std::size_t kJournalMax = 64UL * 1024;

std::string item_name(std::size_t i) { return fmt::format("item-{:02}", i + 1); }
std::string worker_name(std::size_t i) { return fmt::format("worker-{}", i + 1); }

// What workers write, next to the worktrees. Nothing guards these files but the leases.
std::string journal_path(const std::string& work, std::size_t item) {
  return work + "/" + item_name(item) + ".journal";
}

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// A small generator: a demo must run the same way for the same seed, and nothing here is secret.
class Shuffler {
 public:
  explicit Shuffler(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::uint64_t below(std::uint64_t bound) {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return state_ % bound;
  }

 private:
  std::uint64_t state_;
};

struct Entry {
  std::string what;  // begin or end
  std::string worker;
  std::uint64_t fence = 0;
};

std::vector<Entry> read_journal(FileSystem& files, const std::string& work, std::size_t item) {
  std::vector<Entry> entries;
  const auto text = files.read_file(journal_path(work, item), kJournalMax);
  if (!text || !text->has_value()) return entries;
  for (const std::string_view line : split(**text, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() != 3) continue;
    entries.push_back({.what = std::string(words[0]),
                       .worker = std::string(words[1]),
                       .fence = parse_unsigned(words[2]).value_or(0)});
  }
  return entries;
}

Done write_journal(FileSystem& files, const std::string& work, std::size_t item,
                   const Entry& entry) {
  Result<std::unique_ptr<File>> file = files.open(journal_path(work, item), Open::create_append);
  if (!file) return fail(file.error());
  return (*file)->append(fmt::format("{} {} {}\n", entry.what, entry.worker, entry.fence));
}

bool is_done(const std::vector<Entry>& entries) {
  return std::ranges::count(entries, "end", &Entry::what) > 0;
}

Done run_git(const std::string& directory, std::vector<std::string> arguments) {
  std::vector<std::string> command{"git",
                                   "-c",
                                   "user.name=dibs demo",
                                   "-c",
                                   "user.email=demo@localhost",
                                   "-c",
                                   "init.defaultBranch=main"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  Result<Child> git = Child::start({.command = command, .directory = directory});
  if (!git) return fail(git.error().kind, git.error().message, "install git: apt-get install git");
  if (git->wait() == 0) return {};
  return fail(ErrorKind::internal,
              fmt::format("git {} failed in {}", arguments.front(), printable(directory)));
}

Done make_repository(Workspace& workspace, const Demo& request, const std::string& directory) {
  FileSystem& files = workspace.system().files;
  for (const char* below : {"", "/repository", "/work"}) {
    if (Done made = files.make_directory(directory + below); !made) return made;
  }
  const std::string repository = directory + "/repository";
  if (Done made = run_git(repository, {"init", "-q"}); !made) return made;
  if (Done made = run_git(repository, {"commit", "-q", "--allow-empty", "-m", "start"}); !made)
    return made;
  for (std::size_t i = 0; i < request.workers; ++i) {
    const std::string tree = directory + "/" + worker_name(i);
    if (Done made = run_git(repository, {"worktree", "add", "-q", "-b", worker_name(i), tree});
        !made)
      return made;
  }
  return {};
}

// The board as events tell it: who is at what, and how much each has done.
void follow(DemoProgress& progress, const PastEvent& past) {
  for (DemoWorker& worker : progress.workers) {
    if (past.event.agent.text != "agent:" + worker.name) continue;
    if (past.event.op == Op::acquire) {
      worker.doing = past.event.resource.text;
      worker.fence = past.seq;
    } else if (past.event.op == Op::release) {
      worker.doing.clear();
      ++worker.done;
      ++progress.done;
    } else if (past.event.op == Op::auto_evict) {
      worker.doing.clear();
    }
  }
}

std::string check_item(const std::vector<Entry>& entries, const std::string& killed,
                       std::size_t item) {
  const Entry* open = nullptr;
  std::uint64_t highest = 0;
  std::size_t ends = 0;
  for (const Entry& entry : entries) {
    if (entry.what == "begin") {
      if (open != nullptr && open->worker != killed)
        return fmt::format("{}: {} and {} worked on it at once", item_name(item), open->worker,
                           entry.worker);
      if (entry.fence <= highest)
        return fmt::format("{}: fence {} came after {}", item_name(item), entry.fence, highest);
      highest = entry.fence;
      open = &entry;
    } else {
      if (open == nullptr || open->fence != entry.fence)
        return fmt::format("{}: {} ended what it had not begun", item_name(item), entry.worker);
      open = nullptr;
      ++ends;
    }
  }
  return ends == 1 ? std::string() : fmt::format("{}: done {} times", item_name(item), ends);
}

class DemoRun {
 public:
  DemoRun(Workspace& outer, const Demo& request, const std::string& directory)
      : request_(request),
        directory_(directory),
        files_(outer.system().files),
        clock_(outer.system().clock),
        shuffler_(request.seed) {
    System system = outer.system();
    system.current_directory = directory + "/repository";
    inner_ = std::make_unique<Workspace>(system, outer.backends(),
                                         GlobalOptions{.agent_id = "human:demo", .store = {}},
                                         [](const std::string&) {});
    for (std::size_t i = 0; i < request.workers; ++i)
      progress_.workers.push_back({.name = worker_name(i), .doing = {}});
    progress_.items = request.items;
  }

  Result<DemoResult> run(const std::function<void(const DemoProgress&)>& on_progress) {
    if (Result<Initialised> initialised = init(*inner_); !initialised)
      return fail(initialised.error());
    if (Done started = start_workers(); !started) return fail(started.error());
    const std::int64_t begun_ms = clock_.now().boot_ms;
    while (true) {
      progress_.elapsed_ms = clock_.now().boot_ms - begun_ms;
      if (Done updated = update(); !updated) return fail(updated.error());
      on_progress(progress_);
      maybe_kill_one();
      if (all_ended()) break;
      if (progress_.elapsed_ms > kLongestDemoMs)
        return fail(ErrorKind::timed_out, "the demo did not come to an end");
      clock_.sleep_ms(kRedrawMs);
    }
    return check();
  }

 private:
  Done start_workers() {
    for (std::size_t i = 0; i < request_.workers; ++i) {
      Result<Child> child = Child::start(
          {.command = {"/proc/self/exe", "--agent-id", "agent:" + worker_name(i), "demo",
                       "--as-worker", "--items", std::to_string(request_.items), "--seed",
                       std::to_string(request_.seed * 1000 + i)},
           .directory = directory_ + "/" + worker_name(i)});
      if (!child) return fail(child.error());
      children_.push_back(*std::move(child));
    }
    return {};
  }

  Done update() {
    const Result<History> history =
        events(*inner_, {.since = seen_.seq, .resource = {}, .limit = SIZE_MAX});
    if (!history) return fail(history.error());
    for (const PastEvent& past : history->events) follow(progress_, past);
    past_.insert(past_.end(), history->events.begin(), history->events.end());
    seen_ = history->cursor;
    const Result<Counters*> counters = inner_->counters();
    if (counters)
      progress_.refusals = (*counters)->read()[static_cast<std::size_t>(Counter::conflicts)];
    return {};
  }

  // Once a third is done, one worker that holds something dies without a word.
  void maybe_kill_one() {
    if (!killed_.empty() || request_.workers < 2 || progress_.done * 3 < request_.items) return;
    const std::size_t first = shuffler_.below(request_.workers);
    for (std::size_t step = 0; step < request_.workers; ++step) {
      DemoWorker& worker = progress_.workers[(first + step) % request_.workers];
      if (worker.doing.empty()) continue;
      children_[(first + step) % request_.workers].kill();
      worker.killed = true;
      killed_ = worker.name;
      return;
    }
  }

  bool all_ended() {
    return std::ranges::all_of(children_, [](Child& child) { return child.poll().has_value(); });
  }

  Result<DemoResult> check() {
    if (Done updated = update(); !updated) return fail(updated.error());
    DemoResult result{.end = progress_,
                      .grants = 0,
                      .killed = killed_,
                      .took_over = {},
                      .violations = {},
                      .directory = directory_};
    for (std::size_t item = 0; item < request_.items; ++item) {
      const std::vector<Entry> entries = read_journal(files_, directory_ + "/work", item);
      std::string violation = check_item(entries, killed_, item);
      if (!violation.empty()) result.violations.push_back(std::move(violation));
    }
    for (std::size_t i = 0; i < children_.size(); ++i) {
      if (children_[i].wait() != 0 && worker_name(i) != killed_)
        result.violations.push_back(worker_name(i) + " failed");
    }
    result.grants = static_cast<std::size_t>(std::ranges::count_if(
        past_, [](const PastEvent& past) { return past.event.op == Op::acquire; }));
    note_takeover(result);
    return result;
  }

  void note_takeover(DemoResult& result) const {
    for (std::size_t i = 0; i + 1 < past_.size(); ++i) {
      const PastEvent& eviction = past_[i];
      const PastEvent& grant = past_[i + 1];
      if (eviction.event.op != Op::auto_evict || grant.event.op != Op::acquire) continue;
      result.took_over =
          fmt::format("{} took {} over at once", grant.event.agent.text, grant.event.resource.text);
    }
  }

  Demo request_;
  std::string directory_;
  FileSystem& files_;
  Clock& clock_;
  Shuffler shuffler_;
  std::unique_ptr<Workspace> inner_;
  std::vector<Child> children_;
  DemoProgress progress_;
  std::vector<PastEvent> past_;
  Cursor seen_;
  std::string killed_;
};

}  // namespace

Result<ScratchDirectory> demo_directory(Workspace& workspace) {
  const std::string parent = workspace.system().environment("TMPDIR").value_or("/tmp");
  return ScratchDirectory::make(parent);
}

Result<DemoResult> demo(Workspace& workspace, const Demo& request, const std::string& directory,
                        const std::function<void(const DemoProgress&)>& on_progress) {
  if (Done made = make_repository(workspace, request, directory); !made) return fail(made.error());
  return DemoRun(workspace, request, directory).run(on_progress);
}

Done demo_worker(Workspace& workspace, const DemoWork& work) {
  FileSystem& files = workspace.system().files;
  Clock& clock = workspace.system().clock;
  const std::string journals = parent_of(workspace.system().current_directory) + "/work";
  const Result<AgentId> agent = workspace.agent();
  if (!agent) return fail(agent.error());
  const std::string name = agent->text.substr(agent->text.find(':') + 1);
  Shuffler shuffler(work.seed);
  std::vector<bool> done(work.items, false);
  while (std::ranges::count(done, false) > 0) {
    const std::size_t item = shuffler.below(work.items);
    if (done[item]) continue;
    done[item] = is_done(read_journal(files, journals, item));
    if (done[item]) continue;
    const Result<Grants> grants = acquire(workspace, {.resources = {item_name(item)},
                                                      .ttl_secs = {},
                                                      .pid = workspace.system().machine.own_pid(),
                                                      .reason = {}});
    if (!grants && grants.error().kind == ErrorKind::held) {
      clock.sleep_ms(static_cast<std::int64_t>(5 + shuffler.below(20)));
      continue;
    }
    if (!grants) return fail(grants.error());
    // Somebody may have finished it between the look and the claim; holding it, we can be sure.
    const std::uint64_t fence = grants->front().lease.fence.value;
    if (!is_done(read_journal(files, journals, item))) {
      if (Done begun = write_journal(files, journals, item, {"begin", name, fence}); !begun)
        return begun;
      clock.sleep_ms(static_cast<std::int64_t>(40 + shuffler.below(160)));
      if (Done ended = write_journal(files, journals, item, {"end", name, fence}); !ended)
        return ended;
    }
    if (Result<Released> released = release(workspace, grants->front().lease.id.text); !released)
      return fail(released.error());
  }
  return {};
}

}  // namespace dibs::verbs
