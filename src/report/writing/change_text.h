// A change as people read it: signed, with as many digits as its error leaves.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace stepscope::report {

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
