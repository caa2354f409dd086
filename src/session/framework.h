// Which training framework drove the run, so that advice speaks its language.
#pragma once

#include "advice/finding.h"
#include "trace/run.h"

namespace stepscope::session {

advice::Framework framework_of(const trace::Run& run);

}  // namespace stepscope::session
