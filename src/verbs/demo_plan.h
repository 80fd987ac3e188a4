// What the demo lets its workers do: a small C program of many steps, of which each is an item.
// Made from a seed alone, so that the same seed gives the same project, items and mishaps.
//
// A step is a function that calls the steps it depends on. Until its item has landed it answers 0,
// and the project's own check fails if a step answers before what it is built on: the order of the
// items is what the program needs, not a rule of the demo.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dibs::verbs {

struct Demo {
  std::size_t workers = 8;
  std::size_t items = 40;
  std::uint64_t seed = 1;
};

/// What happens to the first who works on a step.
enum class Mishap {
  none,
  mistake,  // it compiles, and answers wrongly: the gate catches it
  killed,   // with -9, in the middle of an edit
  paused,   // past the end of its lease, by an agent beside the run
};

struct DemoStep {
  std::string item;                     // step-07
  std::string function;                 // step_07
  std::string file;                     // that it is in
  std::vector<std::size_t> depends_on;  // places in the plan
  std::int64_t answer = 0;
  std::int64_t think_ms = 0;
  Mishap mishap = Mishap::none;
  bool in_table = false;  // also adds a line to the one table that others add theirs to
  bool alone = false;     // done by one worker, before the others begin, to know how long it takes
};

struct DemoPlan {
  std::vector<DemoStep> steps;
  std::vector<std::string> files;  // of functions

  [[nodiscard]] const DemoStep* with(Mishap mishap) const;
  [[nodiscard]] std::size_t in_table() const;
};

[[nodiscard]] DemoPlan make_demo_plan(const Demo& request);

// The label of those that one worker does alone.
inline constexpr const char* kAloneLabel = "foundation";

// What the function's body returns: "(7 + step_02()) % 997 + 1".
[[nodiscard]] std::string formula_of(const DemoPlan& plan, const DemoStep& step);
// The same, as somebody writes it who makes a mistake.
[[nodiscard]] std::string wrong_formula_of(const DemoPlan& plan, const DemoStep& step);

// For `item add --batch`.
[[nodiscard]] std::string batch_of(const DemoPlan& plan);

}  // namespace dibs::verbs
