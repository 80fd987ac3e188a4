#include "model/configured.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/sha.h"
#include "base/text.h"
#include "model/item.h"
#include "model/toml_members.h"

namespace dibs {

namespace {

using toml_members::Member;
using toml_members::read_flag;
using toml_members::read_member;
using toml_members::read_number;
using toml_members::read_word;
using toml_members::read_words;
using toml_members::wrong;

bool read_command(const toml::node& node, std::vector<std::string>& words) {
  if (const auto line = node.value_exact<std::string>()) {
    if (trim(*line).empty() || line->size() > kCommandBytesMax || contains(*line, {"\0", 1}))
      return false;
    words = {"/bin/sh", "-c", *line};
    return true;
  }
  const toml::array* array = node.as_array();
  if (array == nullptr || array->empty() || array->size() > kCommandWordsMax) return false;
  for (const toml::node& element : *array) {
    const auto word = element.value_exact<std::string>();
    if (!word || word->size() > kCommandBytesMax || contains(*word, {"\0", 1})) return false;
    words.push_back(*word);
  }
  return !words.front().empty();
}

bool read_stage(const toml::node& node, GateStage& to) {
  const auto value = node.value_exact<std::string>();
  if (value == "precheck") to = GateStage::precheck;
  if (value == "postcheck") to = GateStage::postcheck;
  return value == "precheck" || value == "postcheck";
}

bool read_cost(const toml::node& node, std::uint32_t& to) {
  constexpr double kCostMax = 100;
  if (!node.is_number()) return false;
  const double number = *node.value<double>();
  if (!(number >= 0 && number <= kCostMax)) return false;  // this way round it refuses nan too
  to = static_cast<std::uint32_t>(std::lround(number * 100));
  return true;
}

constexpr std::string_view kCommandWanted =
    R"(a line for the shell, like this: "make test"; or a list of words: ["make", "test"])";
constexpr std::string_view kSecsWanted = "a number of seconds from 1 to 86400";

constexpr std::array<Member<Gate>, 5> kGateMembers{{
    {.name = "command",
     .read = [](const toml::node& n, Gate& to) { return read_command(n, to.command.words); },
     .wanted = kCommandWanted},
    {.name = "stage",
     .read = [](const toml::node& n, Gate& to) { return read_stage(n, to.stage); },
     .wanted = R"("precheck" or "postcheck")"},
    {.name = "timeout",
     .read = [](const toml::node& n,
                Gate& to) { return read_number(n, kCommandSecsMax, to.timeout_secs); },
     .wanted = kSecsWanted},
    {.name = "required",
     .read = [](const toml::node& n, Gate& to) { return read_flag(n, to.required); },
     .wanted = "true or false"},
    {.name = "manual",
     .read = [](const toml::node& n, Gate& to) { return read_flag(n, to.manual); },
     .wanted = "true or false"},
}};

constexpr std::array<Member<WorkerKind>, 6> kWorkerMembers{{
    {.name = "command",
     .read = [](const toml::node& n, WorkerKind& to) { return read_command(n, to.command.words); },
     .wanted = kCommandWanted},
    {.name = "count",
     .read = [](const toml::node& n,
                WorkerKind& to) { return read_number(n, kWorkersMax, to.count); },
     .wanted = "a whole number from 1 to 1000"},
    {.name = "labels",
     .read = [](const toml::node& n, WorkerKind& to) { return read_words(n, to.labels); },
     .wanted = R"(a list of at most 100 words, like this: ["small"])"},
    {.name = "model",
     .read = [](const toml::node& n, WorkerKind& to) { return read_word(n, to.model); },
     .wanted = "a word"},
    {.name = "cost",
     .read = [](const toml::node& n, WorkerKind& to) { return read_cost(n, to.cost_hundredths); },
     .wanted = "a number from 0 to 100"},
    {.name = "capacity",
     .read = [](const toml::node& n,
                WorkerKind& to) { return read_number(n, kWorkersMax, to.capacity); },
     .wanted = "a whole number from 1 to 1000"},
}};

constexpr std::array<Member<Resolver>, 2> kResolverMembers{{
    {.name = "command",
     .read = [](const toml::node& n, Resolver& to) { return read_command(n, to.command.words); },
     .wanted = kCommandWanted},
    {.name = "timeout",
     .read = [](const toml::node& n,
                Resolver& to) { return read_number(n, kCommandSecsMax, to.timeout_secs); },
     .wanted = kSecsWanted},
}};

/// The file that is being read.
struct Reading {
  std::string file;
  ConfigSource source;
};

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kConfiguredNameMax && text.front() != '-' &&
         std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

// Every table of a section; what is no table is a setting, and read elsewhere.
template <class T, std::size_t N>
Done read_section(const Reading& reading, const toml::node* section, const std::string& kind,
                  const std::array<Member<T>, N>& members, std::vector<T>& to) {
  const toml::table* tables = section == nullptr ? nullptr : section->as_table();
  if (tables == nullptr) return {};
  for (const auto& [key, node] : *tables) {
    const toml::table* table = node.as_table();
    if (table == nullptr) continue;
    if (!is_name(key.str()) || to.size() == kConfiguredMax) {
      return wrong(reading.file, key.source(),
                   fmt::format("'{}' cannot be the name of a {}", printable(key.str()), kind),
                   fmt::format("use letters, digits, '-', '_' and '.', and at most {} of them",
                               kConfiguredMax));
    }
    T one{};
    one.command = {.kind = kind,
                   .name = std::string(key.str()),
                   .words = {},
                   .source = reading.source,
                   .origin = toml_place(reading.file, key.source())};
    for (const auto& [name, value] : *table) {
      if (Done read = read_member(reading.file, kind, members, name, value, one); !read)
        return read;
    }
    to.push_back(std::move(one));
  }
  return {};
}

Done check_gate(const Gate& gate) {
  const bool has_command = !gate.command.words.empty();
  if (has_command != gate.manual) return {};
  return fail(ErrorKind::usage,
              fmt::format("{}: the gate {} {}", printable(gate.command.origin), gate.command.name,
                          has_command ? "is manual and has a command" : "has no command"),
              "give it a command, or, for a person to pass it: manual = true");
}

Done check_has_command(const ConfiguredCommand& command) {
  if (!command.words.empty()) return {};
  return fail(ErrorKind::usage,
              fmt::format("{}: the {} {} has no command", printable(command.origin), command.kind,
                          command.name),
              fmt::format("give it {}", kCommandWanted));
}

Done check(const Configured& configured) {
  for (const Gate& gate : configured.gates)
    if (Done fine = check_gate(gate); !fine) return fine;
  for (const WorkerKind& worker : configured.workers)
    if (Done fine = check_has_command(worker.command); !fine) return fine;
  for (const Resolver& resolver : configured.resolvers)
    if (Done fine = check_has_command(resolver.command); !fine) return fine;
  return {};
}

template <class T>
void overlay_kind(std::vector<T>& under, std::vector<T> over) {
  std::erase_if(under, [&](const T& old) {
    return std::ranges::any_of(over,
                               [&](const T& one) { return one.command.name == old.command.name; });
  });
  std::ranges::move(over, std::back_inserter(under));
  std::ranges::sort(under, {}, [](const T& one) { return one.command.name; });
}

}  // namespace

std::string fingerprint(const ConfiguredCommand& command) {
  std::string text = command.kind + '\0' + command.name;
  for (const std::string& word : command.words) text += '\0' + word;
  return sha256_hex(text);
}

std::string shown(const ConfiguredCommand& command) {
  const bool is_line = command.words.size() == 3 && command.words[0] == "/bin/sh";
  if (is_line) return printable(command.words[2]);
  std::string text;
  for (const std::string& word : command.words)
    text += (text.empty() ? "" : " ") + printable(shell_word(word));
  return text;
}

bool is_configured_section(std::string_view section) {
  return section == "gates" || section == "workers" || section == "resolvers";
}

Result<Configured> parse_configured(std::string_view text, const std::string& file,
                                    ConfigSource source) {
  const Result<toml::table> table = parse_toml(text, file);
  if (!table) return fail(table.error());
  const Reading reading{.file = file, .source = source};
  Configured found;
  for (const Done& read :
       {read_section(reading, table->get("gates"), "gate", kGateMembers, found.gates),
        read_section(reading, table->get("workers"), "worker", kWorkerMembers, found.workers),
        read_section(reading, table->get("resolvers"), "resolver", kResolverMembers,
                     found.resolvers),
        check(found)}) {
    if (!read) return fail(read.error());
  }
  Result<std::vector<ConflictRule>> rules = parse_conflict_rules(text, file);
  if (!rules) return fail(rules.error());
  found.conflicts = *std::move(rules);
  return found;
}

void overlay(Configured& under, Configured over) {
  overlay_kind(under.gates, std::move(over.gates));
  overlay_kind(under.workers, std::move(over.workers));
  overlay_kind(under.resolvers, std::move(over.resolvers));
  under.conflicts.insert(under.conflicts.begin(), over.conflicts.begin(), over.conflicts.end());
}

}  // namespace dibs
