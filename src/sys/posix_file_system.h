// The file system of this machine.
#pragma once

#include "sys/file_system.h"

namespace dibs {

class PosixFileSystem final : public FileSystem {
 public:
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
  [[nodiscard]] Done sync_all(const std::vector<std::string>& paths) override;
  [[nodiscard]] Done make_directory(const std::string& path, unsigned mode) override;
  [[nodiscard]] Done change_mode(const std::string& path, unsigned mode) override;
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& directory) override;
  [[nodiscard]] Result<std::optional<FileStatus>> status(const std::string& path) override;
  [[nodiscard]] Result<std::string> real_path(const std::string& path) override;
  [[nodiscard]] std::optional<std::string> untrusted_kind(const std::string& path) override;
  [[nodiscard]] std::unique_ptr<DirectoryWatch> watch(const std::string& directory) override;
};

}  // namespace dibs
