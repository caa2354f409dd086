// What a copy's name says: from where to where, and what kind of host memory. CUDA, ROCm and XPU
// write it differently.
#pragma once

#include <optional>
#include <string_view>

#include "trace/trace.h"

namespace stepscope::analysis {

struct CopyName {
  std::string_view kind;         // "HtoD", "DtoH", "DtoD", "PtoP", …; "other" where it is not said
  std::string_view host_memory;  // "pinned", "pageable", "managed"; empty where it is not said
};
CopyName copy_name(std::string_view name);

// "Memset" or the kind of a copy.
std::string_view memory_kind(const trace::Trace& trace, trace::Row row);

// Whether one end is the host and the other is not.
bool crosses_the_bus(std::string_view kind);

// How much was copied or set; nothing where the trace does not say.
std::optional<base::Bytes> bytes_of(const trace::Trace& trace, trace::Row row);

// Bytes a second, rounded down; 0 for no time.
std::int64_t bytes_per_second(base::Bytes bytes, base::Nanos time);

}  // namespace stepscope::analysis
