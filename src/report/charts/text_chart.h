// Charts of characters: a stacked bar for each place, a line of small bars for a series.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "report/charts/series.h"
#include "report/writing/text_table.h"

namespace stepscope::report {

// The mark of one part among several, `length` times: by its colour, without colours by its
// pattern.
std::string part_marks(std::size_t part, std::size_t parts, std::size_t length, const Look& look);

// Names and values of the parts with their marks, as many a line as have room.
struct LegendItem {
  std::size_t part = 0;
  std::string text;
};
std::string legend_text(std::span<const LegendItem> items, std::size_t parts, const Look& look);

// A curve as a filled area: time or events to the right, a line per level, the parts on each other;
// below it bands and marks.
std::string area_text(const Series& series, const Look& look);

// One line of exactly `width` columns: each part as long as its share of the sum, none that is
// there left out. Parts differ by colour, without colours by their pattern.
std::string stack_line(std::span<const double> parts, std::size_t width, const Look& look);

// Bars from 0 to the largest value, one column each; NaN is a space.
std::string sparkline(std::span<const double> values);

// A stacked bar per place with its label and sum, and the legend below: shares of the total.
std::string stack_text(const Series& series, std::size_t most_rows, const Look& look);

// A sparkline with the smallest and the largest value.
std::string spark_text(const Series& series, const Look& look);

}  // namespace stepscope::report
