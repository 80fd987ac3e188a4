// The disk of a machine as one of its processes sees it. Every call is a step of the process, and
// what a call does in several steps (replacing a file) can be cut short between them. Waiting, for
// a lock or for a change, lets the others go on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sys/file_system.h"

namespace dibs::sim {

class Process;

class ProcessFiles final : public FileSystem {
 public:
  explicit ProcessFiles(Process& process) : process_(process) {}

  [[nodiscard]] Result<std::unique_ptr<File>> open(const std::string& path, Open how,
                                                   unsigned mode) override;
  [[nodiscard]] Result<std::unique_ptr<FileLock>> lock(const std::string& path, Patience patience,
                                                       unsigned mode) override;
  [[nodiscard]] Result<std::optional<std::string>> read_file(const std::string& path,
                                                             std::size_t most) override;
  [[nodiscard]] Done replace_file(const std::string& path, std::string_view contents,
                                  unsigned mode) override;
  [[nodiscard]] Done rename(const std::string& from, const std::string& to) override;
  [[nodiscard]] Result<bool> rename_new(const std::string& from, const std::string& to) override;
  [[nodiscard]] Done remove(const std::string& path) override;
  [[nodiscard]] Done sync_directory(const std::string& path) override;
  [[nodiscard]] Done make_directory(const std::string& path, unsigned mode) override;
  [[nodiscard]] Done change_mode(const std::string& path, unsigned mode) override;
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& directory) override;
  [[nodiscard]] Result<std::optional<FileStatus>> status(const std::string& path) override;
  [[nodiscard]] Result<std::string> real_path(const std::string& path) override;
  [[nodiscard]] std::optional<std::string> untrusted_kind(const std::string& path) override;
  [[nodiscard]] std::unique_ptr<DirectoryWatch> watch(const std::string& directory) override;

 private:
  class OpenFile;
  class Watch;
  [[nodiscard]] Done write_aside(const std::string& path, std::string_view contents, unsigned mode);
  // A step that changes the disk, which may fail.
  [[nodiscard]] bool step_of_change();

  Process& process_;
};

}  // namespace dibs::sim
