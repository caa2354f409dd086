// The first line of a window: what the file says about itself, its tracks and its steps.
#pragma once

#include <cstdint>
#include <string>

#include "emit/redaction/texts.h"
#include "trace/trace.h"

namespace stepscope::emit {

struct WindowName {
  std::int32_t rank;
  std::uint32_t window;
};

void append_header(std::string& out, const trace::Trace& trace, WindowName name,
                   const Texts& texts);

}  // namespace stepscope::emit
