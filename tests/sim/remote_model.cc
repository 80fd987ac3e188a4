#include "remote_model.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace dibs::sim {

namespace {

ProgramEnd said(std::string out) { return {.exit_code = 0, .out = std::move(out), .err = {}}; }
ProgramEnd complained(int exit_code, std::string err) {
  return {.exit_code = exit_code, .out = {}, .err = std::move(err)};
}

}  // namespace

bool GitModel::Words::has(std::string_view option) const {
  return std::ranges::find(options, option) != options.end();
}

GitModel::Words GitModel::words_of(const ProgramCall& call) {
  Words words;
  for (std::size_t i = 1; i < call.command.size(); ++i) {
    const std::string& word = call.command[i];
    if (word.starts_with("--git-dir="))
      words.git_dir = word.substr(10);
    else if (word == "-c")
      ++i;
    else if (word.starts_with("-"))
      words.options.push_back(word);
    else if (words.command.empty())
      words.command = word;
    else
      words.others.push_back(word);
  }
  return words;
}

Result<ProgramEnd> GitModel::run(const ProgramCall& call) {
  const Words words = words_of(call);
  if (words.command == "rev-parse") return said("sha1\n");
  if (words.command == "remote") return said("somewhere\n");
  if (words.command == "pack-refs") return said("");
  if (words.command == "init") return init(words);
  if (words.command == "for-each-ref") return for_each_ref(words);
  if (words.command == "fetch") return fetch(words);
  if (words.command == "push") return push(words, call);
  if (words.command == "update-ref") return update_ref(words, call.input);
  if (words.command == "log") return log(words);
  if (words.command == "cat-file") return show_commit(words);
  return complained(129, fmt::format("fatal: the model knows no {}\n", words.command));
}

ProgramEnd GitModel::init(const Words& words) {
  for (const char* below : {"/objects", "/refs"})
    disk_.make_durable_directory(words.git_dir + below);
  return said("");
}

std::map<std::string, std::string> GitModel::own_refs(const std::string& git_dir,
                                                      std::vector<std::string> paths) {
  std::map<std::string, std::string> found;
  while (!paths.empty()) {
    const std::string path = std::move(paths.back());
    paths.pop_back();
    const std::string place = git_dir + "/" + path;
    const Result<std::optional<FileStatus>> status = disk_.status(place);
    if (!status || !*status) continue;
    if ((*status)->kind != FileKind::directory) {
      found[path] = std::string(trim(disk_.contents(place).value_or("")));
      continue;
    }
    for (const std::string& name : disk_.list(place).value_or(std::vector<std::string>{}))
      paths.push_back(path + "/" + name);
  }
  return found;
}

void GitModel::put_ref(const std::string& git_dir, const std::string& ref,
                       const std::string& commit) {
  const std::string path = git_dir + "/" + ref;
  if (commit.empty()) {
    (void)disk_.remove(path);
    return;
  }
  disk_.make_durable_directory(path.substr(0, path.rfind('/')));
  disk_.put(path, commit + "\n");
}

ProgramEnd GitModel::for_each_ref(const Words& words) {
  const bool with_text = words.options.front().find("contents") != std::string::npos;
  std::vector<std::string> wanted = words.others;
  for (std::string& path : wanted) {
    if (path.ends_with('/')) path.pop_back();
  }
  std::string out;
  for (const auto& [ref, commit] : own_refs(words.git_dir, std::move(wanted))) {
    out += ref;
    out += with_text ? '\0' : ' ';
    out += commit;
    if (with_text) out += '\0' + remote_.commits[commit].message + '\0';
    out += '\n';
  }
  return said(std::move(out));
}

ProgramEnd GitModel::fetch(const Words& words) {
  using Mishap = Connection::Mishap;
  if (!connection_.goes_on() || remote_.gone || connection_.mishap() == Mishap::no_answer)
    return complained(128, std::string(kUnreachable));
  const std::map<std::string, std::string> advertised = remote_.refs;
  if (!connection_.goes_on()) return complained(128, std::string(kUnreachable));
  const std::map<std::string, std::string> before = own_refs(words.git_dir, {"refs"});
  for (std::size_t i = 1; i < words.others.size(); ++i) {
    // "+NAME*:NAME*"
    const std::string prefix = words.others[i].substr(1, words.others[i].find('*') - 1);
    for (const auto& [ref, commit] : advertised) {
      const auto own = before.find(ref);
      const bool is_news = own == before.end() || own->second != commit;
      if (is_news && ref.starts_with(prefix)) put_ref(words.git_dir, ref, commit);
    }
    for (const auto& [ref, commit] : before) {
      if (words.has("--prune") && ref.starts_with(prefix) && !advertised.contains(ref))
        put_ref(words.git_dir, ref, "");
    }
  }
  return said("");
}

ProgramEnd GitModel::update_ref(const Words& words, std::string_view input) {
  for (const std::string_view line : split(input, '\n')) {
    const std::vector<std::string_view> parts = split(line, ' ');
    if (parts.size() >= 3 && parts[0] == "update")
      put_ref(words.git_dir, std::string(parts[1]), std::string(parts[2]));
  }
  return said("");
}

ProgramEnd GitModel::log(const Words& words) {
  std::string prefix;
  for (const std::string& option : words.options) {
    if (option.starts_with("--glob=")) prefix = option.substr(7, option.size() - 8);
  }
  std::vector<std::string> left;
  for (const auto& [ref, commit] : own_refs(words.git_dir, {"refs"})) {
    if (ref.starts_with(prefix)) left.push_back(commit);
  }
  std::set<std::string> seen;
  std::string out;
  while (!left.empty()) {
    const std::string commit = left.back();
    left.pop_back();
    if (!seen.insert(commit).second) continue;
    const RemoteModel::Commit& found = remote_.commits[commit];
    out += found.message + '\0' + '\n';
    left.insert(left.end(), found.parents.begin(), found.parents.end());
  }
  return said(std::move(out));
}

ProgramEnd GitModel::show_commit(const Words& words) {
  const auto found = remote_.commits.find(words.others.back());
  if (found == remote_.commits.end()) return complained(128, "fatal: Not a valid object name\n");
  return said("tree x\n\n" + found->second.message);
}

}  // namespace dibs::sim
