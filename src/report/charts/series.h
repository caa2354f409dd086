// What a chart draws, taken out of a table by its descriptor: groups of lines over shared places.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "base/table.h"

namespace stepscope::report {

struct Line {
  std::string name = {};            // the title of its column
  std::vector<double> values = {};  // by place; null is NaN
};

struct Series {
  std::string group = {};                // "rank 0", or empty
  std::string x_title = {};              // of the column of places
  std::vector<std::string> labels = {};  // of the places: names cut so that they differ
  std::vector<std::string> full = {};    // of the places: names in full
  std::vector<double> x = {};            // of the places where they are numbers, else empty
  std::vector<Line> lines = {};
  std::vector<std::string> marks = {};  // by place: what is marked where it changes; or none
  std::vector<std::string> bands = {};  // by place; or none
  double level = std::numeric_limits<double>::quiet_NaN();  // a line across; NaN: none
  std::size_t level_from = 0;                               // the first place that has it
  bool is_curve = false;  // places are moments of one curve: never to be summed
  base::Unit unit = base::Unit::kNone, x_unit = base::Unit::kNone;

  double largest() const;                  // value, 0 or more
  double sum_at(std::size_t place) const;  // of the lines; what is negative or null counts as 0
  double largest_sum() const;
};

// One series per value of the grouping column, in the order of the rows; none when the table lacks
// a column or has no rows. Names get at most `name_width` columns.
std::vector<Series> series_of(const base::Table& table, const base::Drawing& drawing,
                              std::size_t name_width);

// Whether a line of a stack is what the others left over (idle, other): drawn in the background.
bool is_rest(const Series& series, std::size_t line);

// At most `most` places: neighbours are put together, summed or by their largest value. Only for
// places that are numbers.
enum class Together : unsigned char { kSum, kLargest };
Series thinned(const Series& series, std::size_t most, Together together);

// For a curve, which must not lose its peaks: the axis cut into `count` stretches, and of each the
// place with the largest sum.
std::vector<std::size_t> tallest_places(const Series& series, std::size_t count);

// A number on an axis or in a tooltip, by its unit.
std::string value_text(double value, base::Unit unit);
// Without zeros after the point: "20 ms".
std::string tick_text(double value, base::Unit unit);
// Round values from 0 to at least `largest`, about `count` of them.
std::vector<double> ticks(double largest, base::Unit unit, std::size_t count);

}  // namespace stepscope::report
