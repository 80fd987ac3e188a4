#include "remote_model.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace dibs::sim {

namespace {

ProgramEnd said(std::string out) { return {.exit_code = 0, .out = std::move(out), .err = {}}; }
ProgramEnd complained(int exit_code, std::string err) {
  return {.exit_code = exit_code, .out = {}, .err = std::move(err)};
}

const char* const kUnreachable = "fatal: Could not read from remote repository.\n";

// An object as dibs writes it: zlib's format with one stored block. Its text, without the header;
// nothing when a part of it is missing.
std::optional<std::string> unwrapped(const std::string& bytes) {
  constexpr std::size_t kBefore = 7;
  constexpr std::size_t kAfter = 4;
  if (bytes.size() < kBefore + kAfter) return std::nullopt;
  const auto byte = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<std::uint8_t>(bytes[at]));
  };
  const std::size_t length = byte(3) | byte(4) << 8U;
  if (bytes.size() != kBefore + length + kAfter) return std::nullopt;
  const std::string object = bytes.substr(kBefore, length);
  return object.substr(object.find('\0') + 1);
}

RemoteModel::Commit commit_of(const std::string& text) {
  RemoteModel::Commit commit;
  const std::size_t headers = text.find("\n\n");
  if (headers == std::string::npos) return commit;
  for (const std::string_view line : split(std::string_view(text).substr(0, headers), '\n')) {
    if (line.starts_with("parent ")) commit.parents.emplace_back(line.substr(7));
  }
  commit.message = text.substr(headers + 2);
  return commit;
}

}  // namespace

/// A command line, taken apart.
struct GitModel::Words {
  std::string git_dir;
  std::string command;
  std::vector<std::string> options;
  std::vector<std::string> others;

  [[nodiscard]] bool has(std::string_view option) const {
    return std::ranges::find(options, option) != options.end();
  }
};

GitModel::Words GitModel::words_of(const ProgramCall& call) {
  Words words;
  for (std::size_t i = 1; i < call.command.size(); ++i) {
    const std::string& word = call.command[i];
    if (word.starts_with("--git-dir="))
      words.git_dir = word.substr(10);
    else if (word == "-c")
      ++i;
    else if (word.starts_with("-"))
      words.options.push_back(word);
    else if (words.command.empty())
      words.command = word;
    else
      words.others.push_back(word);
  }
  return words;
}

Result<ProgramEnd> GitModel::run(const ProgramCall& call) {
  const Words words = words_of(call);
  if (words.command == "rev-parse") return said("sha1\n");
  if (words.command == "remote") return said("somewhere\n");
  if (words.command == "pack-refs") return said("");
  if (words.command == "init") return init(words);
  if (words.command == "for-each-ref") return for_each_ref(words);
  if (words.command == "fetch") return fetch(words);
  if (words.command == "push") return push(words, call);
  if (words.command == "update-ref") return update_ref(words, call.input);
  if (words.command == "log") return log(words);
  if (words.command == "cat-file") return show_commit(words);
  return complained(129, fmt::format("fatal: the model knows no {}\n", words.command));
}

ProgramEnd GitModel::init(const Words& words) {
  for (const char* below : {"/objects", "/refs"})
    disk_.make_durable_directory(words.git_dir + below);
  return said("");
}

std::map<std::string, std::string> GitModel::own_refs(const std::string& git_dir) {
  std::map<std::string, std::string> found;
  std::vector<std::string> folders{"refs"};
  while (!folders.empty()) {
    const std::string folder = folders.back();
    folders.pop_back();
    const Result<std::vector<std::string>> names = disk_.list(git_dir + "/" + folder);
    for (const std::string& name : names.value_or(std::vector<std::string>{})) {
      const std::string path = folder + "/" + name;
      const Result<std::optional<FileStatus>> status = disk_.status(git_dir + "/" + path);
      if (!status || !*status) continue;
      if ((*status)->kind == FileKind::directory)
        folders.push_back(path);
      else
        found[path] = std::string(trim(disk_.contents(git_dir + "/" + path).value_or("")));
    }
  }
  return found;
}

void GitModel::put_ref(const std::string& git_dir, const std::string& ref,
                       const std::string& commit) {
  const std::string path = git_dir + "/" + ref;
  if (commit.empty()) {
    (void)disk_.remove(path);
    return;
  }
  disk_.make_durable_directory(path.substr(0, path.rfind('/')));
  disk_.put(path, commit + "\n");
}

ProgramEnd GitModel::for_each_ref(const Words& words) {
  const bool with_text = words.options.front().find("contents") != std::string::npos;
  std::string out;
  for (const auto& [ref, commit] : own_refs(words.git_dir)) {
    const bool wanted = std::ranges::any_of(words.others, [&](const std::string& pattern) {
      const std::string folder = pattern.ends_with('/') ? pattern : pattern + "/";
      return ref == pattern || ref.starts_with(folder);
    });
    if (!wanted) continue;
    out += ref;
    out += with_text ? '\0' : ' ';
    out += commit;
    if (with_text) out += '\0' + remote_.commits[commit].message + '\0';
    out += '\n';
  }
  return said(std::move(out));
}

ProgramEnd GitModel::fetch(const Words& words) {
  using Mishap = Connection::Mishap;
  if (!connection_.goes_on() || remote_.gone || connection_.mishap() == Mishap::no_answer)
    return complained(128, kUnreachable);
  const std::map<std::string, std::string> advertised = remote_.refs;
  if (!connection_.goes_on()) return complained(128, kUnreachable);
  const std::map<std::string, std::string> before = own_refs(words.git_dir);
  for (std::size_t i = 1; i < words.others.size(); ++i) {
    // "+NAME*:NAME*"
    const std::string prefix = words.others[i].substr(1, words.others[i].find('*') - 1);
    for (const auto& [ref, commit] : advertised) {
      if (ref.starts_with(prefix)) put_ref(words.git_dir, ref, commit);
    }
    for (const auto& [ref, commit] : before) {
      if (words.has("--prune") && ref.starts_with(prefix) && !advertised.contains(ref))
        put_ref(words.git_dir, ref, "");
    }
  }
  return said("");
}

ProgramEnd GitModel::update_ref(const Words& words, std::string_view input) {
  for (const std::string_view line : split(input, '\n')) {
    const std::vector<std::string_view> parts = split(line, ' ');
    if (parts.size() >= 3 && parts[0] == "update")
      put_ref(words.git_dir, std::string(parts[1]), std::string(parts[2]));
  }
  return said("");
}

ProgramEnd GitModel::log(const Words& words) {
  std::string prefix;
  for (const std::string& option : words.options) {
    if (option.starts_with("--glob=")) prefix = option.substr(7, option.size() - 8);
  }
  std::vector<std::string> left;
  for (const auto& [ref, commit] : own_refs(words.git_dir)) {
    if (ref.starts_with(prefix)) left.push_back(commit);
  }
  std::set<std::string> seen;
  std::string out;
  while (!left.empty()) {
    const std::string commit = left.back();
    left.pop_back();
    if (!seen.insert(commit).second) continue;
    const RemoteModel::Commit& found = remote_.commits[commit];
    out += found.message + '\0' + '\n';
    left.insert(left.end(), found.parents.begin(), found.parents.end());
  }
  return said(std::move(out));
}

ProgramEnd GitModel::show_commit(const Words& words) {
  const auto found = remote_.commits.find(words.others.back());
  if (found == remote_.commits.end()) return complained(128, "fatal: Not a valid object name\n");
  return said("tree x\n\n" + found->second.message);
}

// git looks for what it sends where it is told to. False: it is there, and damaged.
bool GitModel::take_in_object(const std::string& commit, const ProgramCall& call,
                              const Words& words) {
  if (commit.empty() || remote_.commits.contains(commit)) return true;
  std::vector<std::string> folders{words.git_dir + "/objects"};
  for (const std::string& variable : call.environment) {
    constexpr std::string_view kInstead = "GIT_OBJECT_DIRECTORY=";
    constexpr std::string_view kToo = "GIT_ALTERNATE_OBJECT_DIRECTORIES=";
    if (variable.starts_with(kInstead)) folders = {variable.substr(kInstead.size())};
    if (variable.starts_with(kToo)) folders.push_back(variable.substr(kToo.size()));
  }
  for (std::string& folder : folders) {
    std::erase(folder, '"');
    const std::optional<std::string> bytes =
        disk_.contents(fmt::format("{}/{}/{}", folder, commit.substr(0, 2), commit.substr(2)));
    if (!bytes) continue;
    const std::optional<std::string> text = unwrapped(*bytes);
    if (!text) return false;
    remote_.commits[commit] = commit_of(*text);
    return true;
  }
  return true;
}

/// One push on its way.
struct GitModel::Push {
  struct Move {
    RefMove to_make;  // from: as the remote advertised it
    std::optional<std::string> expected;
    char flag = ' ';
    std::string summary;
    [[nodiscard]] bool fine() const { return flag != '!'; }
    [[nodiscard]] bool sent() const { return fine() && flag != '='; }
  };
  std::vector<Move> moves;
  bool atomic = false;
  bool locked = false;

  [[nodiscard]] bool all_fine() const { return std::ranges::all_of(moves, &Move::fine); }
  void turn_down_all(std::string_view summary) {
    for (Move& move : moves) {
      if (!move.sent()) continue;
      move.flag = '!';
      move.summary = summary;
    }
  }
  [[nodiscard]] ProgramEnd report() const {
    ProgramEnd end = said("To somewhere\n");
    for (const Move& move : moves) {
      end.out += fmt::format("{}\t{}:{}\t{}\n", move.flag, move.to_make.to, move.to_make.name,
                             move.summary);
    }
    end.out += "Done\n";
    end.exit_code = all_fine() ? 0 : 1;
    if (!all_fine()) end.err = "error: failed to push some refs to 'somewhere'\n";
    return end;
  }
};

// As the client does it, before anything is sent. What is up to date is not compared at all.
void GitModel::judge(Push& push) {
  for (Push::Move& move : push.moves) {
    const RefMove& wanted = move.to_make;
    if (!wanted.to.empty() && wanted.from == wanted.to) {
      move.flag = '=';
      move.summary = "[up to date]";
    } else if (move.expected && *move.expected != wanted.from) {
      move.flag = '!';
      move.summary = "[rejected] (stale info)";
    } else {
      move.flag = wanted.to.empty() ? '-' : wanted.from.empty() ? '*' : '+';
      move.summary = wanted.to.empty() ? "[deleted]" : "[new reference]";
    }
  }
  if (push.atomic && !push.all_fine()) push.turn_down_all("[rejected] (atomic push failed)");
}

// As the server does it: each ref still where it was advertised, and not locked.
void GitModel::transact(Push& push) {
  for (Push::Move& move : push.moves) {
    if (!move.sent()) continue;
    const auto there = remote_.refs.find(move.to_make.name);
    const std::string at = there == remote_.refs.end() ? std::string() : there->second;
    const bool locked = remote_.locks.contains(move.to_make.name) ||
                        remote_.stale_locks.contains(move.to_make.name);
    if (at == move.to_make.from && !locked) continue;
    if (push.atomic) return push.turn_down_all("[remote rejected] (atomic transaction failed)");
    move.flag = '!';
    move.summary = "[remote rejected] (failed to update ref)";
  }
}

// One after the other, and whoever looks meanwhile sees some of them moved.
void GitModel::move_all(Push& push) {
  std::vector<RefMove> together;
  for (const Push::Move& move : push.moves) {
    if (move.sent()) together.push_back(move.to_make);
  }
  if (together.empty()) return;
  for (const RefMove& move : together) remote_.locks.insert(move.name);
  remote_.moved(together);
  for (const RefMove& move : together) {
    (void)connection_.goes_on();
    if (move.to.empty())
      remote_.refs.erase(move.name);
    else
      remote_.refs[move.name] = move.to;
  }
  for (const RefMove& move : together) remote_.locks.erase(move.name);
  remote_.shown(together);
}

void GitModel::remember(const Push& push, const std::string& git_dir) {
  for (const Push::Move& move : push.moves) {
    const bool ours = move.to_make.name.starts_with("refs/dibs/");
    if (move.fine() && ours) put_ref(git_dir, move.to_make.name, move.to_make.to);
  }
}

ProgramEnd GitModel::push(const Words& words, const ProgramCall& call) {
  using Mishap = Connection::Mishap;
  const Mishap mishap = connection_.mishap();
  if (!connection_.goes_on() || remote_.gone || mishap == Mishap::no_answer)
    return complained(128, kUnreachable);
  Push push{.moves = {}, .atomic = words.has("--atomic")};
  for (std::size_t i = 1; i < words.others.size(); ++i) {
    std::string word = words.others[i];
    if (word.starts_with('+')) word.erase(0, 1);
    const std::size_t colon = word.find(':');
    Push::Move move{
        .to_make = {.name = word.substr(colon + 1), .from = {}, .to = word.substr(0, colon)}};
    if (const auto at = remote_.refs.find(move.to_make.name); at != remote_.refs.end())
      move.to_make.from = at->second;
    const std::string lease = fmt::format("--force-with-lease={}:", move.to_make.name);
    for (const std::string& option : words.options) {
      if (option.starts_with(lease)) move.expected = option.substr(lease.size());
    }
    if (move.to_make.to.empty() && move.to_make.from.empty())
      return complained(1, "error: unable to delete: remote ref does not exist\n");
    if (!take_in_object(move.to_make.to, call, words))
      return complained(128, "fatal: loose object is corrupt\n");
    push.moves.push_back(std::move(move));
  }
  judge(push);
  if (!push.all_fine() && push.atomic) return push.report();
  if (!connection_.goes_on() || remote_.gone) return complained(128, kUnreachable);
  transact(push);
  if (mishap == Mishap::server_dies && push.all_fine()) {
    for (const Push::Move& move : push.moves) {
      if (move.sent()) remote_.stale_locks.insert(move.to_make.name);
    }
    return complained(128, "fatal: the remote end hung up unexpectedly\n");
  }
  move_all(push);
  const bool is_there = connection_.goes_on();
  if (!is_there || mishap == Mishap::reply_is_lost)
    return complained(128, "fatal: the remote end hung up unexpectedly\n");
  if (connection_.took_longer_than(call.most_ms)) {
    ProgramEnd end = complained(137, "");
    end.cut = ProgramEnd::Cut::timed_out;
    return end;
  }
  if (!words.git_dir.ends_with("/.git")) remember(push, words.git_dir);
  return push.report();
}

}  // namespace dibs::sim
