// Names that people give: resources, agents, sessions, items. What is taken can be shown, and what
// becomes of it as a file or ref name is harmless.
#include "base/name_encoding.h"
#include "base/text.h"
#include "fuzzing.h"
#include "model/agent.h"
#include "model/item.h"
#include "model/resource.h"

namespace dibs::fuzz {

namespace {

bool may_stand_in_a_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

void check_encoded(std::string_view id) {
  const std::string name = encode_name(id);
  must(name.size() <= kEncodedNameMax, "a name is short");
  must(std::ranges::all_of(name, may_stand_in_a_name), "a name has harmless characters only");
  must(!contains(name, "..") && !name.starts_with('.') && !name.ends_with('.') &&
           !name.ends_with(".lock"),
       "a name is one that git takes");
  if (id.empty()) return;
  must(encode_name(id.substr(0, id.size() - 1)) != name, "no two ids share a name");
}

void check_resource(std::string_view text) {
  const Result<Resource> resource = parse_resource(text);
  if (!resource) return must(is_printable(resource.error().message), "an error is safe to show");
  must(is_printable(resource->name), "a resource can be shown");
  must(resource_of(resource->key()) == *resource, "a key leads back to its resource");
  const Result<Resource> again = parse_resource(resource->key().text);
  must(again && *again == *resource, "a key is a way to write its resource");
}

}  // namespace

void try_input(std::string_view input) {
  check_encoded(input);
  check_resource(input);
  must(is_printable(printable(input)), "anything can be made safe to show");
  (void)shell_word(input);
  if (const Result<AgentId> agent = parse_agent_id(input))
    must(agent->text == input && is_printable(input), "an agent is called as it was written");
  if (const Result<SessionId> session = parse_session_id(input))
    must(is_printable(session->text), "a session can be shown");
  if (const Result<ItemId> item = parse_item_id(input))
    must(is_printable(item->text), "an item's id can be shown");
  must(!slug_of(input).empty(), "any title gives a word");
}

}  // namespace dibs::fuzz
