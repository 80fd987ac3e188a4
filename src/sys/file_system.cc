#include "sys/file_system.h"

namespace dibs {

Result<std::string_view> File::contents() {
  const Result<std::uint64_t> bytes = size();
  if (!bytes) return fail(bytes.error());
  contents_.resize(*bytes);
  const Result<std::size_t> got = read_at(0, contents_);
  if (!got) return fail(got.error());
  return std::string_view(contents_).substr(0, *got);
}

namespace {

Done sync_one(FileSystem& files, const std::string& path) {
  const Result<std::optional<FileStatus>> status = files.status(path);
  if (!status) return fail(status.error());
  if (!status->has_value()) return {};
  if ((*status)->kind == FileKind::directory) {
    Done synced = files.sync_directory(path);
    return synced || is_there(files, path) ? synced : Done{};
  }
  const Result<std::unique_ptr<File>> file = files.open(path, Open::read);
  if (!file) return fail(file.error());
  return *file == nullptr ? Done{} : (*file)->sync();
}

}  // namespace

Done FileSystem::sync_all(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (Done synced = sync_one(*this, path); !synced) return synced;
  }
  return {};
}

bool is_there(FileSystem& files, const std::string& path) {
  const Result<std::optional<FileStatus>> status = files.status(path);
  return !status || status->has_value();
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

}  // namespace dibs
