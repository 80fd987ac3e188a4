#include "base/error.h"

namespace dibs {

std::string_view name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::internal:
      return "internal";
    case ErrorKind::held:
      return "held";
    case ErrorKind::not_found:
      return "not_found";
    case ErrorKind::lease_lost:
      return "lease_lost";
    case ErrorKind::nothing_ready:
      return "nothing_ready";
    case ErrorKind::timed_out:
      return "timed_out";
    case ErrorKind::refused:
      return "refused";
    case ErrorKind::deadlock_victim:
      return "deadlock_victim";
    case ErrorKind::not_set_up:
      return "not_set_up";
    case ErrorKind::unreachable:
      return "unreachable";
    case ErrorKind::contended:
      return "contended";
    case ErrorKind::usage:
      return "usage";
  }
  return "internal";
}

}  // namespace dibs
