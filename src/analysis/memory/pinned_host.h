// Page-locked memory of the host: what one process took for copies to and from devices. It has an
// allocator of its own, of which only the requests are known.
#pragma once

#include "analysis/memory/snapshot_view.h"
#include "base/table.h"

namespace stepscope::analysis {

// A row of memory-summary's table pinned-host, where the snapshot has any.
void add_pinned_host(base::Table& table, const SnapshotView& view);

}  // namespace stepscope::analysis
