// The arguments of an event from its columns, under the names Kineto gives them.
#pragma once

#include "emit/json/json_text.h"
#include "emit/redaction/texts.h"
#include "trace/trace.h"

namespace stepscope::emit {

// Appends a member "args", unless there are none.
void append_args(Members& event, const trace::Trace& trace, const Texts& texts, trace::Row row);

}  // namespace stepscope::emit
