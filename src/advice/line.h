// Rows of tables, as rules read them.
#pragma once

#include "base/table_line.h"

namespace stepscope::advice {

using Line = base::TableLine;

}  // namespace stepscope::advice
