// A comparison as people and machines read it. It opens with the sentence that says it all.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "report/page.h"

namespace stepscope::report {

// "step 41.5 → 52.0 ms (+25 % ± 2 %); 9.1 ms of it: DataLoader"
std::string diff_sentence(const analysis::Answer& diff);

// "+25 %", "+3.2 %", "−0.4 %": as many digits as an error of that size leaves. Beyond +1000 % it is
// said how many times it is: "120 times".
std::string signed_share_text(double share, std::optional<double> error = std::nullopt);
// The same without a sign, of a change in either direction: "12 %", "120 times".
std::string amount_of_change_text(double share);
// "+25 % ± 2 %"; where little is known and the change is not in the middle of its bounds: "−61 %,
// between −98 % and +88 %".
std::string bounded_share_text(double share, double low, double high);

// The answers hold that of analysis::kDiff alone, and must outlive the page. `paths` are those
// given, for the commands to run next.
Page make_diff_page(const Answers& answers, std::span<const std::string> paths);

// "stepscope.diff/1", described in docs/cli/diff.md.
std::string diff_json(const analysis::Answer& diff);

}  // namespace stepscope::report
