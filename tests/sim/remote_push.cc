// One push of the model: what the client compares before it sends, what the server compares before
// it moves refs, and what each says.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "remote_model.h"

namespace dibs::sim {

namespace {

constexpr std::string_view kHungUp = "fatal: the remote end hung up unexpectedly\n";

ProgramEnd complained(std::string_view err) {
  return {.exit_code = 128, .out = {}, .err = std::string(err)};
}

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
    ProgramEnd end{.exit_code = 0, .out = "To somewhere\n", .err = {}};
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

// What is to move, and from where the remote says that it is.
Result<GitModel::Push> GitModel::push_of(const Words& words, const ProgramCall& call) {
  Push push{.moves = {}, .atomic = words.has("--atomic")};
  for (std::size_t i = 1; i < words.others.size(); ++i) {
    const std::string& word = words.others[i];
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
      return fail(ErrorKind::internal, "error: unable to delete: remote ref does not exist\n");
    if (!take_in_object(move.to_make.to, call, words))
      return fail(ErrorKind::internal, "fatal: loose object is corrupt\n");
    push.moves.push_back(std::move(move));
  }
  return push;
}

// What the client hears of the server.
ProgramEnd GitModel::send(Push& push, Connection::Mishap mishap) {
  transact(push);
  if (mishap == Connection::Mishap::server_dies && push.all_fine()) {
    for (const Push::Move& move : push.moves) {
      if (move.sent()) remote_.stale_locks.insert(move.to_make.name);
    }
    return complained(kHungUp);
  }
  move_all(push);
  const bool is_there = connection_.goes_on();
  return is_there && mishap != Connection::Mishap::reply_is_lost ? push.report()
                                                                 : complained(kHungUp);
}

ProgramEnd GitModel::push(const Words& words, const ProgramCall& call) {
  const Connection::Mishap mishap = connection_.mishap();
  if (!connection_.goes_on() || remote_.gone || mishap == Connection::Mishap::no_answer)
    return complained(kUnreachable);
  Result<Push> push = push_of(words, call);
  if (!push) return complained(push.error().message);
  judge(*push);
  if (!push->all_fine() && push->atomic) return push->report();
  if (!connection_.goes_on() || remote_.gone) return complained(kUnreachable);
  ProgramEnd end = send(*push, mishap);
  if (connection_.took_longer_than(call.most_ms)) {
    end = complained("");
    end.cut = ProgramEnd::Cut::timed_out;
  }
  if (!end.out.empty() && !words.git_dir.ends_with("/.git")) remember(*push, words.git_dir);
  return end;
}

}  // namespace dibs::sim
