#include "model/conflict_rule.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "model/toml_members.h"

namespace dibs {

namespace {

using toml_members::Member;
using toml_members::read_member;
using toml_members::read_word;
using toml_members::wrong;

bool read_globs(const toml::node& node, GlobSet& to) {
  std::vector<std::string> texts;
  if (const auto one = node.value_exact<std::string>()) {
    texts.push_back(*one);
  } else if (const toml::array* array = node.as_array()) {
    for (const toml::node& element : *array)
      texts.push_back(element.value_exact<std::string>().value_or(""));
  }
  Result<GlobSet> set = GlobSet::parse(texts);
  if (texts.empty() || !set) return false;
  to = *std::move(set);
  return true;
}

constexpr std::array<std::string_view, 4> kStrategies{"manual", "ours", "theirs", "auto"};

bool read_strategy(const toml::node& node, ConflictStrategy& to) {
  const auto name = node.value_exact<std::string>();
  const auto* found = std::ranges::find(kStrategies, name.value_or(""));
  if (found == kStrategies.end()) return false;
  to = static_cast<ConflictStrategy>(found - kStrategies.begin());
  return true;
}

constexpr std::array<Member<ConflictRule>, 3> kRuleMembers{{
    {.name = "paths",
     .read = [](const toml::node& n, ConflictRule& to) { return read_globs(n, to.paths); },
     .wanted = R"(a glob or a list of them, like this: ["docs/**"])"},
    {.name = "strategy",
     .read = [](const toml::node& n, ConflictRule& to) { return read_strategy(n, to.strategy); },
     .wanted = R"("manual", "ours", "theirs" or "auto")"},
    {.name = "resolver",
     .read = [](const toml::node& n, ConflictRule& to) { return read_word(n, to.resolver); },
     .wanted = "the name of a resolver"},
}};

Done check_rule(const ConflictRule& rule) {
  const bool automatic = rule.strategy == ConflictStrategy::automatic;
  const bool has_paths = !rule.paths.entries().empty();
  if (has_paths && automatic != rule.resolver.empty()) return {};
  return fail(ErrorKind::usage,
              fmt::format("{}: a rule for conflicts {}", printable(rule.origin),
                          !has_paths  ? "has no paths"
                          : automatic ? "is auto and names no resolver"
                                      : "names a resolver and is not auto"),
              R"(write it like this: paths = ["docs/**"], strategy = "auto", resolver = "NAME")");
}

Result<ConflictRule> read_rule(const toml::table& table, const std::string& file) {
  ConflictRule rule{.paths = {},
                    .strategy = ConflictStrategy::manual,
                    .resolver = {},
                    .origin = toml_place(file, table.source())};
  for (const auto& [name, value] : table) {
    const Done read = read_member(file, "rule for conflicts", kRuleMembers, name, value, rule);
    if (!read) return fail(read.error());
  }
  if (Done fine = check_rule(rule); !fine) return fail(fine.error());
  return rule;
}

}  // namespace

std::string_view name_of(ConflictStrategy strategy) {
  return kStrategies.at(static_cast<std::size_t>(strategy));
}

Result<std::vector<ConflictRule>> parse_conflict_rules(std::string_view text,
                                                       const std::string& file) {
  const Result<toml::table> table = parse_toml(text, file);
  if (!table) return fail(table.error());
  std::vector<ConflictRule> rules;
  const toml::node* section = table->get(kConflictsSection);
  const toml::array* list = section == nullptr ? nullptr : section->as_array();
  if (list == nullptr) return rules;
  for (const toml::node& node : *list) {
    const toml::table* one = node.as_table();
    if (one == nullptr || rules.size() == kConflictRulesMax) {
      return wrong(
          file, node.source(), "this is no rule for conflicts",
          fmt::format("begin each with [[conflicts]]; there may be {}", kConflictRulesMax));
    }
    Result<ConflictRule> rule = read_rule(*one, file);
    if (!rule) return fail(rule.error());
    rules.push_back(*std::move(rule));
  }
  return rules;
}

}  // namespace dibs
