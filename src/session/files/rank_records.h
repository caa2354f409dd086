// What ranks wrote down about their own recording, beside what they recorded.
#pragma once

#include <string>

#include "session/session.h"

namespace stepscope::session {

// Whether stepscope wrote this file for that.
bool is_rank_record(const std::string& path);

// Reads it; where it cannot be used it is among the files that were left out, with the reason.
void add_rank_record(const std::string& path, const std::string& within, Recording& recording);

}  // namespace stepscope::session
