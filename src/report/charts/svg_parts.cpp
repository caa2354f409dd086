// Axes, texts and colours that all SVG charts share.
#include "report/charts/svg_parts.h"

#include <fmt/format.h>

#include "report/charts/svg_chart.h"

namespace stepscope::report {
namespace {

constexpr double kPlotHeight = 150;

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string svg_number(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string svg_opening(double height, std::string_view label) {
  return fmt::format("<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                     svg_number(kSvgWidth), svg_number(height), html_text(label));
}

std::string svg_text(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", svg_number(x),
                     svg_number(y), anchor, html_text(text));
}

std::string svg_rule(double x1, double y1, double x2, double y2) {
  return fmt::format("<path class=\"rule\" d=\"M{} {}L{} {}\"/>\n", svg_number(x1), svg_number(y1),
                     svg_number(x2), svg_number(y2));
}

std::string svg_colour(const Series& series, std::size_t line, bool stacked) {
  const bool rest = stacked && is_rest(series, line);
  return rest ? "rest" : fmt::format("s{}", line % kSvgColours);
}

std::string svg_label(const Series& series) {
  std::string label;
  for (const Line& line : series.lines) {
    label += fmt::format("{}{}", label.empty() ? "" : ", ", line.name);
  }
  return fmt::format("{} by {}{}{}", label, series.x_title, series.group.empty() ? "" : ", ",
                     series.group);
}

std::string svg_grid(const SvgFrame& frame, const std::vector<double>& marks, const Series& series,
                     double below) {
  std::string svg = svg_opening(frame.bottom + 34 + below, svg_label(series));
  for (const double mark : marks) {
    const double y = frame.bottom - frame.height() * mark / marks.back();
    svg += svg_rule(frame.left, y, frame.right, y) +
           svg_text(frame.left - 6, y + 4, "end", tick_text(mark, series.unit));
  }
  return svg + svg_text(frame.right, frame.bottom + 30 + below, "end", series.x_title);
}

SvgFrame svg_plot() { return {74, 8, kSvgWidth - 8, 8 + kPlotHeight}; }

}  // namespace stepscope::report
