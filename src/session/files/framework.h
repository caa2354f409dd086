// Which training framework drove the run and what recorded it, so that advice speaks the language
// of both.
#pragma once

#include "advice/finding.h"
#include "session/session.h"

namespace stepscope::session {

advice::Framework framework_of(const Recording& recording);

advice::Recorder recorder_of(const Recording& recording);

}  // namespace stepscope::session
