// Who started a kernel: the operator, and the module or named range around it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analysis/view.h"

namespace stepscope::analysis {

// The operator that launched it; empty: not recorded.
std::string_view launching_operator(const WindowView& window, const Work& piece);
// The innermost named range or module around its launch, else the outermost operator; steps are
// none. Empty: not recorded.
std::string_view range_around(const WindowView& window, const Work& piece);

// Names in a row with equal ones counted: "a | 3 x b"; an empty name is "unknown". So many and no
// more: a step of an optimizer may have thousands.
std::string joined_names(std::span<const std::string_view> names);

}  // namespace stepscope::analysis
