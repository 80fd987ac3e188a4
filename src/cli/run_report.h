// What a run says: a line an event, and at its end what came of it.
#pragma once

#include "cli/terminal.h"
#include "verbs/run.h"

namespace dibs::cli {

// For a person; nothing for events that only machines want.
void print_run_event(Terminal& terminal, const verbs::RunEvent& event);
void reply_run_event(Terminal& terminal, const verbs::RunEvent& event, std::int64_t unix_ms);

void print_run_summary(Terminal& terminal, const verbs::RunSummary& summary);
void reply_run_summary(Terminal& terminal, const verbs::RunSummary& summary);

}  // namespace dibs::cli
