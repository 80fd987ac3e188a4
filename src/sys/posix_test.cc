// The real file system, counters and process table, in a temporary directory.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "sys/clock.h"
#include "sys/counters.h"
#include "sys/machine.h"
#include "sys/posix_file_system.h"
#include "sys/randomness.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

class PosixFiles : public testing::Test {
 protected:
  std::unique_ptr<File> opened(const std::string& name, Open how, unsigned mode = kPrivateFile) {
    Result<std::unique_ptr<File>> file = files_.open(temp_ / name, how, mode);
    EXPECT_TRUE(file);
    return file ? *std::move(file) : nullptr;
  }
  unsigned mode_of(const std::string& name) { return files_.status(temp_ / name)->value().mode; }

  TempDirectory temp_;
  PosixFileSystem files_;
};

TEST_F(PosixFiles, AppendReadCutAndMeasure) {
  const auto file = opened("f", Open::create_append);
  ASSERT_TRUE(file->append("hello ") && file->append("world") && file->sync());
  std::string buffer(20, '\0');
  EXPECT_EQ(file->read_at(6, buffer), 5U);
  EXPECT_EQ(buffer.substr(0, 5), "world");
  ASSERT_TRUE(file->truncate(5));
  EXPECT_EQ(file->size(), 5U);
  ASSERT_TRUE(file->append("!"));
  EXPECT_EQ(read_bytes(temp_ / "f"), "hello!") << "at the end, wherever that is";
}

TEST_F(PosixFiles, AreFlushedTogetherAndTheFirstFailureIsTold) {
  std::vector<std::string> paths{temp_ / "none", temp_ / "none/f", temp_ / "."};
  for (int i = 0; i < 40; ++i) {
    paths.push_back(temp_ / ("f" + std::to_string(i)));
    ASSERT_TRUE(opened("f" + std::to_string(i), Open::create_append)->append("x"));
  }
  EXPECT_TRUE(files_.sync_all({}));
  EXPECT_TRUE(files_.sync_all(paths));
  for (const int at : {0, 20, 43}) {
    const std::string link = temp_ / ("link" + std::to_string(at));
    ASSERT_EQ(::symlink("f0", link.c_str()), 0);
    paths.insert(paths.begin() + at, link);
    const Done synced = files_.sync_all(paths);
    ASSERT_FALSE(synced) << at;
    EXPECT_NE(synced.error().message.find(link), std::string::npos) << synced.error().message;
    paths.erase(paths.begin() + at);
  }
}

TEST_F(PosixFiles, TellAbsenceFromFailure) {
  EXPECT_EQ(*files_.open(temp_ / "none", Open::read, kPrivateFile), nullptr);
  EXPECT_EQ(*files_.open(temp_ / "none", Open::append, kPrivateFile), nullptr);
  EXPECT_EQ(*files_.read_file(temp_ / "none", 10), std::nullopt);
  EXPECT_EQ(*files_.status(temp_ / "none"), std::nullopt);
  EXPECT_TRUE(files_.remove(temp_ / "none"));
  EXPECT_FALSE(files_.list(temp_ / "none"));
  EXPECT_FALSE(files_.open(temp_ / "none/f", Open::create_append, kPrivateFile));
}

TEST_F(PosixFiles, FollowNoSymbolicLink) {
  write_bytes(temp_ / "target", "secret");
  make_symlink(temp_ / "target", temp_ / "link");
  for (const Open how : {Open::read, Open::append, Open::create_append}) {
    const auto file = files_.open(temp_ / "link", how, kPrivateFile);
    ASSERT_FALSE(file);
    EXPECT_TRUE(contains(file.error().hint, "symbolic link"));
  }
  EXPECT_FALSE(files_.lock(temp_ / "link", Patience::at_once, kPrivateFile));
  EXPECT_EQ(files_.status(temp_ / "link")->value().kind, FileKind::symlink);
  ASSERT_TRUE(files_.replace_file(temp_ / "link", "new", kPrivateFile));
  EXPECT_EQ(read_bytes(temp_ / "target"), "secret") << "the link was replaced, not followed";
  make_symlink(temp_.path(), temp_ / "dirlink");
  EXPECT_FALSE(files_.make_directory(temp_ / "dirlink", kPrivateDirectory));
}

TEST_F(PosixFiles, ReadAFileUpToABoundAndNoFurther) {
  for (const std::size_t size : {0U, 1U, 4095U, 4096U, 4097U, 100'000U}) {
    const std::string bytes(size, 'x');
    write_bytes(temp_ / "f", bytes);
    EXPECT_EQ(**files_.read_file(temp_ / "f", size), bytes) << size;
    if (size > 0) {
      EXPECT_FALSE(files_.read_file(temp_ / "f", size - 1)) << size;
    }
  }
}

TEST_F(PosixFiles, ReplaceWholeFilesAndLeaveNothingBehind) {
  ASSERT_TRUE(files_.replace_file(temp_ / "f", "one", kPrivateFile));
  ASSERT_TRUE(files_.replace_file(temp_ / "f", "two", 0640));
  EXPECT_EQ(read_bytes(temp_ / "f"), "two");
  EXPECT_EQ(mode_of("f"), 0640U);
  EXPECT_EQ(*files_.list(temp_.path()), (std::vector<std::string>{"f"}));
  EXPECT_FALSE(files_.replace_file(temp_ / "none/f", "x", kPrivateFile));
}

TEST_F(PosixFiles, RenameOverNothingThatIsThere) {
  write_bytes(temp_ / "a", "a");
  write_bytes(temp_ / "b", "b");
  EXPECT_FALSE(*files_.rename_new(temp_ / "a", temp_ / "b"));
  EXPECT_EQ(read_bytes(temp_ / "b"), "b");
  EXPECT_TRUE(*files_.rename_new(temp_ / "a", temp_ / "c"));
  EXPECT_EQ(read_bytes(temp_ / "c"), "a");
  EXPECT_FALSE(files_.rename_new(temp_ / "a", temp_ / "d")) << "there is no a any more";
}

TEST_F(PosixFiles, HaveTheModeThatWasAskedForWhateverTheUmask) {
  const mode_t before = ::umask(0077);
  (void)opened("shared", Open::create_append, 0660);
  ASSERT_TRUE(files_.make_directory(temp_ / "d", 02770));
  ASSERT_TRUE(files_.replace_file(temp_ / "replaced", "", 0664));
  ::umask(before);
  EXPECT_EQ(mode_of("shared"), 0660U);
  EXPECT_EQ(mode_of("d"), 02770U);
  EXPECT_EQ(mode_of("replaced"), 0664U);
  EXPECT_TRUE(files_.make_directory(temp_ / "d", 0700)) << "fine when it is there";
}

TEST_F(PosixFiles, LockOutOthersUntilTheLockEnds) {
  auto held = files_.lock(temp_ / "lock", Patience::at_once, kPrivateFile);
  ASSERT_TRUE(held && *held);
  EXPECT_EQ(*files_.lock(temp_ / "lock", Patience::at_once, kPrivateFile), nullptr);
  std::atomic<bool> got = false;
  std::thread waiter([&] {
    PosixFileSystem files;
    const auto lock = files.lock(temp_ / "lock", Patience::wait, kPrivateFile);
    got = lock && *lock;
  });
  held->reset();
  waiter.join();
  EXPECT_TRUE(got);
  EXPECT_TRUE(files_.status(temp_ / "lock")->has_value()) << "never unlinked";
}

TEST_F(PosixFiles, DoNotHandTheirDescriptorsToChildren) {
  const auto held = files_.lock(temp_ / "lock", Patience::at_once, kPrivateFile);
  const auto file = opened("f", Open::create_append);
  // A child that would keep them open shows them in its own table.
  const std::string script = "! ls -l /proc/self/fd | grep -q '" + temp_.path() + "'";
  EXPECT_TRUE(run_program({"sh", "-c", script}));
}

TEST_F(PosixFiles, WatchSeesWhatChangedBeforeItWaited) {
  const auto watch = files_.watch(temp_.path());
  write_bytes(temp_ / "f", "x");
  watch->wait(60'000);  // returns, or the test never ends
  watch->wait(1);
  std::thread writer([&] { write_bytes(temp_ / "g", "x"); });
  watch->wait(60'000);
  writer.join();
}

TEST_F(PosixFiles, TrustThisFileSystem) {
  EXPECT_EQ(files_.untrusted_kind(temp_.path()), std::nullopt);
}

TEST_F(PosixFiles, CountersAddUpOverThreadsAndReopening) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      MappedCounters counters(temp_ / "counters", kPrivateFile);
      for (int n = 0; n < 250; ++n) counters.add(Counter::conflicts, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  MappedCounters counters(temp_ / "counters", kPrivateFile);
  counters.add(Counter::stale_claimed, 7);
  counters.add(kCounterCount, 1);  // no such slot: nothing happens
  EXPECT_EQ(counters.read()[static_cast<std::size_t>(Counter::conflicts)], 1000U);
  EXPECT_EQ(counters.read()[static_cast<std::size_t>(Counter::stale_claimed)], 7U);
}

TEST_F(PosixFiles, CountersLeaveAForeignFileAlone) {
  const std::string foreign(8192, 'x');
  write_bytes(temp_ / "counters", foreign);
  MappedCounters counters(temp_ / "counters", kPrivateFile);
  counters.add(Counter::conflicts, 1);
  EXPECT_EQ(counters.read(), Counts{});
  EXPECT_EQ(read_bytes(temp_ / "counters"), foreign);
  MappedCounters nowhere(temp_ / "none/counters", kPrivateFile);
  nowhere.add(Counter::conflicts, 1);
  EXPECT_EQ(nowhere.read(), Counts{});
}

// --- processes ---

pid_t start_sleeper() {
  std::string program = "sleep";
  std::string time = "600";
  std::vector<char*> argv{program.data(), time.data(), nullptr};
  pid_t pid = 0;
  EXPECT_EQ(posix_spawnp(&pid, "sleep", nullptr, nullptr, argv.data(), environ), 0);
  return pid;
}

TEST(LinuxMachine, SeesAProcessLiveLingerAndGo) {
  LinuxMachine machine;
  const pid_t pid = start_sleeper();
  const auto seen = machine.find_process(pid);
  ASSERT_TRUE(seen);
  EXPECT_FALSE(seen->zombie);
  EXPECT_EQ(machine.presence(pid, seen->start_ticks), Presence::running);
  EXPECT_EQ(machine.presence(pid, seen->start_ticks + 1), Presence::gone) << "a reused pid";
  ::kill(pid, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(machine.find_process(pid)->zombie);
  EXPECT_EQ(machine.presence(pid, seen->start_ticks), Presence::gone) << "a zombie";
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  EXPECT_EQ(machine.presence(pid, seen->start_ticks), Presence::gone);
}

TEST(LinuxMachine, KnowsItself) {
  LinuxMachine machine;
  EXPECT_EQ(machine.own_pid(), ::getpid());
  EXPECT_TRUE(machine.find_process(machine.own_pid()));
  EXPECT_NE(machine.pid_namespace(), 0U);
  EXPECT_FALSE(machine.host_name().empty());
  EXPECT_FALSE(machine.boot_id().empty());
}

TEST(SystemClock, RunsForwardWithinOneBoot) {
  SystemClock clock;
  const Instant before = clock.now();
  const std::int64_t watch = clock.stopwatch_us();
  clock.sleep_ms(2);
  EXPECT_GT(clock.now().boot_ms, before.boot_ms);
  EXPECT_GE(clock.stopwatch_us() - watch, 2000);
  EXPECT_EQ(clock.now().boot, before.boot);
  EXPECT_FALSE(before.boot.empty());
}

TEST(SystemRandom, NeverRepeatsItself) {
  SystemRandom random;
  EXPECT_NE(random.nonce(), random.nonce());
  EXPECT_TRUE(is_ulid(random.lease_id(1'767'441'600'000).text));
  EXPECT_LT(random.below(3), 3U);
  EXPECT_EQ(random.below(0), 0U);
}

}  // namespace
}  // namespace dibs
