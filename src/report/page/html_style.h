// The look of the HTML report, and the few lines that sort its tables. Everything is in the file:
// it opens without a network, and reads without scripts.
#pragma once

#include <string_view>

namespace stepscope::report {

extern const std::string_view kHtmlStyle;
extern const std::string_view kHtmlScript;

}  // namespace stepscope::report
