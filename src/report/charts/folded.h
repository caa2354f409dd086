// Stacks in the format flame-graph tools read: a line for each, "main;forward;gemm 1200". The
// format has no way to write a ; inside of a name; it becomes a comma.
#pragma once

#include <string>
#include <string_view>

#include "base/table.h"

namespace stepscope::report {

// From a tree of frames in order, one line for each row whose `own` column is above 0. With several
// ranks, each begins with a frame "rank N".
std::string folded_text(const base::Table& frames, std::string_view own);

}  // namespace stepscope::report
