// Numbers as people read them: three significant digits with a unit that fits. Files for machines
// carry full precision instead and never pass through here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

// A change as people read it: signed, with as many digits as its error leaves.

// A change of more than +1000 % is no per cent that anybody can picture.
inline constexpr double kMostAsShare = 10;
// "11.5 times", "19,080 times": after, divided by before.
std::string times_as_much(double share);

// "+25 %", "+3.2 %", "−0.4 %": as many digits as an error of that size leaves. Beyond +1000 % it is
// said how many times it is: "120 times".
std::string signed_share_text(double share, std::optional<double> error = std::nullopt);
// The same without a sign, of a change in either direction: "12 %", "120 times".
std::string amount_of_change_text(double share);
// "+25 % ± 2 %"; where little is known and the change is not in the middle of its bounds: "−61 %,
// between −98 % and +88 %"; and where "±" would reach zero though neither bound does.
std::string bounded_share_text(double share, double low, double high);
// A share that changed, in points: "+5.0 points ± 0.3", of 10 % that became 15 %. Per cent of a
// per cent are misread.
std::string points_text(double change);
std::string bounded_points_text(double change, double low, double high);

// Of the steps of a run, so that all add up: " (4 of warm-up left out)", " (left out: 4 of warm-up,
// 5 in trace windows and beside them)"; empty: none.
std::string left_out_steps_text(std::size_t warmup, std::size_t in_windows);

}  // namespace stepscope::report
