// What all charts are made of: the frame, axes, texts and colours, in user units of a chart 760
// wide that the page scales.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/charts/series.h"

namespace stepscope::report {

inline constexpr double kSvgWidth = 760;
inline constexpr double kSvgCharacter = 7;  // of the font, on average
inline constexpr std::size_t kSvgColours = 8;

struct SvgFrame {
  double left, top, right, bottom;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

std::string svg_number(double value);
std::string svg_opening(double height, std::string_view label);
std::string svg_text(double x, double y, std::string_view anchor, std::string_view text);
std::string svg_rule(double x1, double y1, double x2, double y2);
// The class of a line of a chart; what is left over stays in the background.
std::string svg_colour(const Series& series, std::size_t line, bool stacked);
// What the chart shows, for those who do not see it.
std::string svg_label(const Series& series);

// Of charts whose places run from left to right, with the axis on the left; `below` more room under
// the axis.
SvgFrame svg_plot();
std::string svg_grid(const SvgFrame& frame, const std::vector<double>& marks, const Series& series,
                     double below = 0);

// A curve of stacked parts: memory over events. Marks, bands and a level are drawn with it.

// Empty when there is nothing to draw.
std::string svg_area(const Series& series);

}  // namespace stepscope::report
