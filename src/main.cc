// dibs: from the world to the command line. The only file that names concrete stores, and the only
// one that knows the process it runs in.
#include <unistd.h>

#include <array>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "store/local.h"
#include "sys/clock.h"
#include "sys/machine.h"
#include "sys/posix_file_system.h"
#include "sys/randomness.h"
#include "sys/standard_streams.h"

int main(int argc, char** argv) {
  dibs::fill_closed_streams();
  // A reader that goes away must not kill a command half-way through its work.
  std::signal(SIGPIPE, SIG_IGN);

  dibs::PosixFileSystem files;
  dibs::SystemClock clock;
  dibs::SystemRandom random;
  dibs::LinuxMachine machine;
  std::array<char, PATH_MAX> directory{};
  const dibs::System system{
      .files = files,
      .clock = clock,
      .random = random,
      .machine = machine,
      .environment = [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
      },
      .current_directory =
          ::getcwd(directory.data(), directory.size()) != nullptr ? directory.data() : "/"};

  const std::vector<dibs::StoreBackend> backends{
      {.kind = "local",
       .open =
           [&](const std::string& path, const dibs::Warn& notice) {
             auto store = std::make_unique<dibs::LocalStore>(files, clock, random, path, notice);
             dibs::Upkeep* upkeep = store.get();
             return dibs::OpenedStore{.store = std::move(store), .upkeep = upkeep};
           },
       .create = [&](const std::string& path,
                     unsigned mode) { return dibs::LocalStore::create(files, path, mode); },
       .promises = dibs::local_promises()},
  };
  return dibs::cli::run(std::vector<std::string>(argv + 1, argv + argc), system, backends,
                        DIBS_VERSION);
}
