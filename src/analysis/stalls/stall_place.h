// Where in the program a host event is: the call, the operator a person knows, the Python frames.
#pragma once

#include <string>

#include "trace/trace.h"

namespace stepscope::analysis {

struct PlaceText {
  std::string call;    // of the runtime, or empty
  std::string op;      // the outermost operator around it, else the annotation, or empty
  std::string frames;  // Python's, the innermost first, by "; "; empty: none recorded
};
PlaceText place_text(const trace::Trace& trace, trace::Row row);

}  // namespace stepscope::analysis
