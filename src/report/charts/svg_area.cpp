// Draws a curve of stacked parts as SVG.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "report/charts/svg_chart.h"
#include "report/charts/svg_parts.h"
#include "report/tables/cell_text.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

constexpr double kBand = 9;           // height of the strip of passes
constexpr std::size_t kMarkRows = 6;  // of names of steps that stand close together
constexpr double kMarkRow = 11;
constexpr std::size_t kMost = 1200;  // places; more are finer than the screen

struct Area {
  const Series& series;
  std::vector<std::size_t> places;  // those drawn
  SvgFrame frame;
  double top;  // value at the upper end

  double x(std::size_t i) const {
    const double low = series.x[places.front()];
    const double span = series.x[places.back()] - low;
    const double at = i < places.size() ? series.x[places[i]] - low : span;
    return frame.left +
           frame.width() * (i < places.size() ? at : span + extra()) / (span + extra());
  }
  // The last of counted places needs some width, too; a last moment is the end, and nothing
  // follows.
  double extra() const {
    const double span = series.x[places.back()] - series.x[places.front()];
    if (!(span > 0)) return 1;
    return series.x_unit == base::Unit::kInstant ? 0 : span / static_cast<double>(places.size());
  }
  double y(double value) const { return frame.bottom - frame.height() * value / top; }
};

std::string part_path(const Area& area, std::size_t line) {
  const Series& series = area.series;
  std::string upper;
  std::vector<std::string> lower;  // the way back along the lower edge
  bool any = false;
  for (std::size_t i = 0; i < area.places.size(); ++i) {
    double below = 0;
    for (std::size_t l = 0; l < line; ++l) {
      const double part = series.lines[l].values[area.places[i]];
      below += part > 0 ? part : 0;  // NaN: not known
    }
    const double value = series.lines[line].values[area.places[i]];
    const double above = below + (value > 0 ? value : 0);
    any = any || value > 0;
    const std::string right = svg_number(area.x(i + 1));
    // A level holds until the next place.
    upper +=
        fmt::format("{}V{}H{}",
                    i == 0 ? fmt::format("M{} {}", svg_number(area.x(0)), svg_number(area.y(above)))
                           : std::string(),
                    svg_number(area.y(above)), right);
    lower.push_back(fmt::format("V{}H{}", svg_number(area.y(below)), svg_number(area.x(i))));
  }
  if (!any) return {};
  std::ranges::reverse(lower);
  return fmt::format("<path class=\"{}\" d=\"{}{}Z\"/>\n", svg_colour(series, line, true), upper,
                     fmt::join(lower, ""));
}

// Everything that is known of a place, shown when the pointer is over it.
std::string svg_area_tip_of(const Series& series, std::size_t place) {
  std::string tip = fmt::format("{} {}", series.x_title, series.full[place]);
  if (!series.marks.empty() && !series.marks[place].empty()) {
    tip += fmt::format(", step {}", series.marks[place]);
  }
  if (!series.bands.empty() && !series.bands[place].empty()) tip += ", " + series.bands[place];
  tip += fmt::format(": {}", value_text(series.sum_at(place), series.unit));
  for (const Line& line : series.lines) {
    if (line.values[place] > 0) {
      tip += fmt::format("\n{} {}", line.name, value_text(line.values[place], series.unit));
    }
  }
  return tip;
}

std::string bands_of(const Area& area) {
  const Series& series = area.series;
  if (series.bands.empty()) return {};
  std::vector<std::string> kinds;
  std::string svg;
  for (std::size_t i = 0; i < area.places.size();) {
    const std::string& band = series.bands[area.places[i]];
    std::size_t end = i + 1;
    while (end < area.places.size() && series.bands[area.places[end]] == band) ++end;
    if (!band.empty()) {
      auto kind = std::ranges::find(kinds, band);
      if (kind == kinds.end()) kind = kinds.insert(kinds.end(), band);
      const double left = area.x(i);
      const double width = area.x(end) - left;
      svg += fmt::format(
          "<rect class=\"b{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title>"
          "</rect>\n",
          (kind - kinds.begin()) % 3, svg_number(left), svg_number(area.frame.bottom + 2),
          svg_number(std::max(width, 0.5)), svg_number(kBand), html_text(band));
      if (width > static_cast<double>(band.size()) * kSvgCharacter) {
        svg += svg_text(left + width / 2, area.frame.bottom + kBand + 1, "middle", band);
      }
    }
    i = end;
  }
  return svg;
}

std::string marks_of(const Area& area) {
  const Series& series = area.series;
  std::string svg;
  std::string last;
  // Steps that are short beside the whole get their names below each other.
  std::array<double, kMarkRows> free_from = {};
  for (std::size_t i = 0; i < series.marks.size() && i < area.places.size(); ++i) {
    const std::string& mark = series.marks[area.places[i]];
    if (mark == last) continue;
    last = mark;
    if (mark.empty()) continue;
    const double x = area.x(i);
    svg += fmt::format("<path class=\"mark\" d=\"M{} {}V{}\"/>\n", svg_number(x),
                       svg_number(area.frame.top), svg_number(area.frame.bottom + kBand + 4));
    const std::string text = fmt::format("step {}", mark);
    const double width = static_cast<double>(text.size() + 1) * kSvgCharacter;
    const bool is_before = x + width > area.frame.right;
    const double left = is_before ? x - width : x;
    const auto row = std::ranges::find_if(free_from, [&](double from) { return left >= from; });
    if (row == free_from.end()) continue;
    *row = left + width;
    svg += svg_text(is_before ? x - 2 : x + 2,
                    area.frame.top + 8 + kMarkRow * static_cast<double>(row - free_from.begin()),
                    is_before ? "end" : "start", text);
  }
  return svg;
}

}  // namespace

std::string svg_area(const Series& series) {
  const std::vector<double> marks = ticks(series.largest_sum(), series.unit, 5);
  if (marks.back() <= 0) return {};
  SvgFrame frame = svg_plot();
  frame.bottom += 70;  // a curve is looked at for longer
  std::vector<std::size_t> places = tallest_places(series, std::min(series.labels.size(), kMost));
  if (series.x_unit == base::Unit::kInstant && places.back() + 1 < series.labels.size()) {
    places.push_back(series.labels.size() - 1);  // the end of the axis is the end of the history
  }
  const Area area{series, std::move(places), frame, marks.back()};
  const double below = series.bands.empty() ? 0 : kBand + 3;
  std::string svg = svg_grid(frame, marks, series, below);
  for (std::size_t l = 0; l < series.lines.size(); ++l) svg += part_path(area, l);
  if (series.level > 0 && series.level < area.top) {
    const std::string y = svg_number(area.y(series.level));
    const auto from = static_cast<std::size_t>(
        std::ranges::lower_bound(area.places, series.level_from) - area.places.begin());
    const double left = area.x(std::min(from, area.places.size() - 1));
    svg += fmt::format("<path class=\"level\" d=\"M{} {}H{}\"/>\n", svg_number(left), y,
                       svg_number(frame.right));
    // After the curve's middle there is more room before the line than on it.
    const bool is_late = left > (frame.left + frame.right) / 2;
    svg +=
        svg_text(is_late ? left - 4 : left + 4, area.y(series.level) - 4, is_late ? "end" : "start",
                 fmt::format("floor {}", value_text(series.level, series.unit)));
  }
  svg += bands_of(area) + marks_of(area);
  const double low = series.x[area.places.front()];
  const double high = series.x[area.places.back()];
  for (const double tick : ticks(high, series.x_unit, 6)) {
    if (tick < low || tick > high) continue;
    const double x = frame.left + (area.x(area.places.size() - 1) - frame.left) * (tick - low) /
                                      (high > low ? high - low : 1);
    svg += svg_text(x, frame.bottom + 15 + below, "middle", tick_text(tick, series.x_unit));
  }
  for (std::size_t i = 0; i < area.places.size(); ++i) {
    svg += fmt::format(
        "<rect class=\"tip\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title>"
        "</rect>\n",
        svg_number(area.x(i)), svg_number(frame.top), svg_number(area.x(i + 1) - area.x(i)),
        svg_number(frame.height()), html_text(svg_area_tip_of(series, area.places[i])));
  }
  return svg + "</svg>\n";
}

}  // namespace stepscope::report
