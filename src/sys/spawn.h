// Starting one program: the one place where that is done. Programs, Children and watched programs
// differ in what they do with it afterwards.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "sys/descriptor.h"

namespace dibs {

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};
[[nodiscard]] Result<Pipe> make_pipe();

struct Spawn {
  std::vector<std::string> command;  // looked up in PATH unless it holds a slash; no shell sees it
  std::string directory;
  std::vector<std::string> environment;  // NAME=value, all of it
  // The child's ends of its streams; -1: nothing is to be read there.
  int in = -1;
  int out = -1;
  int err = -1;
  int kept_open = -1;  // a descriptor of ours that it has too; -1: none
  enum class Leads {
    session,  // of its own, so that nothing it starts can ask our terminal for anything
    group,    // of its own, in our session; what is typed at our terminal is not for it
  };
  Leads leads = Leads::session;
  std::vector<int> heard = {};  // signals that it must not ignore, even if we do
};
// Signals that we block are its to hear.
[[nodiscard]] Result<pid_t> spawn(const Spawn& what);

// Ours with changes: NAME=value sets, NAME alone takes away.
[[nodiscard]] std::vector<std::string> changed_environment(const std::vector<std::string>& changes);

}  // namespace dibs
