// A process we started. It never outlives its handle: what is still running then is killed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace dibs {

struct ChildStart {
  std::vector<std::string> command;  // looked up in PATH unless it holds a slash
  std::string directory;
};

class Child {
 public:
  // Its standard input and output are /dev/null; errors go where ours go.
  [[nodiscard]] static Result<Child> start(const ChildStart& start);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  [[nodiscard]] std::int64_t pid() const { return pid_; }
  // The exit code once it has ended, 128 + N when signal N ended it; nothing while it runs.
  [[nodiscard]] std::optional<int> poll();
  [[nodiscard]] int wait();
  void kill();

 private:
  explicit Child(std::int64_t pid) : pid_(pid) {}

  std::int64_t pid_ = 0;
  std::optional<int> ended_;
};

}  // namespace dibs
