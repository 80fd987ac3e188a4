// Which sessions of this clone a heartbeat loop serves now. On a store where every change is dear,
// one of the loops beats for all of them; so each says here that it is there.
//
//   const ServedSession served(workspace, session);   // while the loop runs
//   … for (const SessionId& session : served_sessions(workspace)) …
//
// A file for each, `heartbeat/SESSION.session`, that names the process of the loop. What a killed
// one left is known by that process being gone. Nothing depends on a file: a session that is missed
// here is beaten by its own loop.
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

class ServedSession {
 public:
  ServedSession(Workspace& workspace, const SessionId& session);
  ServedSession(const ServedSession&) = delete;
  ServedSession& operator=(const ServedSession&) = delete;
  ~ServedSession();

 private:
  Workspace& workspace_;
  std::string path_;  // empty: it could not be written
};

// Those whose loop is known to run. Removes the files of those that are known to have ended.
[[nodiscard]] std::vector<SessionId> served_sessions(Workspace& workspace);

}  // namespace dibs::verbs
