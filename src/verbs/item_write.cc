#include "verbs/item_write.h"

namespace dibs::verbs {

namespace {

// The local store finishes a landing that was cut short, or sees that it did not happen; and waits
// for a git that is still at it. On a remote, landings lock nothing here.
Done settle_landing(Workspace& workspace) {
  const Result<const StoreBackend*> backend = workspace.backend();
  if (!backend) return fail(backend.error());
  const Result<Upkeep*> upkeep = workspace.upkeep();
  if (!upkeep) return fail(upkeep.error());
  if ((*backend)->is_remote || *upkeep == nullptr) return {};
  const Result<RepairReport> repaired = (*upkeep)->repair();
  return repaired ? Done{} : fail(repaired.error());
}

}  // namespace

Result<bool> write_items(Workspace& workspace, ItemSource& source, const ItemSource::Batch& batch) {
  Result<bool> written = source.write(batch);
  if (written || written.error().kind != ErrorKind::contended) return written;
  if (!settle_landing(workspace)) return written;
  return source.write(batch);
}

}  // namespace dibs::verbs
