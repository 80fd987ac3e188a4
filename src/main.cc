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
  using namespace dibs;
  fill_closed_streams();
  // A reader that goes away must not kill a command half-way through its work.
  std::signal(SIGPIPE, SIG_IGN);

  PosixFileSystem files;
  SystemClock clock;
  SystemRandom random;
  LinuxMachine machine;
  std::array<char, PATH_MAX> directory{};
  const System system{.files = files,
                      .clock = clock,
                      .random = random,
                      .machine = machine,
                      .environment = [](const std::string& name) -> std::optional<std::string> {
                        const char* value = std::getenv(name.c_str());
                        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
                      },
                      .current_directory = ::getcwd(directory.data(), directory.size()) != nullptr
                                               ? directory.data()
                                               : "/"};

  const std::vector<StoreBackend> backends{
      {.kind = "local",
       .open =
           [&](const std::string& path, const Warn& notice) {
             auto store = std::make_unique<LocalStore>(files, clock, random, path, notice);
             Upkeep* upkeep = store.get();
             return OpenedStore{.store = std::move(store), .upkeep = upkeep};
           },
       .create = [&](const std::string& path,
                     unsigned mode) { return LocalStore::create(files, path, mode); },
       .promises = local_promises()},
  };
  return cli::run(std::vector<std::string>(argv + 1, argv + argc), system, backends, DIBS_VERSION);
}
