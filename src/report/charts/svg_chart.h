// Charts as SVG text, drawn from a table's descriptor. Colours are classes (s0, s1, …), so that the
// page around decides how they look in light and dark; every mark has its value as a tooltip.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/table.h"
#include "report/charts/series.h"

namespace stepscope::report {

// "&lt;": text for HTML and SVG, also inside of quotes.
std::string html_text(std::string_view text);

// Several lines are stacked when the chart is a stack. Empty when there is nothing to draw.
std::string svg_chart(const Series& series, base::Chart chart);

// The legend, once for all charts with the same lines; empty for one line.
std::string svg_legend(const Series& series, base::Chart chart);

}  // namespace stepscope::report
