#include "verbs/conflict_resolution.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "git/conflicted_merge.h"
#include "sys/scratch.h"
#include "verbs/last_words.h"
#include "verbs/lease_keeping.h"
#include "verbs/trust.h"

namespace dibs::verbs {

namespace {

constexpr std::size_t kFilesInATrailerMax = 20;

/// A file that conflicts, and what is to become of it.
struct Plan {
  const ConflictedFile& file;
  const ConflictRule& rule;
  const Resolver* resolver = nullptr;  // of strategy auto
};

Error no_such_resolver(const ConflictRule& rule) {
  return {.kind = ErrorKind::usage,
          .message = fmt::format("{}: there is no resolver {}", printable(rule.origin),
                                 printable(rule.resolver)),
          .hint = fmt::format("configure it: [resolvers.{}] with command = \"…\"", rule.resolver),
          .fields = {}};
}

// Nothing when one of them is for a person to mend.
Result<std::optional<std::vector<Plan>>> plans_for(const Configured& all,
                                                   const std::vector<ConflictedFile>& files) {
  std::vector<Plan> plans;
  for (const ConflictedFile& file : files) {
    const auto rule = std::ranges::find_if(
        all.conflicts, [&](const ConflictRule& one) { return one.paths.matches(file.path); });
    if (rule == all.conflicts.end() || rule->strategy == ConflictStrategy::manual)
      return std::nullopt;
    Plan plan{.file = file, .rule = *rule};
    if (rule->strategy == ConflictStrategy::automatic) {
      // Whether a file is to be there at all is no question for a program that joins two.
      if (!file.target || !file.work) return std::nullopt;
      const auto resolver = std::ranges::find(all.resolvers, rule->resolver,
                                              [](const Resolver& one) { return one.command.name; });
      if (resolver == all.resolvers.end()) return fail(no_such_resolver(*rule));
      plan.resolver = &*resolver;
    }
    plans.push_back(plan);
  }
  return plans;
}

Done check_resolvers_trusted(Workspace& workspace, const std::vector<Plan>& plans) {
  std::vector<ConfiguredCommand> commands;
  for (const Plan& plan : plans) {
    if (plan.resolver != nullptr) commands.push_back(plan.resolver->command);
  }
  return commands.empty() ? Done{} : check_trusted(workspace, commands);
}

// A resolver that gave up has left the marks that git put there.
bool has_conflict_marks(std::string_view text) {
  return std::ranges::any_of(split(text, '\n'), [](std::string_view line) {
    return line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ");
  });
}

Error unresolved(const Plan& plan, const Landable& landable, const std::string& why) {
  JsonArray conflicts;
  conflicts.add(plan.file.path);
  return {.kind = ErrorKind::refused,
          .message = fmt::format("{} conflicts, and the resolver {} {}", printable(plan.file.path),
                                 plan.resolver->command.name, why),
          .hint = fmt::format("merge the target into your branch yourself, then run dibs done "
                              "again, in {}",
                              shell_word(landable.root)),
          .fields = {{"conflicts", conflicts.text()},
                     {"resolver", json_string(plan.resolver->command.name)}}};
}

/// A directory with the three versions of one file, for a resolver to join.
class ResolverRun {
 public:
  ResolverRun(Workspace& workspace, const Landable& landable, const ConflictedMerges& merges,
              const Plan& plan, std::string directory)
      : workspace_(workspace),
        landable_(landable),
        merges_(merges),
        plan_(plan),
        directory_(std::move(directory)) {}

  [[nodiscard]] Result<FileVersion> run() {
    if (Done laid = lay_out(); !laid) return fail(laid.error());
    const Result<WatchedEnd> end = workspace_.system().run_command(call());
    if (!end) return fail(end.error());
    if (end->cut == WatchedEnd::Cut::stopped) {
      return fail(ErrorKind::lease_lost, fmt::format("the lease was lost while the resolver {} ran",
                                                     plan_.resolver->command.name));
    }
    if (end->cut == WatchedEnd::Cut::timed_out)
      return refused(fmt::format("took longer than {} s", plan_.resolver->timeout_secs));
    if (end->exit_code != 0) {
      return refused(
          fmt::format("failed with exit code {}{}", end->exit_code, last_words(end->tail)));
    }
    return result();
  }

 private:
  [[nodiscard]] tl::unexpected<Error> refused(const std::string& why) const {
    return fail(unresolved(plan_, landable_, why));
  }
  [[nodiscard]] std::string place(std::string_view name) const {
    return fmt::format("{}/{}", directory_, name);
  }
  // A version that is not there is an empty file.
  [[nodiscard]] Done put(std::string_view name, const std::optional<FileVersion>& version) {
    const Result<std::string> text =
        version ? merges_.read(version->object) : Result<std::string>(std::string());
    if (!text) return fail(text.error());
    return workspace_.system().files.replace_file(place(name), *text);
  }
  [[nodiscard]] Done lay_out() {
    if (Done made = workspace_.system().files.make_directory(directory_); !made) return made;
    if (Done base = put("base", plan_.file.base); !base) return base;
    if (Done ours = put("ours", plan_.file.work); !ours) return ours;
    return put("theirs", plan_.file.target);
  }
  [[nodiscard]] WatchedCall call() {
    WatchedCall call{
        .command = plan_.resolver->command.words,
        .directory = directory_,
        .environment = {"DIBS_ITEM=" + landable_.item.name, "DIBS_PATH=" + plan_.file.path,
                        "DIBS_BASE=" + place("base"), "DIBS_OURS=" + place("ours"),
                        "DIBS_THEIRS=" + place("theirs"), "DIBS_RESULT=" + place("result")},
        .most_ms = plan_.resolver->timeout_secs * 1000};
    keep_lease_during(call, workspace_, landable_.who, landable_.lease);
    return call;
  }
  [[nodiscard]] Result<FileVersion> result() {
    const Result<std::optional<std::string>> text =
        workspace_.system().files.read_file(place("result"), kConflictedFileBytesMax);
    if (!text) return fail(text.error());
    if (!text->has_value()) return refused("wrote nothing to $DIBS_RESULT");
    if (has_conflict_marks(**text)) return refused("left conflict marks in it");
    const Result<std::string> object = merges_.write(**text);
    if (!object) return fail(object.error());
    return FileVersion{.mode = plan_.file.work->mode, .object = *object};
  }

  Workspace& workspace_;
  const Landable& landable_;
  const ConflictedMerges& merges_;
  const Plan& plan_;
  std::string directory_;
};

std::string described(const Plan& plan) {
  const std::string by = plan.resolver == nullptr ? "" : " by " + plan.resolver->command.name;
  return fmt::format("{} ({}{})", printable(plan.file.path), name_of(plan.rule.strategy), by);
}

std::string trailer_of(const std::vector<Plan>& plans) {
  std::string text = "Dibs-Resolved: ";
  for (std::size_t i = 0; i < std::min(plans.size(), kFilesInATrailerMax); ++i)
    text += (i == 0 ? "" : ", ") + described(plans[i]);
  if (plans.size() > kFilesInATrailerMax)
    text += fmt::format(" and {} more", plans.size() - kFilesInATrailerMax);
  return text;
}

Result<std::vector<DecidedFile>> decide(Workspace& workspace, const Landable& landable,
                                        const ConflictedMerges& merges,
                                        const std::vector<Plan>& plans,
                                        const std::string& scratch) {
  std::vector<DecidedFile> decided;
  for (const Plan& plan : plans) {
    DecidedFile file{.path = plan.file.path, .version = plan.file.work};
    if (plan.rule.strategy == ConflictStrategy::theirs) file.version = plan.file.target;
    if (plan.resolver != nullptr) {
      Result<FileVersion> made = ResolverRun(workspace, landable, merges, plan,
                                             fmt::format("{}/{}", scratch, decided.size()))
                                     .run();
      if (!made) return fail(made.error());
      file.version = *std::move(made);
    }
    decided.push_back(std::move(file));
  }
  return decided;
}

}  // namespace

Result<std::optional<ResolvedMerge>> resolve_conflicts(Workspace& workspace,
                                                       const Landable& landable,
                                                       const std::string& onto) {
  const Result<Configured> all = configured(workspace);
  if (!all) return fail(all.error());
  if (all->conflicts.empty()) return std::nullopt;
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const ConflictedMerges merges(workspace.system().git, (*repository)->common_dir);
  const Result<ConflictedMerge> merge = merges.merge(onto, landable.work);
  if (!merge) return fail(merge.error());
  if (!merge->about_contents) return std::nullopt;
  const Result<std::optional<std::vector<Plan>>> plans = plans_for(*all, merge->files);
  if (!plans) return fail(plans.error());
  if (!plans->has_value()) return std::nullopt;
  if (Done trusted = check_resolvers_trusted(workspace, **plans); !trusted)
    return fail(trusted.error());
  const Result<std::string> directory = workspace.directory();
  if (!directory) return fail(directory.error());
  const Result<ScratchDirectory> scratch = ScratchDirectory::make(*directory);
  if (!scratch) return fail(scratch.error());
  const Result<std::vector<DecidedFile>> files =
      decide(workspace, landable, merges, **plans, scratch->path());
  if (!files) return fail(files.error());
  Result<std::string> tree = merges.decided_tree(merge->tree, *files, scratch->path());
  if (!tree) return fail(tree.error());
  ResolvedMerge resolved{.tree = *std::move(tree), .trailer = trailer_of(**plans), .notes = {}};
  for (const Plan& plan : **plans)
    resolved.notes.push_back(fmt::format("a conflict was resolved: {}", described(plan)));
  return resolved;
}

}  // namespace dibs::verbs
