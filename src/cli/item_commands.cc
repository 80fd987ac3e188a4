// `dibs item …`: make, look at and change items.
#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "base/time.h"
#include "cli/invocation.h"
#include "cli/item_render.h"
#include "verbs/items.h"

namespace dibs::cli {

namespace {

constexpr std::size_t kInputMax = 256UL * 1024 * 1024;

constexpr std::array<Positional, 1> kItem{
    {{.name = "ITEM", .meaning = "an item id, or as much of its beginning as is unique"}}};

constexpr Option kPriority{.name = "--priority",
                           .takes = Takes::number,
                           .value = "0..4",
                           .meaning = "0 is the most urgent (default 2)",
                           .least = 0,
                           .most = kPriorityLeast};
constexpr Option kEstimate{.name = "--estimate",
                           .takes = Takes::number,
                           .value = "MIN",
                           .meaning = "how many minutes it will take",
                           .least = 1,
                           .most = kEstimateMinMax};
constexpr Option kType{.name = "--type",
                       .takes = Takes::text,
                       .value = "T",
                       .meaning = "bug, feature… (default task)"};
constexpr Option kBody{.name = "--body",
                       .takes = Takes::text,
                       .value = "TEXT|-",
                       .meaning = "what there is to say about it; - reads it from standard input"};

std::optional<int> priority_of(const Args& args) {
  const std::optional<std::int64_t> number = args.number("--priority");
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

Result<std::string> text_or_input(Invocation& call, const std::string& text) {
  if (text != "-") return text;
  return call.workspace.system().standard_input(kInputMax);
}

void reply_item(Terminal& terminal, const verbs::ShownItem& shown) {
  if (!terminal.json()) return;
  const std::string json = item_json(shown);
  terminal.reply(JsonObject().add_members(std::string_view(json).substr(1, json.size() - 2)));
}

// --- add

constexpr std::array<Positional, 1> kTitle{
    {{.name = "TITLE", .meaning = "what is to be done, in a few words", .least = 0}}};
constexpr std::array<Option, 8> kAddOptions{{
    kBody,
    kPriority,
    {.name = "--label",
     .takes = Takes::text,
     .value = "L",
     .meaning = "a word to find it by; may be given several times",
     .repeats = true},
    {.name = "--depends-on",
     .takes = Takes::text,
     .value = "ID",
     .meaning = "an item that must be done before; may be given several times",
     .repeats = true},
    {.name = "--files",
     .takes = Takes::text,
     .value = "GLOB",
     .meaning = "files that the work will touch; may be given several times",
     .repeats = true},
    kEstimate,
    kType,
    {.name = "--batch",
     .takes = Takes::text,
     .value = "FILE|-",
     .meaning = "many at once: one JSON object a line, all in one commit"},
}};

Done run_add_batch(Invocation& call, const std::string& file) {
  if (!call.args.words().empty())
    return fail(ErrorKind::usage, "a title and --batch are one too many", "give one of them");
  System& system = call.workspace.system();
  Result<std::string> lines = std::string();
  if (file == "-") {
    lines = system.standard_input(kInputMax);
  } else {
    const std::string path = file.starts_with('/') ? file : system.current_directory + "/" + file;
    Result<std::optional<std::string>> read = system.files.read_file(path, kInputMax);
    if (!read) return fail(read.error());
    if (!read->has_value())
      return fail(ErrorKind::not_found, fmt::format("there is no file {}", printable(path)));
    lines = **std::move(read);
  }
  if (!lines) return fail(lines.error());
  const Result<std::vector<ItemId>> added = verbs::add_batch(call.workspace, *lines);
  if (!added) return fail(added.error());
  JsonArray ids;
  for (const ItemId& id : *added) ids.add(id.text);
  call.terminal.reply(
      JsonObject().add_raw("ids", ids.text()).add("count", std::uint64_t{added->size()}));
  call.terminal.say(
      fmt::format("{} {} items", call.terminal.styled(Style::good, "added"), added->size()));
  return {};
}

Done run_add(Invocation& call) {
  if (const auto batch = call.args.text("--batch")) return run_add_batch(call, *batch);
  if (call.args.words().empty())
    return fail(ErrorKind::usage, "TITLE is missing", "for example: dibs item add \"Fix login\"");
  const Result<std::string> body = text_or_input(call, call.args.text("--body").value_or(""));
  if (!body) return fail(body.error());
  const Result<verbs::ShownItem> added =
      verbs::add_item(call.workspace, {.title = call.args.words().front(),
                                       .body = *body,
                                       .priority = priority_of(call.args),
                                       .labels = call.args.texts("--label"),
                                       .depends_on = call.args.texts("--depends-on"),
                                       .files = call.args.texts("--files"),
                                       .estimate_min = call.args.number("--estimate"),
                                       .type = call.args.text("--type")});
  if (!added) return fail(added.error());
  reply_item(call.terminal, *added);
  call.terminal.say(fmt::format("{} {} ({})", call.terminal.styled(Style::good, "added"),
                                printable(added->item.id.text), printable(added->state)));
  call.terminal.say(call.terminal.styled(
      Style::dim, fmt::format("  next: dibs start {}", shell_word(added->item.id.text))));
  return {};
}

// --- show, history

Done run_show(Invocation& call) {
  const Result<verbs::ShownItem> shown =
      verbs::show_item(call.workspace, call.args.words().front());
  if (!shown) return fail(shown.error());
  reply_item(call.terminal, *shown);
  print_item(call.terminal, *shown);
  return {};
}

constexpr Option kLimit{.name = "--limit",
                        .takes = Takes::number,
                        .value = "N",
                        .meaning = "at most so many (default 100)",
                        .least = 1,
                        .most = 1'000'000};
constexpr std::array<Option, 1> kHistoryOptions{{kLimit}};

Done run_history(Invocation& call) {
  const Result<std::vector<ItemRevision>> revisions =
      verbs::item_history(call.workspace, call.args.words().front(),
                          static_cast<std::size_t>(call.args.number("--limit").value_or(100)));
  if (!revisions) return fail(revisions.error());
  JsonArray array;
  for (const ItemRevision& revision : *revisions) {
    array.add_raw(JsonObject()
                      .add("commit", revision.commit)
                      .add("at", rfc3339(revision.unix_ms))
                      .add("by", revision.by)
                      .add("message", revision.message)
                      .text());
    call.terminal.say(fmt::format("{}  {}  {}  {}", rfc3339(revision.unix_ms),
                                  revision.commit.substr(0, 10), printable(revision.by),
                                  printable(revision.message)));
  }
  call.terminal.reply(JsonObject().add_raw("revisions", array.text()));
  return {};
}

// --- list

constexpr std::array<Option, 3> kListOptions{{
    {.name = "--state",
     .takes = Takes::text,
     .value = "S",
     .meaning = "only those in this state (default: all that are not finished)"},
    {.name = "--label",
     .takes = Takes::text,
     .value = "L",
     .meaning = "only those with this label; several: with all of them",
     .repeats = true},
    kLimit,
}};

Done run_list(Invocation& call) {
  const Result<verbs::ItemListing> listing = verbs::list_items(
      call.workspace, {.state = call.args.text("--state"),
                       .labels = call.args.texts("--label"),
                       .most = static_cast<std::size_t>(
                           call.args.number("--limit").value_or(verbs::kListDefault))});
  if (!listing) return fail(listing.error());
  tell_listing(call.terminal, *listing, "there are no such items");
  return {};
}

// --- update, close, reopen, comment, dep

constexpr std::array<Option, 12> kUpdateOptions{{
    {.name = "--title", .takes = Takes::text, .value = "TEXT", .meaning = "another title"},
    kBody,
    {.name = "--state", .takes = Takes::text, .value = "S", .meaning = "move it to this state"},
    kPriority,
    kType,
    kEstimate,
    {.name = "--label",
     .takes = Takes::text,
     .value = "L",
     .meaning = "add a label",
     .repeats = true},
    {.name = "--remove-label",
     .takes = Takes::text,
     .value = "L",
     .meaning = "take a label away",
     .repeats = true},
    {.name = "--files",
     .takes = Takes::text,
     .value = "GLOB",
     .meaning = "add files that the work will touch",
     .repeats = true},
    {.name = "--remove-files",
     .takes = Takes::text,
     .value = "GLOB",
     .meaning = "take such a glob away",
     .repeats = true},
    {.name = "--depends-on",
     .takes = Takes::text,
     .value = "ID",
     .meaning = "add a dependency",
     .repeats = true},
    {.name = "--remove-depends-on",
     .takes = Takes::text,
     .value = "ID",
     .meaning = "take a dependency away",
     .repeats = true},
}};

Done tell_changed(Invocation& call, const Result<verbs::ShownItem>& changed) {
  if (!changed) return fail(changed.error());
  reply_item(call.terminal, *changed);
  call.terminal.say(fmt::format("{} {} ({})", call.terminal.styled(Style::good, "changed"),
                                printable(changed->item.id.text), printable(changed->state)));
  return {};
}

Done run_update(Invocation& call) {
  const Args& args = call.args;
  verbs::EditItem request{.item = args.words().front()};
  request.title = args.text("--title");
  request.state = args.text("--state");
  request.priority = priority_of(args);
  request.type = args.text("--type");
  request.estimate_min = args.number("--estimate");
  request.add_labels = args.texts("--label");
  request.remove_labels = args.texts("--remove-label");
  request.add_files = args.texts("--files");
  request.remove_files = args.texts("--remove-files");
  request.add_depends_on = args.texts("--depends-on");
  request.remove_depends_on = args.texts("--remove-depends-on");
  if (const auto body = args.text("--body")) {
    Result<std::string> text = text_or_input(call, *body);
    if (!text) return fail(text.error());
    request.body = *std::move(text);
  }
  if (request == verbs::EditItem{.item = request.item})
    return fail(ErrorKind::usage, "nothing is to be changed",
                "see what can be: dibs item update --help");
  return tell_changed(call, verbs::edit_item(call.workspace, request));
}

constexpr std::array<Option, 2> kCloseOptions{{
    {.name = "--rejected", .meaning = "it will not be done; what depends on it stays blocked"},
    {.name = "--reason",
     .takes = Takes::text,
     .value = "TEXT",
     .meaning = "why; kept as a comment"},
}};

Done run_close(Invocation& call) {
  return tell_changed(call, verbs::close_item(call.workspace, call.args.words().front(),
                                              call.args.has("--rejected") ? verbs::Ending::dropped
                                                                          : verbs::Ending::done,
                                              call.args.text("--reason").value_or("")));
}

Done run_reopen(Invocation& call) {
  return tell_changed(call, verbs::reopen_item(call.workspace, call.args.words().front()));
}

constexpr std::array<Positional, 2> kComment{
    {{.name = "ITEM", .meaning = "an item id, or as much of its beginning as is unique"},
     {.name = "TEXT", .meaning = "what to say; - reads it from standard input"}}};

Done run_comment(Invocation& call) {
  const Result<std::string> text = text_or_input(call, call.args.words()[1]);
  if (!text) return fail(text.error());
  if (trim(*text).empty()) return fail(ErrorKind::usage, "the comment is empty", "say something");
  verbs::EditItem request{.item = call.args.words().front()};
  request.comment = *text;
  return tell_changed(call, verbs::edit_item(call.workspace, request));
}

constexpr std::array<Positional, 2> kDependency{
    {{.name = "ITEM", .meaning = "the item that waits"},
     {.name = "ON", .meaning = "what it waits for; several are allowed", .most = 64}}};

std::vector<std::string> words_after_first(const Args& args) {
  return {args.words().begin() + 1, args.words().end()};
}

Done run_dep_add(Invocation& call) {
  verbs::EditItem request{.item = call.args.words().front()};
  request.add_depends_on = words_after_first(call.args);
  return tell_changed(call, verbs::edit_item(call.workspace, request));
}

Done run_dep_rm(Invocation& call) {
  verbs::EditItem request{.item = call.args.words().front()};
  request.remove_depends_on = words_after_first(call.args);
  return tell_changed(call, verbs::edit_item(call.workspace, request));
}

constexpr std::array<Command, 10> kCommands{{
    {.name = "item add",
     .summary = "make a new item, or many",
     .details = "The item is there in every worktree at once; code branches do not have it. Its id "
                "is the title in\n"
                "short and eight hex digits; the beginning of an id will do wherever one is asked "
                "for.",
     .positionals = kTitle,
     .options = kAddOptions,
     .example = "dibs item add \"Fix login\" --depends-on db-1 --files 'src/auth/**'",
     .run = run_add},
    {.name = "item show",
     .summary = "show an item and who holds it",
     .details = {},
     .positionals = kItem,
     .options = {},
     .example = "dibs item show fix-login",
     .run = run_show},
    {.name = "item list",
     .summary = "list items, the more urgent first",
     .details = "Broken items are named at the end; they hide nothing else.",
     .positionals = {},
     .options = kListOptions,
     .example = "dibs item list --label auth",
     .run = run_list},
    {.name = "item update",
     .summary = "change an item",
     .details = "An item that another session holds is that session's to change; labels and "
                "comments are open to all\n"
                "(worktree.enforce_leases). Which states there are, and which moves between them, "
                "says\n"
                ".dibs/workflow.toml.",
     .positionals = kItem,
     .options = kUpdateOptions,
     .example = "dibs item update fix-login --state in_review",
     .run = run_update},
    {.name = "item close",
     .summary = "say that an item is done, or will not be",
     .details = "`dibs done` closes what it lands; this is for the rest.",
     .positionals = kItem,
     .options = kCloseOptions,
     .example = "dibs item close fix-login --rejected --reason \"a duplicate\"",
     .run = run_close},
    {.name = "item reopen",
     .summary = "take up a closed item again",
     .details = {},
     .positionals = kItem,
     .options = {},
     .example = "dibs item reopen fix-login",
     .run = run_reopen},
    {.name = "item comment",
     .summary = "say something about an item",
     .details = "Open to everybody, whoever holds the item.",
     .positionals = kComment,
     .options = {},
     .example = "dibs item comment fix-login \"the token is refreshed twice\"",
     .run = run_comment},
    {.name = "item dep add",
     .summary = "let an item wait for others",
     .details = "Refused, with the way round, when it would wait for itself.",
     .positionals = kDependency,
     .options = {},
     .example = "dibs item dep add fix-login db-1",
     .run = run_dep_add},
    {.name = "item dep rm",
     .summary = "let an item not wait for others any more",
     .details = {},
     .positionals = kDependency,
     .options = {},
     .example = "dibs item dep rm fix-login db-1",
     .run = run_dep_rm},
    {.name = "item history",
     .summary = "show who changed an item, and when",
     .details = {},
     .positionals = kItem,
     .options = kHistoryOptions,
     .example = "dibs item history fix-login",
     .run = run_history},
}};

}  // namespace

std::span<const Command> item_commands() { return kCommands; }

}  // namespace dibs::cli
