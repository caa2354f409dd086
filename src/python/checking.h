// `stepscope check` over step times that Python holds.
#pragma once

#include <string>
#include <vector>

namespace stepscope::python {

// A list of step times in seconds per run; `rules` is a file, or empty. JSON stepscope.check/1.
std::string check_steps(const std::vector<std::vector<double>>& runs,
                        const std::vector<std::vector<double>>& baseline, const std::string& rules);

}  // namespace stepscope::python
