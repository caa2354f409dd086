// Numbers as people read them: three significant digits with a unit that fits. Files for machines
// carry full precision instead and never pass through here.
#pragma once

#include <cstdint>
#include <string>

#include "base/units.h"

namespace stepscope::report {

std::string duration_text(base::Nanos ns);  // "241 ms", "1.20 s", "-3.00 µs", "2.50 h"
// In the unit that `like` has, so that lengths beside each other can be compared: "0.64 ms".
std::string duration_text_like(base::Nanos ns, base::Nanos like);
// "0.94 → 1.20 ms": the unit once, unless one of them would be lost in it.
std::string durations_text(base::Nanos before, base::Nanos after);
std::string bytes_text(std::uint64_t bytes);     // "140 GiB"
std::string count_text(std::uint64_t count);     // "12,345"
std::string rate_text(double bytes_per_second);  // "1.25 GB/s": decimal, as disks are sold
std::string percent_text(std::uint64_t part, std::uint64_t whole);  // "99.8 %"; "100 %" only if all
std::string unix_time_text(std::int64_t unix_ns);                   // "2026-10-01 12:17:06.123 UTC"

// "1 rank", "2 ranks": the plural is the singular with an s.
std::string counted(std::uint64_t count, const std::string& singular);

}  // namespace stepscope::report
