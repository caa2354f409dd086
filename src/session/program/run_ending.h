// How the processes of a run ended, by what they wrote down themselves.
#pragma once

#include <string>

#include "analysis/view.h"
#include "session/session.h"

namespace stepscope::session {

// Where a rank did not end by itself: "rank 3 was killed, or still runs". Empty where all did, and
// where nobody says: traces alone do not know.
std::string bad_end_of(const Recording& recording, const analysis::Selection& selection);

}  // namespace stepscope::session
