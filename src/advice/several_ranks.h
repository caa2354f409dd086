// Whether the job has more ranks than one, recorded here or not.
#pragma once

#include "advice/facts.h"

namespace stepscope::advice {

bool has_several_ranks(const Facts& facts);

}  // namespace stepscope::advice
