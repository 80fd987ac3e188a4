#include "verbs/opened_items.h"

#include <fmt/core.h>

#include "base/text.h"
#include "items/aitasks_source.h"
#include "items/beads_source.h"
#include "items/folders_source.h"
#include "items/native_items.h"
#include "items/tree_source.h"

namespace dibs::verbs {

namespace {

constexpr std::size_t kWorkflowBytesMax = 64UL * 1024;
constexpr std::size_t kShownMax = 5;
constexpr std::string_view kFolders = "folders";

Result<Workflow> read_workflow(Workspace& workspace, std::string_view source) {
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const std::string path = (*repository)->root + "/.dibs/workflow.toml";
  const Result<std::optional<std::string>> text =
      workspace.system().files.read_file(path, kWorkflowBytesMax);
  if (!text) return fail(text.error());
  if (!text->has_value()) return source == kFolders ? Workflow::folders() : Workflow::standard();
  return Workflow::parse(**text, ".dibs/workflow.toml");
}

Result<std::unique_ptr<ItemSource>> own_items_of(Workspace& workspace) {
  const Result<std::string> directory = workspace.directory();
  if (!directory) return fail(directory.error());
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  return std::make_unique<NativeItems>(
      workspace.system().files, workspace.system().git,
      CatalogCache::Place{.directory = *directory,
                          .common_dir = (*repository)->common_dir,
                          .file_mode = workspace.file_mode(),
                          .boot = workspace.system().machine.boot_id().text});
}

template <class Source>
std::unique_ptr<ItemSource> made(const SourceSite& site, const std::string& path) {
  return path.empty() ? std::make_unique<Source>(site) : std::make_unique<Source>(site, path);
}

Result<SourceSite> source_site(Workspace& workspace) {
  const Result<std::string> directory = workspace.directory();
  if (!directory) return fail(directory.error());
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  return SourceSite{.files = workspace.system().files,
                    .git = workspace.system().git,
                    .git_dir = (*repository)->git_dir,
                    .work_tree = (*repository)->bare ? std::string() : (*repository)->root,
                    .lock_file = *directory + "/locks/items.lock"};
}

Result<std::unique_ptr<ItemSource>> items_in_tree(Workspace& workspace, std::string_view kind,
                                                  const std::string& path) {
  const Result<SourceSite> site = source_site(workspace);
  if (!site) return fail(site.error());
  if (site->work_tree.empty())
    return fail(ErrorKind::refused, "a bare repository has no work tree to keep items in",
                "use dibs' own: dibs config set items.source native");
  if (kind == "aitasks") return made<AitasksSource>(*site, path);
  if (kind == "beads") return made<BeadsSource>(*site, path);
  return made<TreeSource>(*site, path);
}

Result<OpenedItems> items_in_folders(Workspace& workspace, const std::string& folder,
                                     std::unique_ptr<const Workflow> workflow) {
  Result<SourceSite> site = source_site(workspace);
  if (!site) return fail(site.error());
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  site->git_dir = (*repository)->common_dir;
  site->work_tree.clear();
  Result<Target> target = known_target(workspace);
  if (!target) return fail(target.error());
  auto source = std::make_unique<FoldersSource>(
      *std::move(site),
      FoldersSource::Branch{.name = target->branch,
                            .commit = target->commit,
                            .remote = target->remote,
                            .look_again =
                                [&workspace] {
                                  const Result<Target> now = find_target(workspace);
                                  return now ? Done{} : Done(fail(now.error()));
                                }},
      *workflow, folder);
  return OpenedItems{
      .workflow = std::move(workflow), .source = std::move(source), .target = *std::move(target)};
}

// A few of them, so that the next letter to type can be seen.
Error ambiguous(const Catalog& catalog, const std::string& text,
                const std::vector<std::uint32_t>& found) {
  std::string names;
  for (std::size_t i = 0; i < found.size() && i < kShownMax; ++i) {
    const Result<std::string> id = catalog.id(found[i]);
    if (id) names += (names.empty() ? "" : ", ") + printable(*id);
  }
  return {.kind = ErrorKind::refused,
          .message = fmt::format("'{}' could be several items: {}{}", printable(text), names,
                                 found.size() > kShownMax ? ", …" : ""),
          .hint = "type more of the id",
          .fields = {}};
}

}  // namespace

std::optional<std::string> work_folder(const Settings& settings) {
  if (settings.text("items.source") != kFolders) return std::nullopt;
  std::string folder(settings.text("items.path"));
  while (folder.ends_with('/')) folder.pop_back();
  return folder.empty() ? kWorkFolder : folder;
}

Result<OpenedItems> open_items(Workspace& workspace) {
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  const std::string_view kind = (*settings)->text("items.source");
  const std::string path((*settings)->text("items.path"));
  Result<Workflow> parsed = read_workflow(workspace, kind);
  if (!parsed) return fail(parsed.error());
  auto workflow = std::make_unique<const Workflow>(*std::move(parsed));
  if (const auto folder = work_folder(**settings))
    return items_in_folders(workspace, *folder, std::move(workflow));
  Result<std::unique_ptr<ItemSource>> source =
      kind == "native" ? own_items_of(workspace) : items_in_tree(workspace, kind, path);
  if (!source) return fail(source.error());
  return OpenedItems{.workflow = std::move(workflow), .source = *std::move(source)};
}

Result<std::uint32_t> find_item(const Catalog& catalog, const std::string& text) {
  const Result<std::optional<std::uint32_t>> exact = catalog.find(text);
  if (!exact) return fail(exact.error());
  if (exact->has_value()) return **exact;
  const Result<std::vector<std::uint32_t>> found = catalog.starting_with(text, kShownMax + 1);
  if (!found) return fail(found.error());
  if (found->size() == 1) return found->front();
  if (found->size() > 1) return fail(ambiguous(catalog, text, *found));
  return fail(ErrorKind::not_found, fmt::format("there is no item '{}'", printable(text)),
              "see which there are: dibs item list");
}

Result<NamedItem> open_item(Workspace& workspace, const std::string& text) {
  Result<OpenedItems> items = open_items(workspace);
  if (!items) return fail(items.error());
  Result<Catalog> catalog = items->catalog();
  if (!catalog) return fail(catalog.error());
  const Result<std::uint32_t> number = find_item(*catalog, text);
  if (!number) return fail(number.error());
  return NamedItem{.items = *std::move(items), .catalog = *std::move(catalog), .number = *number};
}

Result<Item> whole_item(const OpenedItems& items, Item card) {
  if (!card.is_shortened) return card;
  Result<std::vector<StoredItem>> stored = items.source->read({card.id});
  if (!stored) return fail(stored.error());
  if (stored->empty())
    return fail(ErrorKind::not_found, fmt::format("{} was just removed", printable(card.id.text)));
  return std::move(stored->front().item);
}

}  // namespace dibs::verbs
