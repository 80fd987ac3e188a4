// What git does not run for dibs, whatever the repository's settings say. With real git.
#include "git/git_program.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "sys/programs.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

class GitPrograms : public testing::Test {
 protected:
  GitPrograms() : repo_(temp_ / "repo"), trap_(temp_ / "trap") {
    EXPECT_TRUE(make_repository(repo_));
    make_trap(trap_);
  }

  // A program that notes that it was run.
  void make_trap(const std::string& path) {
    write_bytes(path, "#!/bin/sh\necho sprung >" + (temp_ / "note") + "\n");
    EXPECT_TRUE(run_program({"chmod", "0700", path}));
    write_bytes(temp_ / "note", "");
  }
  [[nodiscard]] bool is_sprung() const { return !read_bytes(temp_ / "note").empty(); }
  std::string ask(std::vector<std::string> arguments, std::string_view input = {}) {
    const Result<std::string> out = git_.output_of({.git_dir = repo_ + "/.git",
                                                    .arguments = std::move(arguments),
                                                    .input = input,
                                                    .work_tree = repo_},
                                                   ErrorKind::internal);
    EXPECT_TRUE(out) << out.error().message;
    return std::string(trim(out.value_or("")));
  }

  TempDirectory temp_;
  std::string repo_;
  std::string trap_;
  PosixPrograms programs_;
  GitProgram git_{programs_, [] {
                    return std::vector<std::string>{"PATH=/usr/bin:/bin", "HOME=/nonexistent"};
                  }};
};

TEST_F(GitPrograms, NeverRunAFileMonitor) {
  ask({"config", "core.fsmonitor", trap_});
  ask({"status", "--porcelain"});
  EXPECT_FALSE(is_sprung());
}

TEST_F(GitPrograms, NeverCheckSignaturesNorPrintThem) {
  const std::string tree = ask({"rev-parse", "HEAD^{tree}"});
  const std::string commit = ask(
      {"hash-object", "-t", "commit", "-w", "--stdin"},
      "tree " + tree +
          "\nauthor A <a> 0 +0000\ncommitter A <a> 0 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----"
          "\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n");
  ask({"config", "log.showSignature", "true"});
  ask({"config", "gpg.program", trap_});
  EXPECT_EQ(ask({"log", "-1", "--format=%s", commit}), "signed");
  EXPECT_FALSE(is_sprung());
}

TEST_F(GitPrograms, NeverRunAHook) {
  ask({"config", "core.hooksPath", temp_ / "hooks"});
  make_directories(temp_ / "hooks");
  make_trap(temp_ / "hooks/reference-transaction");
  ask({"update-ref", "refs/heads/other", "HEAD"});
  EXPECT_FALSE(is_sprung());
}

}  // namespace
}  // namespace dibs
