// Planted bugs in how git is called: another command line than dibs made, or another answer than
// git gave.
#pragma once

#include "planted.h"
#include "sys/programs.h"

namespace dibs::sim {

class SpoiledGit final : public Programs {
 public:
  SpoiledGit(Programs& git, Bug bug) : git_(git), bug_(bug) {}
  [[nodiscard]] Result<ProgramEnd> run(const ProgramCall& call) override;

 private:
  [[nodiscard]] Result<ProgramEnd> without_the_ledger(const ProgramCall& call);

  Programs& git_;
  Bug bug_;
};

}  // namespace dibs::sim
