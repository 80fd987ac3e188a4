// Tries a target on its corpus and on seeded mutations of it, without libFuzzer: seconds in every
// build. The same words give the same inputs. An input that crashes, hangs or takes too much memory
// is left beside the program, as NAME_fuzz.input.
//
//   NAME_fuzz CORPUS [MUTATIONS [SEED]]      CORPUS is a folder, or one input
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzzing.h"

namespace {

constexpr std::size_t kInputMax = 8192;
constexpr std::size_t kEditsMax = 4;       // of one mutation
constexpr unsigned kHangSecs = 60;         // for one input; none takes a hundredth of it
constexpr rlim_t kMemoryMax = 1UL << 30U;  // for the whole program

// For the handler: what is being tried, and where it is left.
std::string current;
std::string left;

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> read_corpus(const std::filesystem::path& place) {
  if (!std::filesystem::is_directory(place)) return {contents_of(place)};
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(place)) paths.push_back(entry);
  std::ranges::sort(paths);  // the order must not depend on the file system
  std::vector<std::string> inputs;
  for (const auto& path : paths) inputs.push_back(contents_of(path));
  return inputs;
}

// NOLINTBEGIN(bugprone-signal-handler): of what it calls, only system calls do anything
void leave_input(int signal) {
  const int file = ::open(left.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file >= 0 && ::write(file, current.data(), current.size()) >= 0) ::close(file);
  constexpr std::string_view kSaid =
      "\nthe input is left beside the program; to try it again, "
      "give it for CORPUS\n";
  (void)!::write(STDERR_FILENO, kSaid.data(), kSaid.size());
  (void)std::signal(signal, SIG_DFL);
  (void)std::raise(signal);
}
// NOLINTEND(bugprone-signal-handler)

void limit_memory() {
#ifndef __SANITIZE_ADDRESS__  // which maps terabytes that it never uses
#ifndef __SANITIZE_THREAD__
  const rlimit limit{.rlim_cur = kMemoryMax, .rlim_max = kMemoryMax};
  (void)::setrlimit(RLIMIT_AS, &limit);
#endif
#endif
}

void try_one(std::string input) {
  current = std::move(input);
  ::alarm(kHangSecs);
  dibs::fuzz::try_input(current);
  ::alarm(0);
}

class Mutations {
 public:
  Mutations(const std::vector<std::string>& corpus, std::uint64_t seed)
      : corpus_(corpus), random_(seed) {}

  std::string next() {
    std::string input = any_input();
    for (std::size_t edits = 1 + below(kEditsMax); edits > 0; --edits) edit(input);
    if (input.size() > kInputMax) input.resize(kInputMax);
    return input;
  }

 private:
  std::size_t below(std::size_t end) { return end == 0 ? 0 : random_() % end; }
  const std::string& any_input() { return corpus_[below(corpus_.size())]; }

  void edit(std::string& input) {
    const std::size_t at = below(input.size() + 1);
    const std::size_t length = below(std::min<std::size_t>(input.size() - at, 64) + 1);
    switch (below(6)) {
      case 0:
        return flip(input, at);
      case 1:
        input.resize(at);
        return;  // cut short
      case 2:
        input.erase(at, length);
        return;
      case 3:
        input.insert(at, input.substr(at, length));
        return;  // doubled
      case 4:
        input.insert(at, telling_bytes());
        return;
      default:
        splice(input, at);
    }
  }
  void flip(std::string& input, std::size_t at) {
    if (at == input.size()) return;
    input[at] = static_cast<char>(static_cast<unsigned char>(input[at]) ^ (1U << below(8)));
  }
  void splice(std::string& input, std::size_t at) {
    const std::string& other = any_input();
    input = input.substr(0, at) + other.substr(below(other.size() + 1));
  }
  // What parsers trip over.
  std::string telling_bytes() {
    static const std::vector<std::string> kTelling{std::string(1, '\0'),
                                                   "\n",
                                                   "\r\n",
                                                   "\"",
                                                   "\\",
                                                   "{",
                                                   "}",
                                                   "[",
                                                   "]",
                                                   ",",
                                                   ":",
                                                   "'",
                                                   "---",
                                                   "\xff",
                                                   "\xc0\xaf",
                                                   "-1",
                                                   "**",
                                                   "../",
                                                   "18446744073709551616",
                                                   "1e999",
                                                   "null",
                                                   "#",
                                                   "\xe2\x80\xae",
                                                   "\x1b[2J"};
    return kTelling[below(kTelling.size())];
  }

  const std::vector<std::string>& corpus_;
  std::mt19937_64 random_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  const auto number = [&](std::size_t at, std::uint64_t otherwise) {
    return words.size() > at ? std::strtoull(words[at].c_str(), nullptr, 10) : otherwise;
  };
  const std::vector<std::string> corpus =
      words.size() > 1 ? read_corpus(words[1]) : std::vector<std::string>{};
  if (corpus.empty()) {
    std::fprintf(stderr, "usage: %s CORPUS [MUTATIONS [SEED]]; CORPUS must hold inputs\n",
                 words[0].c_str());
    return 64;
  }
  left = words[0] + ".input";
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM})
    (void)std::signal(signal, leave_input);
  limit_memory();
  for (const std::string& input : corpus) try_one(input);
  Mutations mutations(corpus, number(3, 1));
  const std::uint64_t count = number(2, 0);
  for (std::uint64_t i = 0; i < count; ++i) try_one(mutations.next());
  std::printf("%zu inputs and %ju mutations of them\n", corpus.size(), std::uintmax_t{count});
  return 0;
}
