// What a Draft becomes: rows in the lane's tables. The only place that knows which arguments of
// which kind of event the model holds.
#pragma once

#include "ingest/kineto/draft.h"
#include "trace/stage.h"

namespace stepscope::ingest::kineto {

// Adds the event to the lane, as the lane's next entry.
void stage(const Draft& draft, trace::Lane& lane);

}  // namespace stepscope::ingest::kineto
