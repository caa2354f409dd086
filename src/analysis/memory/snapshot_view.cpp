#include "analysis/memory/snapshot_view.h"

namespace stepscope::analysis {

void prepare_snapshot(SnapshotView& /*view*/) {}

}  // namespace stepscope::analysis
