// A memory snapshot in a few sentences: the peak and who holds it, why a request failed and the
// cheapest way out, what leaks, what is held for nothing.
#pragma once

#include <vector>

#include "report/page/page.h"

namespace stepscope::report {

// One text per device of a snapshot, named by it.
std::vector<NamedText> memory_story(const Answers& answers);

}  // namespace stepscope::report
