// A team's own table of states. One that is taken is sound: every state that is named is there.
#include "fuzzing.h"
#include "model/workflow.h"

namespace dibs::fuzz {

void try_input(std::string_view input) {
  const Result<Workflow> workflow = Workflow::parse(input, "workflow.toml");
  if (!workflow) return;
  must(workflow->find(workflow->initial()) != nullptr, "work begins in a state that there is");
  for (const WorkState& state : workflow->states()) {
    for (const std::string& to : state.to) {
      must(workflow->find(to) != nullptr, "states lead to states that there are");
      (void)workflow->moved({.id = {"1"}, .title = "x", .state = state.name}, to);
    }
    (void)workflow->shown(state.name, {.blocked = true, .held = true});
    must(workflow->find(workflow->landed_from(state.name)) != nullptr, "what lands has a state");
  }
}

}  // namespace dibs::fuzz
