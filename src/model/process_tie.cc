#include "model/process_tie.h"

#include <nlohmann/json.hpp>

namespace dibs {

std::string to_json(const ProcessTie& process) {
  return JsonObject()
      .add("host", process.host)
      .add("boot_id", process.boot.text)
      .add("pid_ns", process.pid_namespace)
      .add("pid", process.pid)
      .add("start_ticks", process.start_ticks)
      .text();
}

std::optional<ProcessTie> process_from(const Json& json) {
  const auto host = text_member(json, "host");
  const auto boot = text_member(json, "boot_id");
  const auto pid = integer_member(json, "pid");
  const auto ticks = unsigned_member(json, "start_ticks");
  if (!host || !boot || !pid || !ticks) return std::nullopt;
  return ProcessTie{.host = *host,
                    .boot = {*boot},
                    .pid_namespace = unsigned_member(json, "pid_ns").value_or(0),
                    .pid = *pid,
                    .start_ticks = *ticks};
}

}  // namespace dibs
