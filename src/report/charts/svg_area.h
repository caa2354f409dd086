// A curve of stacked parts: memory over events. Marks, bands and a level are drawn with it.
#pragma once

#include <string>

#include "report/charts/series.h"

namespace stepscope::report {

// Empty when there is nothing to draw.
std::string svg_area(const Series& series);

}  // namespace stepscope::report
