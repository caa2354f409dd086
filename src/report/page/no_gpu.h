// Runs in which no GPU worked: one line of the report says so, and the rest of it is about the
// host.
#pragma once

#include <string>

#include "report/page/page.h"

namespace stepscope::report {

// Nothing was traced on a device, called into one, or seen of one by the sampler.
bool worked_without_gpu(const Answers& answers);

// "none was seen: …"
std::string no_gpu_fact(const Answers& answers);

}  // namespace stepscope::report
