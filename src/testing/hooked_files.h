// Another file system, as one sees it to whom something happens: before every call a test may do
// what another process does in that moment, or have the call fail.
//
//   HookedFiles files(disk);
//   files.before_each([&](const std::string& path) { return failure.next(path); });
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sys/file_system.h"

namespace dibs {

class HookedFiles final : public FileSystem {
 public:
  // Called with the path; an error is what the call then ends with.
  using Hook = std::function<Done(const std::string& path)>;

  explicit HookedFiles(FileSystem& files) : files_(files) {}
  void before_each(Hook hook) { hook_ = std::move(hook); }
  // Of the kind that cannot be trusted, such as "nfs".
  void are_on(std::string kind) { kind_ = std::move(kind); }

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
  [[nodiscard]] std::optional<std::string> untrusted_kind(const std::string& path) override {
    return kind_ ? kind_ : files_.untrusted_kind(path);
  }
  [[nodiscard]] std::unique_ptr<DirectoryWatch> watch(const std::string& directory) override {
    return files_.watch(directory);
  }

 private:
  class OpenFile;
  [[nodiscard]] Done call(const std::string& path) { return hook_ ? hook_(path) : Done{}; }

  FileSystem& files_;
  Hook hook_;
  std::optional<std::string> kind_;
};

}  // namespace dibs
