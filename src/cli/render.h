// Leases and events as people read them and as scripts parse them.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "cli/terminal.h"
#include "verbs/claim.h"

namespace dibs::cli {

// "10 min, until 2026-01-03T12:10:00.000Z", or "no time limit".
[[nodiscard]] std::string lasting(const Lease& lease);

void print_granted(Terminal& terminal, const Grants& grants);
void print_lease(Terminal& terminal, std::string_view what_happened, const HeldLease& held);
void print_listed(Terminal& terminal, const std::vector<verbs::ListedLease>& leases);
void print_event(Terminal& terminal, const PastEvent& past);

[[nodiscard]] std::string lease_json(const HeldLease& held);
[[nodiscard]] std::string listed_json(const verbs::ListedLease& entry);

}  // namespace dibs::cli
