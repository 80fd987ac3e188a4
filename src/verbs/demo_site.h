// The scratch repository that a demo works in: set up, asked what happened, and the agent that is
// paused beside the run. Only the demo uses this.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "verbs/demo_plan.h"
#include "verbs/demo_proof.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

class DemoSite {
 public:
  // Writes the project, sets dibs up in it, trusts its gate, adds the items.
  [[nodiscard]] static Result<DemoSite> make(Workspace& outer, const DemoPlan& plan,
                                             const std::string& directory);
  DemoSite(DemoSite&&) = default;
  DemoSite& operator=(DemoSite&&) = delete;
  DemoSite(const DemoSite&) = delete;
  DemoSite& operator=(const DemoSite&) = delete;
  ~DemoSite();  // nothing that it started stays

  // As the agent that the run is.
  [[nodiscard]] Workspace& workspace() { return *workspace_; }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] bool has_compiler() const;
  // NAME=value that the sleeper has in its environment.
  [[nodiscard]] std::string mark() const;

  // Until the sleeper has done its work on the item and is stopped.
  [[nodiscard]] Done put_to_sleep(const std::string& item);
  // Until its lease has lapsed.
  [[nodiscard]] Done sleep_over(const std::string& item);
  void wake();
  // What its `dibs done` ended with.
  [[nodiscard]] std::optional<std::int64_t> sleeper_exit();

 private:
  DemoSite(std::unique_ptr<Workspace> workspace, std::string directory)
      : workspace_(std::move(workspace)), directory_(std::move(directory)) {}
  [[nodiscard]] bool is_there(const std::string& file);

  std::unique_ptr<Workspace> workspace_;
  std::string directory_;  // empty: moved from
};

// A line for the shell, run to its end; its exit code.
[[nodiscard]] Result<int> run_shell(const std::string& directory, const std::string& line);

}  // namespace dibs::verbs
