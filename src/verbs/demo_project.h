// The demo's scratch directory: a repository with a C project in it, and beside it the scripts that
// work on it. All of it is text that a person can read afterwards (`dibs demo --keep`).
//
//   DIR/repository   the project: *.c, steps.h, check.sh, .dibs/config.toml with the gate
//   DIR/worker.sh    what `dibs run` starts for an item: edits, compiles, commits
//   DIR/paused.sh    the agent beside the run that is paused past the end of its lease
//   DIR/plan.sh      what each item asks for, in words of the shell
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sys/file_system.h"
#include "verbs/demo_plan.h"

namespace dibs::verbs {

struct ProjectFile {
  std::string path;  // below the scratch directory
  std::string text;
};
[[nodiscard]] std::vector<ProjectFile> demo_files(const DemoPlan& plan);

[[nodiscard]] Done write_demo_files(FileSystem& files, const DemoPlan& plan,
                                    const std::string& directory);

// What check.sh says when every step is there and right.
[[nodiscard]] std::string all_right(const DemoPlan& plan);

}  // namespace dibs::verbs
