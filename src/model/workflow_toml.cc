// `.dibs/workflow.toml` in, a checked table out.
#include <array>
#include <utility>

#include "model/toml_text.h"
#include "model/workflow.h"

namespace dibs {

namespace {

constexpr std::array<std::pair<std::string_view, StateKind>, 5> kStateKinds{
    {{"open", StateKind::open},
     {"active", StateKind::active},
     {"waiting", StateKind::waiting},
     {"done", StateKind::done},
     {"dropped", StateKind::dropped}}};

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  [[nodiscard]] tl::unexpected<Error> wrong(const toml::node& node, const std::string& why) const {
    return fail(ErrorKind::usage,
                fmt::format("{}: {}", printable(toml_place(file_, node.source())), why),
                "mend the file by hand");
  }

  [[nodiscard]] Result<std::string> text(const toml::table& table, std::string_view key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return std::string();
    const auto value = node->value_exact<std::string>();
    if (!value || value->size() > kWordMax || !is_printable(*value))
      return wrong(*node, fmt::format("{} must be a short text", key));
    return *value;
  }

  [[nodiscard]] Result<StateKind> kind(const toml::table& table) const {
    const Result<std::string> name = text(table, "kind");
    if (!name) return fail(name.error());
    for (const auto& [known, kind] : kStateKinds) {
      if (known == *name) return kind;
    }
    return wrong(table, "kind must be open, active, waiting, done or dropped");
  }

  [[nodiscard]] Result<std::vector<std::string>> texts(const toml::table& table,
                                                       std::string_view key) const {
    std::vector<std::string> all;
    const toml::node* node = table.get(key);
    if (node == nullptr) return all;
    if (!node->is_array()) return wrong(*node, fmt::format("{} must be a list of names", key));
    for (const toml::node& entry : *node->as_array()) {
      const auto value = entry.value_exact<std::string>();
      if (!value || all.size() == kStatesMax)
        return wrong(entry, fmt::format("{} must be a list of names", key));
      all.push_back(*value);
    }
    return all;
  }

  [[nodiscard]] Done known_keys(const toml::table& table,
                                std::initializer_list<std::string_view> keys) const {
    for (const auto& [key, node] : table) {
      if (std::find(keys.begin(), keys.end(), key.str()) == keys.end())
        return wrong(node, fmt::format("there is no '{}' here", printable(key.str())));
    }
    return {};
  }

  [[nodiscard]] Result<WorkState> state(const toml::node& node) const {
    if (!node.is_table()) return wrong(node, "a state must be a table: [[state]]");
    const toml::table& table = *node.as_table();
    if (Done known =
            known_keys(table, {"name", "kind", "to", "blocked_as", "held_as", "lands_as", "claim"});
        !known)
      return fail(known.error());
    Result<std::string> name = text(table, "name");
    if (!name) return fail(name.error());
    if (name->empty()) return wrong(node, "a state needs a name");
    const Result<StateKind> kind = this->kind(table);
    if (!kind) return fail(kind.error());
    Result<std::vector<std::string>> to = texts(table, "to");
    if (!to) return fail(to.error());
    WorkState state{.name = *std::move(name), .kind = *kind, .to = *std::move(to)};
    for (const auto& [key, target] :
         {std::pair<std::string_view, std::string*>{"blocked_as", &state.blocked_as},
          {"held_as", &state.held_as},
          {"lands_as", &state.lands_as},
          {"claim", &state.claim}}) {
      Result<std::string> value = text(table, key);
      if (!value) return fail(value.error());
      *target = *std::move(value);
    }
    return state;
  }

 private:
  std::string file_;
};

Result<Workflow> preset(const Reader& reader, const toml::table& table, const std::string& name) {
  if (Done known = reader.known_keys(table, {"preset"}); !known) return fail(known.error());
  if (name == "standard") return Workflow::standard();
  if (name == "folders") return Workflow::folders();
  return reader.wrong(*table.get("preset"), "preset must be standard or folders");
}

}  // namespace

Result<Workflow> Workflow::parse(std::string_view toml, const std::string& file) {
  const Result<toml::table> table = parse_toml(toml, file);
  if (!table) return fail(table.error());
  const Reader reader(file);
  const Result<std::string> chosen = reader.text(*table, "preset");
  if (!chosen) return fail(chosen.error());
  if (!chosen->empty()) return preset(reader, *table, *chosen);
  if (Done known = reader.known_keys(*table, {"initial", "state"}); !known)
    return fail(known.error());
  Result<std::string> initial = reader.text(*table, "initial");
  if (!initial) return fail(initial.error());
  const toml::node* list = table->get("state");
  if (list == nullptr || !list->is_array())
    return reader.wrong(*table, "it has no [[state]] and no preset");
  std::vector<WorkState> states;
  for (const toml::node& node : *list->as_array()) {
    Result<WorkState> state = reader.state(node);
    if (!state) return fail(state.error());
    states.push_back(*std::move(state));
  }
  Result<Workflow> workflow = of(*std::move(initial), std::move(states));
  if (!workflow) {
    Error error = workflow.error();
    error.message = fmt::format("{}: {}", printable(file), error.message);
    return fail(std::move(error));
  }
  return workflow;
}

}  // namespace dibs
