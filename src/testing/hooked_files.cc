#include "testing/hooked_files.h"

namespace dibs {

class HookedFiles::OpenFile final : public File {
 public:
  OpenFile(HookedFiles& files, std::string path, std::unique_ptr<File> file)
      : files_(files), path_(std::move(path)), file_(std::move(file)) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> buffer) override {
    if (Done may = files_.call(path_); !may) return fail(may.error());
    return file_->read_at(offset, buffer);
  }
  Done append(std::string_view bytes) override {
    if (Done may = files_.call(path_); !may) return may;
    return file_->append(bytes);
  }
  Done truncate(std::uint64_t size) override {
    if (Done may = files_.call(path_); !may) return may;
    return file_->truncate(size);
  }
  Done sync() override {
    if (Done may = files_.call(path_); !may) return may;
    return file_->sync();
  }
  Result<std::uint64_t> size() override {
    if (Done may = files_.call(path_); !may) return fail(may.error());
    return file_->size();
  }

 private:
  HookedFiles& files_;
  std::string path_;
  std::unique_ptr<File> file_;
};

Result<std::unique_ptr<File>> HookedFiles::open(const std::string& path, Open how, unsigned mode) {
  if (Done may = call(path); !may) return fail(may.error());
  Result<std::unique_ptr<File>> file = files_.open(path, how, mode);
  if (!file || !*file) return file;
  return std::make_unique<OpenFile>(*this, path, *std::move(file));
}

Result<std::unique_ptr<FileLock>> HookedFiles::lock(const std::string& path, Patience patience,
                                                    unsigned mode) {
  if (Done may = call(path); !may) return fail(may.error());
  return files_.lock(path, patience, mode);
}

Result<std::optional<std::string>> HookedFiles::read_file(const std::string& path,
                                                          std::size_t most) {
  if (Done may = call(path); !may) return fail(may.error());
  return files_.read_file(path, most);
}

Done HookedFiles::replace_file(const std::string& path, std::string_view contents, unsigned mode) {
  if (Done may = call(path); !may) return may;
  return files_.replace_file(path, contents, mode);
}

Done HookedFiles::rename(const std::string& from, const std::string& to) {
  if (Done may = call(from); !may) return may;
  return files_.rename(from, to);
}

Result<bool> HookedFiles::rename_new(const std::string& from, const std::string& to) {
  if (Done may = call(from); !may) return fail(may.error());
  return files_.rename_new(from, to);
}

Done HookedFiles::remove(const std::string& path) {
  if (Done may = call(path); !may) return may;
  return files_.remove(path);
}

Done HookedFiles::sync_directory(const std::string& path) {
  if (Done may = call(path); !may) return may;
  return files_.sync_directory(path);
}

Done HookedFiles::make_directory(const std::string& path, unsigned mode) {
  if (Done may = call(path); !may) return may;
  return files_.make_directory(path, mode);
}

Done HookedFiles::change_mode(const std::string& path, unsigned mode) {
  if (Done may = call(path); !may) return may;
  return files_.change_mode(path, mode);
}

Result<std::vector<std::string>> HookedFiles::list(const std::string& directory) {
  if (Done may = call(directory); !may) return fail(may.error());
  return files_.list(directory);
}

Result<std::optional<FileStatus>> HookedFiles::status(const std::string& path) {
  if (Done may = call(path); !may) return fail(may.error());
  return files_.status(path);
}

Result<std::string> HookedFiles::real_path(const std::string& path) {
  if (Done may = call(path); !may) return fail(may.error());
  return files_.real_path(path);
}

}  // namespace dibs
