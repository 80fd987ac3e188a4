#include "git/remote_refs.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <span>

#include "base/text.h"
#include "git/loose_object.h"
#include "git/stored_objects.h"

namespace dibs {

namespace {

// Objects that are sent without any other in sight; see outbox_has.
const std::string kOutbox = "outbox";
constexpr const char* kUnnoted = "dibs-unnoted";
constexpr std::size_t kLooseObjectMax = 1024UL * 1024;
constexpr std::size_t kReadyFileMax = 64;
constexpr std::size_t kGoneMax = 256;
constexpr std::size_t kGoneFileMax = 128UL * 1024;
constexpr std::size_t kLooseRefsMany = 64;
// What a remote may send at once: a thousand times what years of claims come to.
constexpr std::uint64_t kLookFileMax = 1ULL << 30U;
constexpr std::uint64_t kLookMemoryMax = 2ULL << 30U;

}  // namespace

GitProgram::Call RemoteRefs::call(std::vector<std::string> arguments) const {
  return {.git_dir = place_.directory, .arguments = std::move(arguments), .input = {}};
}

// Runs where git would for the user.
GitProgram::Call RemoteRefs::remote_call(std::vector<std::string> arguments) const {
  GitProgram::Call call = this->call(std::move(arguments));
  call.directory = place_of(place_.common_dir);
  return call;
}

// Takes no more of what a remote says than it could have to say.
GitProgram::Call RemoteRefs::look_call(std::vector<std::string> arguments) const {
  GitProgram::Call call = remote_call(std::move(arguments));
  call.most_file_bytes = kLookFileMax;
  call.most_memory_bytes = kLookMemoryMax;
  return call;
}

Done RemoteRefs::open(unsigned directory_mode) {
  const std::string ready = place_.directory + "/dibs-ready";
  Result<std::optional<std::string>> format = files_.read_file(ready, kReadyFileMax);
  if (!format) return fail(format.error());
  if (!format->has_value()) {
    const Result<std::string> made = make(directory_mode);
    if (!made) return fail(made.error());
    // Last: what is there without it was not finished, and is made again.
    if (Done written = files_.replace_file(ready, *made); !written) return written;
    *format = *made;
  }
  format_ = **format == "sha256" ? ObjectFormat::sha256 : ObjectFormat::sha1;
  directory_mode_ = directory_mode;
  const LooseObject empty_tree = loose_object(format_, "tree", "");
  empty_tree_ = empty_tree.name;
  return {};
}

// Says which kind of object names it has: those of the user's repository.
Result<std::string> RemoteRefs::make(unsigned directory_mode) {
  if (Done made = files_.make_directory(place_.directory, directory_mode); !made)
    return fail(made.error());
  Result<std::string> format = git_.output_of({.git_dir = place_.common_dir,
                                               .arguments = {"rev-parse", "--show-object-format"},
                                               .input = {}},
                                              ErrorKind::internal);
  if (!format) return format;
  format->resize(std::min(format->find('\n'), format->size()));
  // One that was left by whoever was killed here says things twice, and git would not change it.
  if (Done removed = files_.remove(place_.directory + "/config"); !removed)
    return fail(removed.error());
  Result<std::string> begun = git_.output_of(
      call({"init", "--quiet", "--bare", "--template=", "--object-format=" + *format}),
      ErrorKind::internal);
  if (!begun) return fail(begun.error());
  format_ = *format == "sha256" ? ObjectFormat::sha256 : ObjectFormat::sha1;
  directory_mode_ = directory_mode;
  const LooseObject empty_tree = loose_object(format_, "tree", "");
  if (Done made = files_.make_directory(place_.directory + "/" + kOutbox, directory_mode); !made)
    return fail(made.error());
  for (const std::string& folder : {std::string("objects"), kOutbox}) {
    if (Done written = write_object(folder, empty_tree.path(), empty_tree.bytes); !written)
      return fail(written.error());
  }
  std::string text = fmt::format("[core]\n\trepositoryformatversion = {}\n\tbare = true\n",
                                 *format == "sha256" ? 1 : 0);
  if (*format == "sha256") text += "[extensions]\n\tobjectFormat = sha256\n";
  // Ours first: of two places a ref may be remembered in, git takes the first. Also first what the
  // user may set otherwise: a server that does not answer is not waited for. What must hold
  // whatever the user set comes last.
  text += fmt::format(
      "[http]\n\tlowSpeedLimit = 1\n\tlowSpeedTime = 30\n[remote \"{0}\"]\n\tfetch = "
      "+{1}*:{1}*\n[include]\n\tpath = \"{2}/config\"\n",
      place_.remote, place_.prefix, place_.common_dir);
  text +=
      "[core]\n\tbare = true\n\tfsync = none\n\tlogAllRefUpdates = false\n[gc]\n\tauto = "
      "0\n[maintenance]\n\tauto = false\n[fetch]\n"
      "\tfsckObjects = false\n\twriteCommitGraph = false\n[push]\n\tfollowTags = false\n"
      "\tgpgSign = false\n\tnegotiate = false\n";
  if (Done written = files_.replace_file(place_.directory + "/config", text); !written)
    return fail(written.error());
  return format;
}

Result<std::vector<SeenRef>> RemoteRefs::ask_git(const std::vector<std::string>& names) {
  std::vector<std::string> arguments{"for-each-ref",
                                     "--format=%(refname)%00%(objectname)%00%(contents)%00", "--"};
  arguments.insert(arguments.end(), names.begin(), names.end());
  const Result<std::string> out = git_.output_of(call(arguments), ErrorKind::internal);
  if (!out) return fail(out.error());
  std::vector<SeenRef> refs;
  const std::vector<std::string_view> fields = split(*out, '\0');
  for (std::size_t i = 0; i + 2 < fields.size(); i += 3) {
    std::string_view name = fields[i];
    if (name.starts_with('\n')) name.remove_prefix(1);
    refs.push_back({.name = std::string(name),
                    .commit = std::string(fields[i + 1]),
                    .message = std::string(fields[i + 2])});
  }
  return refs;
}

Result<std::vector<SeenRef>> RemoteRefs::seen_below(const std::string& folder) {
  return ask_git({place_.prefix + folder});
}

Result<std::vector<SeenRef>> RemoteRefs::seen(const std::vector<std::string>& names) {
  std::vector<SeenRef> refs;
  std::vector<std::string> unknown;
  for (const std::string& name : names) {
    const Result<std::string> commit = commit_at(name);
    if (!commit) return fail(commit.error());
    if (commit->empty()) continue;
    const auto known = known_.find(name);
    if (known != known_.end() && known->second.commit == *commit) {
      refs.push_back(known->second);
    } else {
      unknown.push_back(name);
    }
  }
  if (unknown.empty()) return refs;
  Result<std::vector<SeenRef>> asked = ask_git(unknown);
  if (!asked) return asked;
  for (SeenRef& ref : *asked) {
    known_[ref.name] = ref;
    refs.push_back(std::move(ref));
  }
  return refs;
}

Result<std::vector<SeenRef>> RemoteRefs::known_below(const std::string& prefix) {
  const Result<std::string> out =
      git_.output_of(call({"for-each-ref", "--format=%(refname) %(objectname)", "--", prefix}),
                     ErrorKind::internal);
  if (!out) return fail(out.error());
  std::vector<SeenRef> refs;
  for (const std::string_view line : split(*out, '\n')) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    refs.push_back({.name = std::string(line.substr(0, space)),
                    .commit = std::string(line.substr(space + 1)),
                    .message = {}});
  }
  return refs;
}

Result<std::vector<SeenRef>> RemoteRefs::look(const std::vector<std::string>& names) {
  std::vector<SeenRef> before;
  for (const std::string& name : names) {
    if (name.ends_with('/')) {
      Result<std::vector<SeenRef>> known = known_below(name);
      if (!known) return known;
      before.insert(before.end(), known->begin(), known->end());
      continue;
    }
    Result<std::string> commit = commit_at(name);
    if (!commit) return fail(commit.error());
    if (!commit->empty())
      before.push_back({.name = name, .commit = *std::move(commit), .message = {}});
  }
  if (Done fetched = fetch(names); !fetched) return fail(fetched.error());
  std::vector<SeenRef> gone;
  for (SeenRef& ref : before) {
    const Result<std::string> now = commit_at(ref.name);
    if (!now) return fail(now.error());
    if (now->empty()) gone.push_back(std::move(ref));
  }
  return gone;
}

Done RemoteRefs::keep_gone(const std::vector<SeenRef>& gone) {
  Result<std::vector<SeenRef>> kept = this->gone();
  if (!kept) return fail(kept.error());
  kept->insert(kept->end(), gone.begin(), gone.end());
  std::string text;
  for (const SeenRef& ref : *kept | std::views::reverse | std::views::take(kGoneMax))
    text += fmt::format("{} {}\n", ref.commit, ref.name);
  return files_.replace_file(place_.directory + "/dibs-gone", text);
}

Result<std::vector<SeenRef>> RemoteRefs::gone(const std::vector<std::string>& names) {
  const Result<std::optional<std::string>> text =
      files_.read_file(place_.directory + "/dibs-gone", kGoneFileMax);
  if (!text) return fail(text.error());
  std::vector<SeenRef> gone;
  if (!text->has_value()) return gone;
  for (const std::string_view line : split(**text, '\n')) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    SeenRef ref{.name = std::string(line.substr(space + 1)),
                .commit = std::string(line.substr(0, space)),
                .message = {}};
    if (!names.empty() && std::ranges::find(names, ref.name) == names.end()) continue;
    const Result<std::string> back = commit_at(ref.name);
    if (!back) return fail(back.error());
    if (!back->empty()) continue;
    const Result<std::string> commit = text_of_commit(ref.commit);
    if (!commit) return fail(commit.error());
    // The headers end at the first empty line.
    const std::size_t headers = commit->find("\n\n");
    if (headers != std::string::npos) ref.message = commit->substr(headers + 2);
    gone.push_back(std::move(ref));
  }
  return gone;
}

// Without git wherever that can be: when another clone has put tombstones away there are hundreds,
// and everybody who looks at all records reads them. What is no commit says nothing, and that
// concerns only who asks for it: anybody can make such a ref and take it away again.
Result<std::string> RemoteRefs::text_of_commit(const std::string& commit) const {
  if (auto stored = StoredObjects(files_, place_.directory).read("commit", commit))
    return *std::move(stored);
  Result<ProgramEnd> end = git_.run(call({"cat-file", "commit", commit}));
  if (!end) return fail(end.error());
  return end->succeeded() ? std::move(end->out) : std::string();
}

Done RemoteRefs::fetch(const std::vector<std::string>& names) {
  std::vector<std::string> arguments{"fetch",
                                     "--quiet",
                                     "--no-tags",
                                     "--no-write-fetch-head",
                                     "--no-recurse-submodules",
                                     "--prune",
                                     "--force",
                                     "--",
                                     place_.remote};
  // With a star behind it, a ref that is not there is no error. It may match longer names too,
  // which does no harm.
  for (const std::string& name : names) arguments.push_back(fmt::format("+{0}*:{0}*", name));
  const Result<ProgramEnd> end = git_.run(look_call(arguments));
  if (!end) return fail(end.error());
  if (!end->succeeded()) {
    remove_unfinished();
    return fail(unreadable(*end));
  }
  pack_if_many(names);
  return {};
}

// What git had received when it ended, as a pack or as one large object: it would stay for good.
// Nobody else receives anything here, as the store has its lock.
void RemoteRefs::remove_unfinished() {
  for (const char* folder : {"/objects/", "/objects/pack/"}) {
    const Result<std::vector<std::string>> names = files_.list(place_.directory + folder);
    if (!names) continue;
    for (const std::string& name : *names)
      if (name.starts_with("tmp_")) (void)files_.remove(place_.directory + folder + name);
  }
}

// Every later git here reads all refs, and each file of its own costs it some 15 µs. Only after
// looking at a whole folder: who looks for one ref is on the way to a claim.
void RemoteRefs::pack_if_many(const std::vector<std::string>& names) {
  const bool many = std::ranges::any_of(names, [&](const std::string& name) {
    return name.ends_with('/') && ref_files_.loose_in(name) >= kLooseRefsMany;
  });
  if (many) (void)git_.run(call({"pack-refs", "--all"}));
}

Error RemoteRefs::unreadable(const ProgramEnd& end) const {
  return {.kind = ErrorKind::unreachable,
          .message = fmt::format("the remote {} cannot be read: {}", printable(place_.remote),
                                 complaint_of(end)),
          .hint = fmt::format("see whether git reaches it: git ls-remote {}",
                              shell_word(place_.remote)),
          .fields = {}};
}

Result<std::map<std::string, std::string>> RemoteRefs::ask_remote(
    const std::vector<std::string>& names) {
  std::vector<std::string> arguments{"ls-remote", "--refs", "--", place_.remote};
  arguments.insert(arguments.end(), names.begin(), names.end());
  const Result<ProgramEnd> end = git_.run(look_call(std::move(arguments)));
  if (!end) return fail(end.error());
  if (!end->succeeded()) return fail(unreadable(*end));
  std::map<std::string, std::string> found;
  for (const std::string_view line : split(end->out, '\n')) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) continue;
    // git also lists refs whose names end like the one asked for.
    const std::string_view name = line.substr(tab + 1);
    if (std::ranges::find(names, name) != names.end()) found.emplace(name, line.substr(0, tab));
  }
  return found;
}

Result<std::string> RemoteRefs::write_commit(const std::vector<std::string>& parents,
                                             const std::string& message, std::int64_t unix_ms) {
  std::string text = fmt::format("tree {}\n", empty_tree_);
  for (const std::string& parent : parents) text += fmt::format("parent {}\n", parent);
  for (const char* role : {"author", "committer"})
    text += fmt::format("{} dibs <dibs> {} +0000\n", role, unix_ms / 1000);
  text += "\n" + message;
  const LooseObject commit = loose_object(format_, "commit", text);
  if (Done written = write_object("objects", commit.path(), commit.bytes); !written)
    return fail(written.error());
  // One without a past can go out from where nothing else is.
  if (parents.empty()) (void)write_object(kOutbox, commit.path(), commit.bytes);
  return commit.name;
}

// Not synced: the remote's is the one that counts.
Done RemoteRefs::write_object(const std::string& folder, const std::string& path,
                              std::string_view bytes) {
  const std::string file = fmt::format("{}/{}/{}", place_.directory, folder, path);
  const unsigned mode = directory_mode_;
  if (Done made = files_.make_directory(file.substr(0, file.rfind('/')), mode); !made) return made;
  const Result<std::unique_ptr<File>> opened = files_.open(file, Open::create_append, mode & 0666U);
  if (!opened) return fail(opened.error());
  const Result<std::uint64_t> size = (*opened)->size();
  if (!size) return fail(size.error());
  if (*size == bytes.size()) return {};
  // Whoever wrote a part of it was killed.
  if (Done emptied = (*opened)->truncate(0); !emptied) return emptied;
  return (*opened)->append(bytes);
}

// git looks at every commit that it has and the remote names. From a directory that has only what
// is sent, there is nothing to look at. Whether everything that these moves name is there.
bool RemoteRefs::outbox_has(const std::vector<RefMove>& moves) {
  return std::ranges::all_of(moves, [&](const RefMove& move) {
    if (move.to.size() < 3) return move.to.empty();
    const std::string path = LooseObject{.name = move.to, .bytes = {}}.path();
    const std::string base = place_.directory + "/";
    const auto there = files_.status(base + kOutbox + "/" + path);
    if (there && there->has_value()) return true;
    if (!move.stays()) return false;
    // What only has to stay, such as the ledger, is brought once and is then there.
    const auto kept = files_.read_file(base + "objects/" + path, kLooseObjectMax);
    return kept && kept->has_value() && write_object(kOutbox, path, **kept).has_value();
  });
}

void RemoteRefs::empty_outbox(const std::vector<RefMove>& moves) {
  for (const RefMove& move : moves) {
    if (move.stays() || move.to.size() < 3) continue;
    (void)files_.remove(fmt::format("{}/{}/{}", place_.directory, kOutbox,
                                    LooseObject{.name = move.to, .bytes = {}}.path()));
  }
}

bool RemoteRefs::is_own_branch(const RefMove& move) const {
  return move.name.starts_with("refs/heads/") && move.name.starts_with(place_.prefix);
}

// After a push git notes in the user's repository where the remote's branches stand. Of a branch
// that only we have the commits of, that would be a ref to nothing, and git would stumble over it
// ever after. So the remote gets another name for this push, under which nothing is noted but the
// branches that are the user's. Empty: there is no need for that.
Result<std::vector<std::string>> RemoteRefs::unnoted_settings(
    const std::vector<RefMove>& moves) const {
  const bool needed =
      std::ranges::any_of(moves, [&](const RefMove& move) { return is_own_branch(move); });
  if (!needed) return std::vector<std::string>{};
  GitProgram::Call list = call({"config", "--null", "--list"});
  list.git_dir = place_.common_dir;
  const Result<std::string> all = git_.output_of(list, ErrorKind::internal);
  if (!all) return fail(all.error());
  const std::string own = fmt::format("remote.{}.", place_.remote);
  std::vector<std::string> settings;
  for (const std::string_view entry : split(*all, '\0')) {
    const std::size_t end = entry.find('\n');
    if (!entry.starts_with(own) || end == std::string_view::npos) continue;
    const std::string_view name = entry.substr(own.size(), end - own.size());
    if (name == "fetch") continue;
    settings.push_back(fmt::format("remote.{}.{}={}", kUnnoted, name, entry.substr(end + 1)));
  }
  if (settings.empty()) return settings;  // an address, of which nothing is noted anyway
  for (const RefMove& move : moves) {
    constexpr std::string_view kHeads = "refs/heads/";
    if (is_own_branch(move) || !move.name.starts_with(kHeads)) continue;
    settings.push_back(fmt::format("remote.{}.fetch=+{}:refs/remotes/{}/{}", kUnnoted, move.name,
                                   place_.remote, move.name.substr(kHeads.size())));
  }
  return settings;
}

Result<PushEnd> RemoteRefs::push(const std::vector<RefMove>& moves, From from) {
  std::vector<std::string> arguments{
      "-c",          "push.followTags=false", "push",        "--atomic",
      "--porcelain", "--no-verify",           "--no-signed", "--recurse-submodules=no"};
  for (const RefMove& move : moves)
    arguments.push_back(fmt::format("--force-with-lease={}:{}", move.name, move.from));
  std::vector<std::string> unnoted;
  if (from == From::users) {
    Result<std::vector<std::string>> settings = unnoted_settings(moves);
    if (!settings) return fail(settings.error());
    unnoted = *std::move(settings);
  }
  arguments.insert(arguments.end(), {"--", unnoted.empty() ? place_.remote : kUnnoted});
  for (const RefMove& move : moves) arguments.push_back(move.to + ":" + move.name);
  GitProgram::Call push = remote_call(std::move(arguments));
  push.settings = std::move(unnoted);
  push.settings.emplace_back("push.followTags=false");
  if (from == From::users) {
    push.git_dir = place_.common_dir;
    push.environment.push_back(borrowing_ours());
  } else if (outbox_has(moves)) {
    push.environment.push_back(
        fmt::format("GIT_OBJECT_DIRECTORY={}/{}", place_.directory, kOutbox));
  }
  const Result<ProgramEnd> end = git_.run(push);
  if (!end) return fail(end.error());
  empty_outbox(moves);
  PushEnd judged = judge_push(*end, moves);
  if (from == From::users && judged.kind == PushEnd::Kind::moved) remember(moves);
  return judged;
}

// What went out from the user's repository is seen here too, if it is ours. When that fails, the
// next push finds out.
void RemoteRefs::remember(const std::vector<RefMove>& moves) {
  std::string commands;
  for (const RefMove& move : moves) {
    if (!move.name.starts_with(place_.prefix) || move.stays() || !has_object(move.to)) continue;
    commands += fmt::format("update {} {}\n", move.name, move.to);
  }
  if (commands.empty()) return;
  GitProgram::Call update = call({"update-ref", "--stdin"});
  update.input = commands;
  (void)git_.run(update);
}

// What we wrote is there as a file of its own.
bool RemoteRefs::has_object(const std::string& commit) const {
  if (commit.size() < 3) return false;
  const Result<std::optional<FileStatus>> status = files_.status(
      fmt::format("{}/objects/{}/{}", place_.directory, commit.substr(0, 2), commit.substr(2)));
  return status && status->has_value();
}

// Lets the user's repository see our objects. Quoted as git wants it, because a colon would
// separate two directories.
std::string RemoteRefs::borrowing_ours() const {
  std::string quoted = "GIT_ALTERNATE_OBJECT_DIRECTORIES=\"";
  for (const char c : place_.directory + "/objects") {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

Result<PushEnd> RemoteRefs::rehearse() {
  const Result<std::string> commit = write_commit({}, "would this be taken?", 0);
  if (!commit) return fail(commit.error());
  const std::vector<RefMove> moves{
      {.name = place_.prefix + "rehearsal", .from = "", .to = *commit}};
  const Result<ProgramEnd> end =
      git_.run(remote_call({"push", "--dry-run", "--atomic", "--porcelain", "--no-verify", "--",
                            place_.remote, moves[0].to + ":" + moves[0].name}));
  if (!end) return fail(end.error());
  return judge_push(*end, moves);
}

Result<std::vector<std::string>> RemoteRefs::messages() {
  GitProgram::Call listing = call({"log", "--format=%B%x00", "--glob=" + place_.prefix + "*"});
  listing.environment = {kRefsMayGo};
  const Result<std::string> out = git_.output_of(listing, ErrorKind::internal);
  if (!out) return fail(out.error());
  std::vector<std::string> messages;
  for (std::string_view message : split(*out, '\0')) {
    while (message.starts_with('\n')) message.remove_prefix(1);
    while (message.ends_with('\n')) message.remove_suffix(1);
    if (!message.empty()) messages.emplace_back(message);
  }
  return messages;
}

}  // namespace dibs
