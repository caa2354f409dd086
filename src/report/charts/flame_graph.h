// A flame graph as one SVG file that needs nothing else: no script, no font, no page around it. The
// outermost frames are on top; a box is as wide as the time of its frame with all it called, and
// stands below its caller, the longest first. What is too narrow to see is one grey box with its
// count. The file stays small whatever the trace: so many boxes and levels, and no more.
#pragma once

#include <string>
#include <string_view>

#include "base/table.h"

namespace stepscope::report {

struct FlameGraphText {
  std::string title = {};  // of the run
  std::string about = {};  // what the widths are
};

// `frames` is a tree in order with the columns rank, frame, kind and depth; `width` is the column
// that is drawn.
std::string flame_graph_svg(const base::Table& frames, std::string_view width,
                            const FlameGraphText& text);

// Stacks in the format flame-graph tools read: a line for each, "main;forward;gemm 1200". The
// format has no way to write a ; inside of a name; it becomes a comma.

// From a tree of frames in order, one line for each row whose `own` column is above 0. With several
// ranks, each begins with a frame "rank N".
std::string folded_text(const base::Table& frames, std::string_view own);

}  // namespace stepscope::report
