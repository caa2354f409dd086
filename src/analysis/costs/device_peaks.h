// Peaks of the devices of a run.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "analysis/costs/peaks.h"
#include "analysis/view.h"

namespace stepscope::analysis {

// Of the device some work ran on, with the reason where there are none.
FoundPeaks peaks_of(const RunView& view, const WindowView& window, std::int32_t device);

// A sentence for each device that the trace does not describe, for each whose peaks are not known,
// and for each entry of the user's that fits no device of the run; each said once.
std::vector<std::string> remarks_on_peaks(const RunView& view);

// A sentence for each device in use whose peaks are known, but not in one of these arithmetics of
// matrices.
std::vector<std::string> why_no_peak_in(const RunView& view, const std::set<Arithmetic>& in_use);

}  // namespace stepscope::analysis
