// What a command's function gets: its words, the person's terminal, and the workspace.
#pragma once

#include "cli/command.h"
#include "cli/terminal.h"
#include "verbs/workspace.h"

namespace dibs::cli {

struct Invocation {
  const Args& args;
  Terminal& terminal;
  Workspace& workspace;
};

}  // namespace dibs::cli
