// The arguments of an event that columns hold, as Perfetto's debug annotations.
#pragma once

#include "emit/perfetto/perfetto_packets.h"
#include "trace/trace.h"

namespace stepscope::emit::perfetto {

void add_args(Packets& packets, const trace::Trace& trace, const Texts& texts, trace::Row row);

}  // namespace stepscope::emit::perfetto
