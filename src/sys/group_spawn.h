// Starting one program as the leader of a process group of its own; what Children are made of.
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

struct GroupSpawn {
  std::vector<std::string> command;
  std::string directory;
  std::vector<std::string> environment;  // over ours: NAME=value sets, NAME alone takes away
  // The child's ends of its streams.
  int in = -1;
  int out = -1;
  int err = -1;
};
// Signals that we block are its to hear.
[[nodiscard]] Result<pid_t> spawn_group(const GroupSpawn& what);

}  // namespace dibs
