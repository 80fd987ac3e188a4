#include "verbs/demo_project.h"

#include <fmt/core.h>

namespace dibs::verbs {

namespace {

// Of the gate, on the merged result.
constexpr const char* kCheckScript = R"sh(#!/bin/sh
# Must pass before anything lands: the whole program compiles, and every step that is there answers what it should.
# A step answers 0 until somebody has written it, so one that lands before what it calls is found here too.
if command -v cc > /dev/null; then
  cc -Wall -Werror -o program program.c && exec ./program
  exit 1
fi
# Without a compiler: only the mistake that the demo makes is looked for.
! grep -n '+ 2;' $FILES || exit 1
echo "$(cat $FILES | grep -c 'return (') of $(grep -c '^  {"' check.c) steps, $(grep -c '^ *{"' table.c) in the table"
)sh";

constexpr const char* kConfig = R"([gates.test]
command = ["sh", "check.sh"]
stage = "postcheck"
timeout = 120
)";

constexpr const char* kWorkerScript = R"sh(#!/bin/sh
# A worker: edits, compiles, commits. `dibs run` starts it in the worktree of $DIBS_ITEM, and lands what it committed.
set -eu
. "$(dirname "$0")/plan.sh"

echo "thinks"
sleep "$think"

echo "edits $file"
if [ "$DIBS_TRIES" = 0 ] && [ "$mishap" = mistake ]; then formula=$mistake; fi
sed "/^long $function(/,/^}/s/return 0;/return $formula;/" "$file" > "$file.new"
mv "$file.new" "$file"
if [ "$DIBS_TRIES" = 0 ] && [ "$mishap" = killed ]; then kill -9 $$; fi
if [ -n "$entry" ]; then
  sed "/new entries/i\\
  $entry
" table.c > table.c.new
  mv table.c.new table.c
fi

if command -v cc > /dev/null; then
  echo "compiles $file"
  cc -Wall -Werror -c -o /dev/null "$file"
fi

echo "commits"
git commit -q -a -m "$function"
)sh";

constexpr const char* kPausedScript = R"sh(#!/bin/sh
# An agent that works beside the run, with a short lease, and is paused when it is about to land.
# Words: the dibs program, an item.
trap '' HUP
set -eu
here=$(cd "$(dirname "$0")" && pwd)
trap ': > "$here/over"' EXIT
unset DIBS_SESSION DIBS_PID DIBS_RUN
export DIBS_STORE_KIND=local DIBS_AGENT_ID=agent:sleeper DIBS_ITEM="$2" DIBS_TRIES=0
cd "$here/repository"
"$1" start "$2" --ttl 2 --path "$here/sleeper"
cd "$here/sleeper"
sh "$here/worker.sh"

# Whatever becomes of the demo, it does not sleep for ever.
(trap 'kill $alarm; exit' TERM; sleep 100 & alarm=$!; wait; kill -CONT $$) &
: > "$here/paused"
kill -STOP $$
kill $!

code=0
"$1" done || code=$?
cd "$here/repository"
"$1" abandon "$2" || true
echo "$code" > "$here/woken"
)sh";

std::string file_list(const DemoPlan& plan) {
  std::string list;
  for (const std::string& file : plan.files) list += (list.empty() ? "" : " ") + file;
  return list;
}

std::string check_script(const DemoPlan& plan) {
  constexpr std::string_view kPlace = "$FILES";
  const std::string list = file_list(plan);
  std::string text = kCheckScript;
  for (std::size_t at = text.find(kPlace); at != std::string::npos; at = text.find(kPlace))
    text.replace(at, kPlace.size(), list);
  return text;
}

std::string functions_of(const DemoPlan& plan, const std::string& file) {
  std::string text = "#include \"steps.h\"\n";
  for (const DemoStep& step : plan.steps) {
    if (step.file == file)
      text += fmt::format("\nlong {}(void) {{\n  return 0;\n}}\n", step.function);
  }
  return text;
}

std::string header_of(const DemoPlan& plan) {
  std::string text =
      "#pragma once\n\nstruct entry {\n  const char* name;\n  long (*step)(void);\n};\n"
      "extern const struct entry table[];\n\n";
  for (const DemoStep& step : plan.steps) text += fmt::format("long {}(void);\n", step.function);
  return text;
}

constexpr const char* kTable = R"(#include "steps.h"

const struct entry table[] = {
  /* new entries go above this line */
  {0, 0},
};
)";

std::string check_of(const DemoPlan& plan) {
  std::string text = R"(#include <stdio.h>

#include "steps.h"

static const struct expected {
  const char* name;
  long (*step)(void);
  long answer;
} all[] = {
)";
  for (const DemoStep& step : plan.steps)
    text += fmt::format("  {{\"{0}\", {0}, {1}}},\n", step.function, step.answer);
  text += R"(};

int main(void) {
  int there = 0, wrong = 0, entries = 0;
  const int count = (int)(sizeof all / sizeof all[0]);
  for (int i = 0; i < count; ++i) {
    const long answer = all[i].step();
    if (answer == 0) continue;
    ++there;
    if (answer == all[i].answer) continue;
    printf("%s answers %ld, not %ld\n", all[i].name, answer, all[i].answer);
    ++wrong;
  }
  for (; table[entries].step; ++entries) {
    if (table[entries].step() != 0) continue;
    printf("%s is in the table, and not there\n", table[entries].name);
    ++wrong;
  }
  printf("%d of %d steps, %d in the table\n", there, count, entries);
  return wrong != 0;
}
)";
  return text;
}

std::string program_of(const DemoPlan& plan) {
  std::string text;
  for (const std::string& file : plan.files) text += fmt::format("#include \"{}\"\n", file);
  return text + "#include \"table.c\"\n#include \"check.c\"\n";
}

std::string_view name_of(Mishap mishap) {
  switch (mishap) {
    case Mishap::none:
      return "none";
    case Mishap::mistake:
      return "mistake";
    case Mishap::killed:
      return "killed";
    case Mishap::paused:
      return "paused";
  }
  return "none";
}

std::string plan_script(const DemoPlan& plan) {
  std::string text = "case $DIBS_ITEM in\n";
  for (const DemoStep& step : plan.steps) {
    const std::string entry =
        step.in_table ? fmt::format("{{\"{0}\", {0}}},", step.function) : std::string();
    text += fmt::format(
        "{}) file={} function={} think={}.{:03} mishap={}\n"
        "  formula='{}' mistake='{}' entry='{}' ;;\n",
        step.item, step.file, step.function, step.think_ms / 1000, step.think_ms % 1000,
        name_of(step.mishap), formula_of(plan, step), wrong_formula_of(plan, step), entry);
  }
  return text + "*) echo \"$DIBS_ITEM is not in the plan\"; exit 1 ;;\nesac\n";
}

// Nothing here has to survive a power failure.
Done write(FileSystem& files, const std::string& path, const std::string& text) {
  const Result<std::unique_ptr<File>> file = files.open(path, Open::create_append);
  if (!file) return fail(file.error());
  return (*file)->append(text);
}

}  // namespace

std::vector<ProjectFile> demo_files(const DemoPlan& plan) {
  std::vector<ProjectFile> files{{.path = "worker.sh", .text = kWorkerScript},
                                 {.path = "paused.sh", .text = kPausedScript},
                                 {.path = "plan.sh", .text = plan_script(plan)},
                                 {.path = "repository/.dibs/config.toml", .text = kConfig},
                                 {.path = "repository/.gitignore", .text = "/program\n"},
                                 {.path = "repository/check.sh", .text = check_script(plan)},
                                 {.path = "repository/steps.h", .text = header_of(plan)},
                                 {.path = "repository/table.c", .text = kTable},
                                 {.path = "repository/check.c", .text = check_of(plan)},
                                 {.path = "repository/program.c", .text = program_of(plan)}};
  for (const std::string& file : plan.files)
    files.push_back({.path = "repository/" + file, .text = functions_of(plan, file)});
  return files;
}

Done write_demo_files(FileSystem& files, const DemoPlan& plan, const std::string& directory) {
  for (const char* below : {"", "/repository", "/repository/.dibs"}) {
    if (Done made = files.make_directory(directory + below); !made) return made;
  }
  for (const ProjectFile& file : demo_files(plan)) {
    if (Done written = write(files, directory + "/" + file.path, file.text); !written)
      return written;
  }
  return {};
}

std::string all_right(const DemoPlan& plan) {
  return fmt::format("{0} of {0} steps, {1} in the table", plan.steps.size(), plan.in_table());
}

}  // namespace dibs::verbs
