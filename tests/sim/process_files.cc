#include "process_files.h"

#include <fmt/core.h>

#include "process.h"

namespace dibs::sim {

namespace {
tl::unexpected<Error> dead() { return fail(ErrorKind::internal, "the process is dead"); }

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// What a process with a certain bug takes for a lock.
class NoLock final : public FileLock {};

/// What it takes for the mark that a line is under way.
class NoMark final : public File {
 public:
  Result<std::size_t> read_at(std::uint64_t, std::span<char>) override { return 0; }
  Done append(std::string_view) override { return {}; }
  Done truncate(std::uint64_t) override { return {}; }
  Done sync() override { return {}; }
  Result<std::uint64_t> size() override { return 0; }
};
}  // namespace

bool ProcessFiles::step_of_change() {
  if (process_.only_looks() || !process_.step()) return false;
  Host& host = process_.host();
  if (process_.schedule().dice().one_in(host.weather().disk_fault_one_in)) host.disk().fail_at(1);
  return true;
}

class ProcessFiles::OpenFile final : public File {
 public:
  OpenFile(ProcessFiles& files, std::unique_ptr<File> file)
      : files_(files), process_(files.process_), file_(std::move(file)) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> buffer) override {
    if (!process_.step()) return dead();
    return file_->read_at(offset, buffer);
  }
  Done append(std::string_view bytes) override {
    if (!files_.step_of_change()) return dead();
    Done done = file_->append(bytes);
    return process_.bug() == Bug::a_failed_write_is_passed_over ? Done{} : done;
  }
  Done truncate(std::uint64_t size) override {
    // One that refuses to flush and then to cut promises nothing (docs/guarantees.md).
    if (!(flush_failed_ ? process_.step() : files_.step_of_change())) return dead();
    return process_.bug() == Bug::a_torn_end_stays ? Done{} : file_->truncate(size);
  }
  Done sync() override {
    process_.about_to_flush();
    if (!files_.step_of_change()) return dead();
    if (process_.bug() == Bug::no_flush) return {};
    Done done = file_->sync();
    flush_failed_ = !done;
    if (flush_failed_) process_.spare();
    return !done && process_.bug() == Bug::a_failed_flush_is_repeated ? file_->sync() : done;
  }
  Result<std::uint64_t> size() override {
    if (!process_.step()) return dead();
    return file_->size();
  }

 private:
  ProcessFiles& files_;
  Process& process_;
  std::unique_ptr<File> file_;
  bool flush_failed_ = false;
};

class ProcessFiles::Watch final : public DirectoryWatch {
 public:
  explicit Watch(Process& process) : process_(process), seen_(process.host().disk().changes()) {}

  void wait(std::int64_t most_ms) override {
    Schedule& schedule = process_.schedule();
    FakeDisk& disk = process_.host().disk();
    schedule.wait([&] { return !process_.alive() || disk.changes() != seen_; },
                  schedule.now_ms() + most_ms);
    seen_ = disk.changes();
    (void)process_.step();
  }

 private:
  Process& process_;
  std::uint64_t seen_;
};

Result<std::unique_ptr<File>> ProcessFiles::open(const std::string& path, Open how, unsigned mode) {
  if (!process_.step()) return dead();
  if (process_.bug() == Bug::a_dead_writers_line_is_built_on && path.ends_with("claims.lock"))
    return std::make_unique<NoMark>();
  Result<std::unique_ptr<File>> file = process_.host().disk().open(path, how, mode);
  if (!file || !*file) return file;
  return std::make_unique<OpenFile>(*this, *std::move(file));
}

Result<std::unique_ptr<FileLock>> ProcessFiles::lock(const std::string& path, Patience patience,
                                                     unsigned mode) {
  if (!process_.step()) return dead();
  if (process_.bug() == Bug::a_lock_for_two) return std::make_unique<NoLock>();
  FakeDisk& disk = process_.host().disk();
  Result<std::unique_ptr<FileLock>> lock = disk.lock(path, Patience::at_once, mode);
  if (!lock || *lock || patience == Patience::at_once) return lock;
  if (process_.only_looks()) return fail(ErrorKind::unreachable, path + " is locked");
  Schedule& schedule = process_.schedule();
  const auto taken = [&] {
    if (!process_.alive()) return true;
    lock = disk.lock(path, Patience::at_once, mode);
    return !lock || *lock;
  };
  const bool got = schedule.wait(taken, schedule.now_ms() + kLockWaitMs);
  if (!process_.alive()) return dead();
  if (!got) return fail(ErrorKind::unreachable, path + " is locked for too long");
  return lock;
}

Result<std::optional<std::string>> ProcessFiles::read_file(const std::string& path,
                                                           std::size_t most) {
  if (!process_.step()) return dead();
  return process_.host().disk().read_file(path, most);
}

Done ProcessFiles::write_aside(const std::string& path, std::string_view contents, unsigned mode) {
  const Result<std::unique_ptr<File>> file = open(path, Open::create_append, mode);
  if (!file) return fail(file.error());
  if (Done written = (*file)->append(contents); !written) return written;
  return process_.bug() == Bug::replaced_without_a_flush ? Done{} : (*file)->sync();
}

// As the real one does it.
Done ProcessFiles::replace_file(const std::string& path, std::string_view contents, unsigned mode) {
  const std::string temp = fmt::format("{}.{}.tmp", path, process_.random().nonce().hex());
  Done done = write_aside(temp, contents, mode);
  if (done) done = rename(temp, path);
  if (!done) {
    (void)remove(temp);
    return done;
  }
  return sync_directory(directory_of(path));
}

Result<bool> ProcessFiles::rename_new(const std::string& from, const std::string& to) {
  if (!step_of_change()) return dead();
  return process_.host().disk().rename_new(from, to);
}

Done ProcessFiles::rename(const std::string& from, const std::string& to) {
  return step_of_change() ? process_.host().disk().rename(from, to) : dead();
}

Done ProcessFiles::remove(const std::string& path) {
  return step_of_change() ? process_.host().disk().remove(path) : dead();
}

Done ProcessFiles::sync_directory(const std::string& path) {
  if (!step_of_change()) return dead();
  return process_.bug() == Bug::no_directory_flush ? Done{}
                                                   : process_.host().disk().sync_directory(path);
}

Done ProcessFiles::make_directory(const std::string& path, unsigned mode) {
  return step_of_change() ? process_.host().disk().make_directory(path, mode) : dead();
}

Done ProcessFiles::change_mode(const std::string& path, unsigned mode) {
  return process_.step() ? process_.host().disk().change_mode(path, mode) : dead();
}

Result<std::vector<std::string>> ProcessFiles::list(const std::string& directory) {
  if (!process_.step()) return dead();
  return process_.host().disk().list(directory);
}

Result<std::optional<FileStatus>> ProcessFiles::status(const std::string& path) {
  if (!process_.step()) return dead();
  return process_.host().disk().status(path);
}

Result<std::string> ProcessFiles::real_path(const std::string& path) {
  return process_.host().disk().real_path(path);
}

std::optional<std::string> ProcessFiles::untrusted_kind(const std::string&) { return std::nullopt; }

std::unique_ptr<DirectoryWatch> ProcessFiles::watch(const std::string&) {
  return std::make_unique<Watch>(process_);
}

}  // namespace dibs::sim
