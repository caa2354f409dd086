// What a RawEvent becomes: rows in the shard's tables. The only place that knows which arguments of
// which kind of event the model holds.
#pragma once

#include "ingest/kineto/raw_event.h"
#include "trace/stage.h"

namespace stepscope::ingest::kineto {

// Adds the event to the shard, as the shard's next entry.
void stage(const RawEvent& draft, trace::Shard& shard);

}  // namespace stepscope::ingest::kineto
