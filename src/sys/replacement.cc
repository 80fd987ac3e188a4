#include "sys/replacement.h"

#include <fmt/core.h>

#include "sys/randomness.h"

namespace dibs {

Result<Replacement> Replacement::begin(FileSystem& files, std::string path, unsigned mode) {
  std::string temp = fmt::format("{}.{}.tmp", path, SystemRandom().nonce().hex());
  Result<std::unique_ptr<File>> file = files.open(temp, Open::create_append, mode);
  if (!file) return fail(file.error());
  return Replacement(files, std::move(path), std::move(temp), *std::move(file));
}

Replacement::~Replacement() {
  if (file_ != nullptr) (void)files_.remove(temp_);
}

Done Replacement::put_in_place(Keep keep) {
  const bool flushed = keep == Keep::through_power_loss;
  if (flushed) {
    if (Done synced = file_->sync(); !synced) return synced;
  }
  if (Done renamed = files_.rename(temp_, path_); !renamed) return renamed;
  file_.reset();
  return flushed ? files_.sync_directory(parent_of(path_)) : Done{};
}

}  // namespace dibs
