// The fakes are what every other test stands on, so they are tested first.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "testing/fake_clock.h"
#include "testing/fake_disk.h"
#include "testing/fake_machine.h"
#include "testing/hooked_files.h"
#include "testing/hooked_programs.h"
#include "testing/nth_failure.h"
#include "testing/seeded_random.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

TEST(FakeClock, MovesAllClocksWhenTimePasses) {
  FakeClock clock;
  const Instant before = clock.now();
  clock.advance_ms(1500);
  EXPECT_EQ(clock.now(), later_by(before, 1500));
  EXPECT_EQ(clock.stopwatch_us(), 1'500'000);
}

TEST(FakeClock, SetsTheWallClockAlone) {
  FakeClock clock;
  const Instant before = clock.now();
  clock.jump_wall_ms(-86'400'000);
  EXPECT_EQ(clock.now().unix_ms, before.unix_ms - 86'400'000);
  EXPECT_EQ(clock.now().boot_ms, before.boot_ms);
  EXPECT_EQ(clock.now().boot, before.boot);
}

TEST(FakeClock, SleepingMovesItAndIsCounted) {
  FakeClock clock;
  const Instant before = clock.now();
  clock.sleep_ms(20);
  clock.sleep_ms(-5);
  EXPECT_EQ(ms_until(clock.now(), before), 20);
  EXPECT_EQ(clock.slept_ms(), 20);
}

TEST(FakeClock, ARebootBeginsANewBootAtZero) {
  FakeClock clock;
  const Instant before = clock.now();
  clock.reboot(5000);
  EXPECT_NE(clock.now().boot, before.boot);
  EXPECT_EQ(clock.now().boot_ms, 0);
  EXPECT_EQ(clock.now().unix_ms, before.unix_ms + 5000);
}

TEST(SeededRandom, RepeatsItselfForOneSeedOnly) {
  SeededRandom one(7);
  SeededRandom same(7);
  SeededRandom other(8);
  const Nonce nonce = one.nonce();
  EXPECT_EQ(nonce, same.nonce());
  EXPECT_NE(nonce, other.nonce());
  EXPECT_NE(nonce, one.nonce());
}

TEST(FakeMachine, TellsAProcessFromALaterOneWithItsPid) {
  FakeMachine machine;
  machine.start(42, 1000);
  EXPECT_EQ(machine.presence(42, 1000), Presence::running);
  EXPECT_EQ(machine.presence(42, 999), Presence::gone);
  machine.end(42);
  EXPECT_EQ(machine.presence(42, 1000), Presence::gone);
  machine.start(42, 2000);
  EXPECT_EQ(machine.presence(42, 1000), Presence::gone);
}

TEST(FakeMachine, KnowsZombiesHiddenProcessesAndReboots) {
  FakeMachine machine;
  machine.start(1, 10);
  machine.leave_zombie(1);
  EXPECT_EQ(machine.presence(1, 10), Presence::gone);
  machine.start(2, 10);
  machine.hide(2);
  EXPECT_EQ(machine.presence(2, 10), Presence::unknown);
  machine.reboot({"boot-2"});
  EXPECT_EQ(machine.presence(2, 10), Presence::gone);
}

class FakeDiskTest : public testing::Test {
 protected:
  FakeDiskTest() { disk_.make_durable_directory("/d"); }

  std::unique_ptr<File> file(const std::string& path = "/d/f") {
    return *disk_.open(path, Open::create_append, kPrivateFile);
  }
  void make_durable(const std::string& path, const std::string& bytes) {
    const auto made = file(path);
    ASSERT_TRUE(made->append(bytes) && made->sync() && disk_.sync_directory("/d"));
  }

  FakeClock clock_;
  FakeDisk disk_{clock_};
};

TEST_F(FakeDiskTest, ReadsBackWhatWasAppended) {
  const auto f = file();
  ASSERT_TRUE(f->append("hello ") && f->append("world"));
  std::string buffer(5, '\0');
  EXPECT_EQ(f->read_at(6, buffer), 5U);
  EXPECT_EQ(buffer, "world");
  EXPECT_EQ(f->read_at(9, buffer), 2U);
  EXPECT_EQ(disk_.contents("/d/f"), "hello world");
}

TEST_F(FakeDiskTest, KeepsWhatWasSyncedThroughAnyCrash) {
  make_durable("/d/f", std::string(3000, 'x'));
  for (int i = 0; i < 20; ++i) {
    disk_.crash();
    EXPECT_EQ(disk_.contents("/d/f"), std::string(3000, 'x'));
  }
}

TEST_F(FakeDiskTest, MayLoseAnyPartOfWhatWasNotSynced) {
  std::set<std::string> seen;
  for (int i = 0; i < 200; ++i) {
    const std::string path = "/d/" + std::to_string(i);
    make_durable(path, "kept");
    ASSERT_TRUE(file(path)->append(std::string(1200, 'y')));
    disk_.crash();
    const std::string after = disk_.contents(path).value();
    ASSERT_EQ(after.substr(0, 4), "kept");
    seen.insert(after.substr(4));
  }
  EXPECT_TRUE(seen.contains("")) << "nothing survived, at least once";
  EXPECT_TRUE(seen.contains(std::string(1200, 'y'))) << "everything survived, at least once";
  const auto is_hole = [](const std::string& s) { return s.find(std::string(512, '\0')) == 508; };
  EXPECT_TRUE(std::ranges::any_of(seen, is_hole)) << "a sector was never written, at least once";
}

TEST_F(FakeDiskTest, MayLoseAFileWhoseDirectoryWasNotSynced) {
  std::set<bool> survived;
  for (int i = 0; i < 50; ++i) {
    const std::string path = "/d/" + std::to_string(i);
    const auto made = file(path);
    ASSERT_TRUE(made->append("bytes") && made->sync());
    disk_.crash();
    survived.insert(disk_.contents(path).has_value());
  }
  EXPECT_EQ(survived.size(), 2U);
}

TEST_F(FakeDiskTest, MayUndoARenameThatWasNotSyncedButNeverHalfOfIt) {
  std::set<bool> moved;
  for (int i = 0; i < 50; ++i) {
    const std::string from = "/d/a" + std::to_string(i);
    const std::string to = "/d/b" + std::to_string(i);
    make_durable(from, "bytes");
    ASSERT_TRUE(disk_.rename(from, to));
    disk_.crash();
    EXPECT_NE(disk_.contents(from).has_value(), disk_.contents(to).has_value());
    moved.insert(disk_.contents(to).has_value());
  }
  EXPECT_EQ(moved.size(), 2U);
}

TEST_F(FakeDiskTest, AFailedSyncForgetsWhatItShouldHaveWritten) {
  bool lost = false;
  for (int i = 0; i < 50 && !lost; ++i) {
    const std::string path = "/d/" + std::to_string(i);
    make_durable(path, "kept");
    const auto f = file(path);
    ASSERT_TRUE(f->append(std::string(2000, 'z')));
    disk_.fail_at(1);
    EXPECT_FALSE(f->sync());
    EXPECT_TRUE(f->sync()) << "the second sync claims success, as on Linux";
    EXPECT_EQ(f->size(), 2004U) << "a reader sees it until the crash";
    disk_.crash();
    lost = disk_.contents(path) != "kept" + std::string(2000, 'z');
  }
  EXPECT_TRUE(lost);
}

TEST_F(FakeDiskTest, FailsExactlyTheCallThatWasNamed) {
  const auto f = file();
  disk_.fail_at(2);
  EXPECT_TRUE(f->append("a"));
  EXPECT_FALSE(f->append("b"));
  EXPECT_TRUE(f->append("c"));
}

TEST_F(FakeDiskTest, AnswersNothingWithoutPowerAndForgetsOpenFilesAfterIt) {
  const auto f = file();
  const auto held = disk_.lock("/d/lock", Patience::wait, kPrivateFile);
  disk_.lose_power_at(1);
  EXPECT_FALSE(f->append("a"));
  EXPECT_TRUE(disk_.power_is_out());
  EXPECT_FALSE(disk_.status("/d"));
  EXPECT_FALSE(disk_.lock("/d/lock", Patience::wait, kPrivateFile));
  disk_.crash();
  EXPECT_TRUE(disk_.status("/d"));
  EXPECT_FALSE(f->append("a")) << "opened before the crash";
  EXPECT_NE(*disk_.lock("/d/lock", Patience::at_once, kPrivateFile), nullptr);
}

TEST_F(FakeDiskTest, ReplacesAFileWholeOrNotAtAllAtEveryPointOfFailure) {
  make_durable("/d/f", "old");
  for (std::uint64_t nth = 1; nth <= 5; ++nth) {
    disk_.lose_power_at(nth);
    EXPECT_FALSE(disk_.replace_file("/d/f", "new", kPrivateFile));
    disk_.crash();
    const auto after = disk_.contents("/d/f");
    EXPECT_TRUE(after == "old" || after == "new") << nth;
    disk_.put("/d/f", "old");
  }
  ASSERT_TRUE(disk_.replace_file("/d/f", "new", kPrivateFile));
  disk_.crash();
  EXPECT_EQ(disk_.contents("/d/f"), "new");
}

TEST_F(FakeDiskTest, IsFullAtItsCapacityAndHasRoomAgainAfterARemoval) {
  make_durable("/d/ballast", std::string(100, 'b'));
  const auto f = file();
  disk_.set_capacity(disk_.used_bytes() + 10);
  EXPECT_FALSE(f->append(std::string(20, 'x')));
  EXPECT_EQ(f->size(), 10U) << "a prefix was written";
  ASSERT_TRUE(f->truncate(0) && disk_.remove("/d/ballast"));
  EXPECT_TRUE(f->append(std::string(20, 'x')));
}

TEST_F(FakeDiskTest, ALockExcludesAnotherAndIsFreeWhenItEnds) {
  auto first = disk_.lock("/d/lock", Patience::at_once, kPrivateFile);
  EXPECT_NE(*first, nullptr);
  EXPECT_EQ(*disk_.lock("/d/lock", Patience::at_once, kPrivateFile), nullptr);
  first->reset();
  EXPECT_NE(*disk_.lock("/d/lock", Patience::at_once, kPrivateFile), nullptr);
}

TEST(TempDirectory, IsThereAndThenGone) {
  std::string path;
  {
    const TempDirectory directory;
    path = directory.path();
    write_bytes(directory / "f", "x");
    EXPECT_EQ(read_bytes(path + "/f"), "x");
  }
  EXPECT_FALSE(run_program({"test", "-e", path}));
}

TEST(RunGit, SaysWhetherGitSucceeded) {
  const TempDirectory directory;
  EXPECT_TRUE(make_repository(directory / "repo"));
  EXPECT_TRUE(run_git(directory / "repo", {"rev-parse", "HEAD"}));
  EXPECT_FALSE(run_git(directory / "repo", {"rev-parse", "--verify", "nowhere"}));
}

TEST(HookedFiles, EveryCallMayFailAndThenHasNotHappened) {
  FakeClock clock;
  FakeDisk disk(clock);
  disk.make_durable_directory("/d");
  disk.put("/d/file", "text");
  HookedFiles files(disk);
  NthFailure failure;
  files.before_each([&](const std::string& path) { return failure.next(path); });
  const auto all = [&] {
    std::size_t failed = 0;
    const auto count = [&](const auto& result) { failed += result ? 0U : 1U; };
    count(files.lock("/d/lock", Patience::wait, kPrivateFile));
    count(files.read_file("/d/file", 100));
    count(files.replace_file("/d/other", "x", kPrivateFile));
    count(files.rename("/d/other", "/d/renamed"));
    count(files.rename_new("/d/renamed", "/d/again"));
    count(files.remove("/d/again"));
    count(files.sync_directory("/d"));
    count(files.make_directory("/d/below", kPrivateDirectory));
    count(files.change_mode("/d/file", kPrivateFile));
    count(files.list("/d"));
    count(files.status("/d/file"));
    count(files.real_path("/d/file"));
    const auto file = files.open("/d/file", Open::append, kPrivateFile);
    count(file);
    if (!file) return failed;
    count((*file)->append("more"));
    count((*file)->truncate(4));
    count((*file)->sync());
    count((*file)->size());
    std::string bytes(4, ' ');
    count((*file)->read_at(0, bytes));
    return failed;
  };
  EXPECT_EQ(all(), 0U);
  std::size_t calls = 0;
  failure.at_every_call([&] {
    EXPECT_LE(all(), 3U) << "what was not replaced cannot be renamed";
    ++calls;
  });
  EXPECT_EQ(calls, 19U) << "the last time none fails";
  EXPECT_EQ(*files.open("/d/none", Open::read, kPrivateFile), nullptr);
  EXPECT_FALSE(files.untrusted_kind("/d"));
  files.are_on("nfs");
  EXPECT_EQ(files.untrusted_kind("/d"), "nfs");
  EXPECT_TRUE(files.watch("/d"));
}

TEST(HookedPrograms, MayAnswerInTheProgramsPlace) {
  PosixPrograms real;
  HookedPrograms programs(real);
  const ProgramCall call{.command = {"true"}, .directory = "/", .input = {}, .environment = {}};
  EXPECT_TRUE(programs.run(call)->succeeded());
  programs.before_each([](const ProgramCall&) {
    return std::optional(Result<ProgramEnd>(ProgramEnd{.exit_code = 7}));
  });
  EXPECT_EQ(programs.run(call)->exit_code, 7);
}

}  // namespace
}  // namespace dibs
