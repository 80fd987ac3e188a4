#include "git/ref_file_move.h"

#include "git/ref_files.h"

namespace dibs {

namespace {

constexpr unsigned kRefMode = 0644;

// Flushed before it has a name that counts: no loss of power leaves an empty ref.
Done prepare(FileSystem& files, const std::string& path, const std::string& commit) {
  if (Done removed = files.remove(path); !removed) return removed;
  const Result<std::unique_ptr<File>> file = files.open(path, Open::create_append, kRefMode);
  if (!file) return fail(file.error());
  if (Done put = (*file)->append(commit + "\n"); !put) return put;
  return (*file)->sync();
}

/// The lock of a ref, until it has become the ref.
class RefLock {
 public:
  RefLock(FileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}
  RefLock(const RefLock&) = delete;
  RefLock& operator=(const RefLock&) = delete;
  ~RefLock() {
    if (!path_.empty()) (void)files_.remove(path_);
  }

  Done become(const std::string& ref) {
    Done renamed = files_.rename(path_, ref);
    if (renamed) path_.clear();
    return renamed;
  }

 private:
  FileSystem& files_;
  std::string path_;
};

}  // namespace

Result<std::optional<LocalRefs::End>> move_ref_file(FileSystem& files, const RefFilePlace& place,
                                                    const RefMove& move) {
  using Kind = LocalRefs::End::Kind;
  if (move.from.empty() || move.to.empty()) return std::nullopt;
  const std::string ref = place.common_dir + "/" + move.name;
  // git removes the folder when it packs the last ref in it.
  if (!is_there(files, parent_of(ref))) return std::nullopt;
  if (Done prepared = prepare(files, place.prepared, move.to); !prepared)
    return fail(prepared.error());
  if (const Result<bool> locked = files.rename_new(place.prepared, ref + ".lock");
      !locked || !*locked)
    return std::nullopt;
  RefLock lock(files, ref + ".lock");
  const Result<std::string> now = RefFiles(files, place.common_dir).commit_at(move.name);
  if (!now) return fail(now.error());
  if (*now != move.from)
    return LocalRefs::End{.kind = Kind::turned_down, .why = "it is at " + *now};
  if (Done moved = lock.become(ref); !moved) return fail(moved.error());
  if (Done synced = files.sync_directory(parent_of(ref)); !synced)
    return LocalRefs::End{.kind = Kind::unknown, .why = synced.error().message};
  return LocalRefs::End{.kind = Kind::moved, .why = {}};
}

}  // namespace dibs
