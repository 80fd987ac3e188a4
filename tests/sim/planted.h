// Small defects that a simulation can be given, one at a time, to show that it would find them.
// Each is planted where the code under test meets the simulated world (its files, clock, randomness
// and git) or between two of its layers (board, changes, store), so the code itself stays as it is.
// docs/guarantees.md says which promise each of them breaks.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace dibs::sim {

enum class Bug {
  none,
  // What the rules see, and what becomes of their decisions.
  shared_beside_exclusive,
  renewed_after_its_end,
  renewing_shortens,
  released_by_anyone,
  a_fence_is_used_twice,
  upgraded_beside_readers,
  evicted_without_a_reason,
  taken_over_without_a_word,
  several_are_taken_one_by_one,
  no_skew_margin,
  a_waiter_is_forgotten,
  the_second_in_line_is_served,
  outsiders_come_first,
  newcomers_go_first,
  circles_are_not_looked_for,
  force_without_being_asked,
  cleanup_ends_the_living,
  landing_without_the_lease,
  belief_counts_from_the_answer,
  // The ledger and its store.
  the_same_nonce,
  no_version_check,
  a_lost_race_is_success,
  unknown_is_success,
  the_fence_before,
  the_index_without_the_tail,
  answers_again_without_a_flush,
  // Files.
  no_flush,
  no_directory_flush,
  a_failed_flush_is_repeated,
  a_lock_for_two,
  a_failed_write_is_passed_over,
  a_torn_end_stays,
  a_dead_writers_line_is_built_on,
  replaced_without_a_flush,
  // Clock and processes.
  the_wall_clock_decides,
  the_living_are_taken_for_dead,
  // The remote.
  pushed_without_a_lease,
  pushed_in_parts,
  a_lost_reply_is_success,
  pushed_without_the_ledger,
};

/// Where leases are kept in a world.
enum class Ground { memory, local, git };
[[nodiscard]] std::string_view name_of(Ground ground);
[[nodiscard]] std::optional<Ground> parse_ground(std::string_view name);

struct PlantedBug {
  Bug bug = Bug::none;
  std::string_view name;
  Ground ground = Ground::local;  // where it is looked for
};

inline constexpr std::array kPlantedBugs{
    PlantedBug{Bug::shared_beside_exclusive, "shared_beside_exclusive", Ground::memory},
    PlantedBug{Bug::renewed_after_its_end, "renewed_after_its_end", Ground::memory},
    PlantedBug{Bug::renewing_shortens, "renewing_shortens", Ground::memory},
    PlantedBug{Bug::released_by_anyone, "released_by_anyone", Ground::memory},
    PlantedBug{Bug::a_fence_is_used_twice, "a_fence_is_used_twice", Ground::memory},
    PlantedBug{Bug::upgraded_beside_readers, "upgraded_beside_readers", Ground::memory},
    PlantedBug{Bug::evicted_without_a_reason, "evicted_without_a_reason", Ground::memory},
    PlantedBug{Bug::taken_over_without_a_word, "taken_over_without_a_word", Ground::memory},
    PlantedBug{Bug::several_are_taken_one_by_one, "several_are_taken_one_by_one", Ground::memory},
    PlantedBug{Bug::no_skew_margin, "no_skew_margin", Ground::git},
    PlantedBug{Bug::a_waiter_is_forgotten, "a_waiter_is_forgotten", Ground::memory},
    PlantedBug{Bug::the_second_in_line_is_served, "the_second_in_line_is_served", Ground::memory},
    PlantedBug{Bug::outsiders_come_first, "outsiders_come_first", Ground::memory},
    PlantedBug{Bug::newcomers_go_first, "newcomers_go_first", Ground::memory},
    PlantedBug{Bug::circles_are_not_looked_for, "circles_are_not_looked_for", Ground::memory},
    PlantedBug{Bug::force_without_being_asked, "force_without_being_asked", Ground::memory},
    PlantedBug{Bug::cleanup_ends_the_living, "cleanup_ends_the_living", Ground::memory},
    PlantedBug{Bug::landing_without_the_lease, "landing_without_the_lease", Ground::local},
    PlantedBug{Bug::belief_counts_from_the_answer, "belief_counts_from_the_answer", Ground::local},
    PlantedBug{Bug::the_same_nonce, "the_same_nonce", Ground::git},
    PlantedBug{Bug::no_version_check, "no_version_check", Ground::local},
    PlantedBug{Bug::a_lost_race_is_success, "a_lost_race_is_success", Ground::local},
    PlantedBug{Bug::unknown_is_success, "unknown_is_success", Ground::git},
    PlantedBug{Bug::the_fence_before, "the_fence_before", Ground::memory},
    PlantedBug{Bug::the_index_without_the_tail, "the_index_without_the_tail", Ground::local},
    PlantedBug{Bug::answers_again_without_a_flush, "answers_again_without_a_flush", Ground::local},
    PlantedBug{Bug::no_flush, "no_flush", Ground::local},
    PlantedBug{Bug::no_directory_flush, "no_directory_flush", Ground::local},
    PlantedBug{Bug::a_failed_flush_is_repeated, "a_failed_flush_is_repeated", Ground::local},
    PlantedBug{Bug::a_lock_for_two, "a_lock_for_two", Ground::local},
    PlantedBug{Bug::a_failed_write_is_passed_over, "a_failed_write_is_passed_over", Ground::local},
    PlantedBug{Bug::a_torn_end_stays, "a_torn_end_stays", Ground::local},
    PlantedBug{Bug::a_dead_writers_line_is_built_on, "a_dead_writers_line_is_built_on",
               Ground::local},
    PlantedBug{Bug::replaced_without_a_flush, "replaced_without_a_flush", Ground::local},
    PlantedBug{Bug::the_wall_clock_decides, "the_wall_clock_decides", Ground::local},
    PlantedBug{Bug::the_living_are_taken_for_dead, "the_living_are_taken_for_dead", Ground::local},
    PlantedBug{Bug::pushed_without_a_lease, "pushed_without_a_lease", Ground::git},
    PlantedBug{Bug::pushed_in_parts, "pushed_in_parts", Ground::git},
    PlantedBug{Bug::a_lost_reply_is_success, "a_lost_reply_is_success", Ground::git},
    PlantedBug{Bug::pushed_without_the_ledger, "pushed_without_the_ledger", Ground::git},
};

}  // namespace dibs::sim
