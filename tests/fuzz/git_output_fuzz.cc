// What git prints, as dibs reads it: none of it is taken on trust, because paths and messages in it
// are other people's. The first byte chooses.
#include <fmt/core.h>

#include <array>

#include "base/crc32c.h"
#include "base/text.h"
#include "fuzzing.h"
#include "git/batch_answers.h"
#include "git/changed_paths.h"
#include "git/conflicted_merge.h"
#include "git/git_program.h"
#include "git/known_collisions.h"
#include "git/push_report.h"
#include "git/tip_merges.h"
#include "git/uncommitted.h"

namespace dibs::fuzz {

namespace {

void try_answers(std::string_view text) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t before = rest.size();
    if (!next_answer(rest)) break;
    must(rest.size() < before, "an answer takes something away");
  }
  const AnswersAsTheyCome::Each each = [](const ObjectText&) {};
  AnswersAsTheyCome answers(1000, each);
  std::string heard;
  for (const char c : text) {
    heard += c;
    answers.take(heard);
  }
  (void)answers.ended(3);
}

void try_merges(std::string_view text) {
  const std::array pairs{TipPair{.first = 0, .second = 1}, TipPair{.first = 0, .second = 2},
                         TipPair{.first = 1, .second = 2}};
  const SaidMerges said = parse_merges(text, pairs);
  must(said.pairs <= pairs.size(), "no more is said than was asked");
  must(said.collisions.size() <= said.pairs, "a pair collides once");
}

void try_changes(std::string_view text) {
  const Result<std::vector<CommitChanges>> changes = parse_commit_changes(text);
  if (!changes || changes->size() < 2) return;
  ChangedPaths one = changes->front().paths;
  const ChangedPaths& other = changes->back().paths;
  must(may_collide(one, other) == may_collide(other, one), "who collides with whom is mutual");
  const bool collided = may_collide(one, other);
  join(one, other);
  must(!collided || may_collide(one, other), "who changes more collides no less");
}

void try_index_listing(std::string_view text) {
  for (const IndexEntry& entry : parse_index_listing(text)) (void)index_line(entry, "folder/");
}

void try_push(Pieces pieces) {
  ProgramEnd end{.exit_code = pieces.byte() % 2};
  end.err = pieces.until('\0');
  end.out = pieces.rest();
  must(is_printable(complaint_of(end)), "a complaint is safe to show");
  const std::vector<RefMove> moves{{.name = "refs/dibs/r/item_3a42", .from = "", .to = "aa"},
                                   {.name = "refs/heads/main", .from = "bb", .to = "cc"}};
  const PushEnd judged = judge_push(end, moves);
  must(is_printable(judged.why), "why a push failed is safe to show");
  if (judged.kind == PushEnd::Kind::moved)
    must(end.exit_code == 0, "a push that failed has moved nothing");
}

// The checksum is put right, or no mutation would get past it.
void try_known(std::string_view body) {
  const KnownCollisions known =
      KnownCollisions::of(fmt::format("dibs conflicts 2 {}\n{}", hex32(crc32c(0, body)), body));
  (void)known.files("aa", "bb");
  BranchPast past = known.past();
  (void)past.changed({.from = "cc", .to = "aa"});
  must(past.left_behind({"aa"}).size() <= past.commits.size(), "no commit is left behind twice");
  const ForkPoints forks(past.commits, {"aa", "bb"});
  (void)forks.of({.first = 0, .second = 1});
  const std::size_t before = past.commits.size();
  past.forget_all_but({"aa", "bb"});
  must(past.commits.size() <= before, "to forget adds nothing");
}

}  // namespace

void try_input(std::string_view input) {
  Pieces pieces(input);
  switch (pieces.byte() % 7) {
    case 0:
      return try_answers(pieces.rest());
    case 1:
      return try_merges(pieces.rest());
    case 2:
      return try_changes(pieces.rest());
    case 3:
      return (void)parse_conflicted_merge(pieces.rest());
    case 4:
      return try_index_listing(pieces.rest());
    case 5:
      return try_push(pieces);
    default:
      return try_known(pieces.rest());
  }
}

}  // namespace dibs::fuzz
