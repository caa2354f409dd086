// Draws bars, stacks and lines as SVG.
#include "report/charts/svg_chart.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/charts/svg_parts.h"
#include "report/tables/cell_text.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

using base::Chart;
using base::Unit;

// Of a chart kSvgWidth wide.
constexpr double kSvgChartRow = 22;  // of a horizontal bar, with its gap
constexpr double kWidestColumn = 60;
constexpr std::size_t kSvgChartMostRows = 40;  // of horizontal bars
constexpr std::size_t kMostColumns = 190;      // of vertical bars
constexpr std::size_t kMostPoints = 700;       // of lines

std::string box(double x, double y, double width, double height, std::string_view colour,
                std::string_view tip) {
  return fmt::format(
      "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>\n",
      colour, svg_number(x), svg_number(y), svg_number(std::max(width, 0.3)),
      svg_number(std::max(height, 0.3)), html_text(tip));
}

std::string svg_chart_tip_of(const Series& series, std::size_t place, const Line& line,
                             double whole) {
  const double value = line.values[place];
  std::string tip = series.x.empty() ? series.full[place]
                                     : fmt::format("{} {}", series.x_title, series.full[place]);
  tip += fmt::format(": {} {}", line.name, value_text(value, series.unit));
  if (whole > 0 && series.lines.size() > 1) tip += fmt::format(" ({})", share_text(value / whole));
  return tip;
}

// Bars from left to right, a place below the other: names, ranks.
std::string lying_bars(const Series& series, double largest, bool stacked) {
  const std::size_t places = std::min(series.labels.size(), kSvgChartMostRows);
  std::size_t longest = 0;
  for (std::size_t i = 0; i < places; ++i) {
    longest = std::max(longest, text_width(series.labels[i]));
  }
  const bool numbered = !series.x.empty();
  const double extra = numbered ? static_cast<double>(series.x_title.size() + 1) : 0;
  const double room = std::min((static_cast<double>(longest) + extra) * kSvgCharacter + 10, 340.0);
  const std::vector<double> marks = ticks(largest, series.unit, 5);
  const double end = marks.back() > 0 ? marks.back() : 1;
  // Beside each other: each line has a bar of its own.
  const std::size_t bars = stacked ? 1 : series.lines.size();
  const double bar = bars == 1 ? kSvgChartRow - 6 : 12;
  const double row = bars == 1 ? kSvgChartRow : bar * static_cast<double>(bars) + 8;
  const SvgFrame frame{room, 4, kSvgWidth - 74, 4 + row * static_cast<double>(places)};
  std::string svg = svg_opening(frame.bottom + 20, svg_label(series));
  for (const double mark : marks) {
    const double x = frame.left + frame.width() * mark / end;
    svg += svg_rule(x, frame.top, x, frame.bottom) +
           svg_text(x, frame.bottom + 14, "middle", tick_text(mark, series.unit));
  }
  for (std::size_t i = 0; i < places; ++i) {
    double y = frame.top + row * static_cast<double>(i) + (bars == 1 ? 3 : 4);
    const std::string label =
        numbered ? fmt::format("{} {}", series.x_title, series.labels[i]) : series.labels[i];
    svg += svg_text(frame.left - 6, y + bar * static_cast<double>(bars) / 2 + 4, "end", label);
    const double whole = series.sum_at(i);
    double x = frame.left;
    for (std::size_t l = 0; l < series.lines.size(); ++l) {
      const double value = series.lines[l].values[i];
      const double width = value > 0 ? frame.width() * value / end : 0;
      if (value > 0) {
        svg += box(x, y, width, bar, svg_colour(series, l, stacked),
                   svg_chart_tip_of(series, i, series.lines[l], stacked ? whole : 0));
      }
      if (bars > 1) {
        svg += svg_text(x + width + 5, y + 10, "start", value_text(value, series.unit));
        y += bar;
      } else {
        x += width;
      }
    }
    if (bars == 1) svg += svg_text(x + 5, y + 12, "start", value_text(whole, series.unit));
  }
  return svg + "</svg>\n";
}

std::string standing_bars(const Series& all, double largest, bool stacked) {
  const Series series = thinned(all, kMostColumns, Together::kSum);
  if (series.labels.size() < all.labels.size()) largest = series.largest_sum();
  const std::vector<double> marks = ticks(largest, series.unit, 4);
  if (marks.back() <= 0) return {};
  const SvgFrame frame = svg_plot();
  const auto places = static_cast<double>(series.labels.size());
  const double slot = std::min(frame.width() / places, kWidestColumn);
  const double gap = slot > 6 ? 2 : slot > 3 ? 1 : 0;
  std::string svg = svg_grid(frame, marks, series);
  // As many labels as have room.
  std::size_t longest = 1;
  for (const std::string& label : series.labels) longest = std::max(longest, label.size());
  const double label_room = static_cast<double>(longest + 2) * kSvgCharacter;
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(label_room / slot)));
  for (std::size_t i = 0; i < series.labels.size(); ++i) {
    const double left = frame.left + slot * static_cast<double>(i);
    if (i % every == 0) {
      svg += svg_text(left + slot / 2, frame.bottom + 15, "middle", series.labels[i]);
    }
    const double whole = series.sum_at(i);
    double base = frame.bottom;
    const auto lines = static_cast<double>(series.lines.size());
    for (std::size_t l = 0; l < series.lines.size(); ++l) {
      const double value = series.lines[l].values[i];
      if (!(value > 0)) continue;
      const double height = frame.height() * value / marks.back();
      const std::string tip = svg_chart_tip_of(series, i, series.lines[l], stacked ? whole : 0);
      if (stacked) {
        base -= height;
        svg += box(left + gap / 2, base, slot - gap, height, svg_colour(series, l, true), tip);
      } else {
        const double width = (slot - gap) / lines;
        svg += box(left + gap / 2 + width * static_cast<double>(l), frame.bottom - height, width,
                   height, svg_colour(series, l, false), tip);
      }
    }
  }
  return svg + "</svg>\n";
}

std::string lines_chart(const Series& all) {
  const Series series = thinned(all, kMostPoints, Together::kLargest);
  const std::vector<double> marks = ticks(series.largest(), series.unit, 4);
  if (marks.back() <= 0 || series.x.empty()) return {};
  const SvgFrame frame = svg_plot();
  const auto [low, high] = std::ranges::minmax(series.x);
  const double span = high > low ? high - low : 1;
  std::string svg = svg_grid(frame, marks, series);
  const std::vector<double> places = ticks(span, series.x_unit, 6);
  for (const double mark : places) {
    if (mark > span) break;
    const double value = low + mark;
    svg += svg_text(frame.left + frame.width() * mark / span, frame.bottom + 15, "middle",
                    tick_text(series.x_unit == Unit::kInstant ? mark : value, series.x_unit));
  }
  for (std::size_t l = 0; l < series.lines.size(); ++l) {
    const Line& line = series.lines[l];
    std::string path;
    bool pen_down = false;
    for (std::size_t i = 0; i < line.values.size(); ++i) {
      if (std::isnan(line.values[i])) {
        pen_down = false;
        continue;
      }
      const std::string x = svg_number(frame.left + frame.width() * (series.x[i] - low) / span);
      const std::string y =
          svg_number(frame.bottom - frame.height() * line.values[i] / marks.back());
      // A level holds until the next change.
      if (pen_down && series.x_unit == Unit::kInstant) {
        path += fmt::format("H{}V{}", x, y);
      } else {
        path += fmt::format("{}{} {}", pen_down ? "L" : "M", x, y);
      }
      pen_down = true;
    }
    svg +=
        fmt::format("<path class=\"l{}\" d=\"{}\"><title>{}, largest {}</title></path>\n",
                    l % kSvgColours, path, html_text(line.name),
                    html_text(value_text(Series{.labels = series.labels, .lines = {line}}.largest(),
                                         series.unit)));
  }
  return svg + "</svg>\n";
}

}  // namespace

std::string svg_chart(const Series& series, Chart chart) {
  constexpr std::size_t kFewPlaces = 12;
  if (series.labels.empty()) return {};
  const bool stacked = chart == Chart::kStack;
  if (stacked && series.is_curve && !series.x.empty()) return svg_area(series);
  const double largest = stacked ? series.largest_sum() : series.largest();
  switch (chart) {
    case Chart::kBars:
    case Chart::kStack: {
      const bool few = series.labels.size() <= kFewPlaces;
      if (series.x.empty() || few) return lying_bars(series, largest, stacked);
      return standing_bars(series, largest, stacked);
    }
    case Chart::kHistogram:
      return standing_bars(series, largest, false);
    case Chart::kLine:
      return lines_chart(series);
    case Chart::kNone:
    case Chart::kTree:
      break;
  }
  return {};
}

std::string svg_legend(const Series& series, base::Chart chart) {
  if (series.lines.size() < 2) return {};
  std::string html = "<p class=\"legend\">";
  for (std::size_t l = 0; l < series.lines.size(); ++l) {
    html +=
        fmt::format("<span><i class=\"{}\"></i>{}</span>",
                    svg_colour(series, l, chart == Chart::kStack), html_text(series.lines[l].name));
  }
  return html + "</p>\n";
}

}  // namespace stepscope::report
