// Draws charts in characters.
#include "report/charts/text_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "report/tables/cell_text.h"
#include "report/writing/numbers.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kLeastBar = 24;
constexpr std::size_t kWidestBar = 72;

// Of terminals, different also to people who see red and green alike; the last part is what is left
// over (idle, other) and stays faint.
constexpr std::array<std::string_view, 8> kTextChartColours = {"34", "33", "36", "35",
                                                               "32", "31", "94", "95"};
constexpr std::array<std::string_view, 8> kPatterns = {"█", "▓", "▒", "░", "▚", "▤", "▥", "▞"};

std::string coloured(std::string_view text, std::string_view code) {
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

// Lengths that add up to the width; what is left by rounding goes to the largest remainders.
std::vector<std::size_t> lengths_of(std::span<const double> parts, std::size_t width) {
  double sum = 0;
  for (const double part : parts) sum += part > 0 ? part : 0;
  std::vector<std::size_t> lengths(parts.size());
  if (!(sum > 0)) return lengths;
  std::vector<std::pair<double, std::size_t>> remainders;
  std::size_t used = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!(parts[i] > 0)) continue;
    const double exact = parts[i] / sum * static_cast<double>(width);
    lengths[i] = std::max<std::size_t>(1, static_cast<std::size_t>(exact));
    used += lengths[i];
    remainders.emplace_back(exact - std::floor(exact), i);
  }
  std::ranges::stable_sort(remainders, std::ranges::greater{},
                           &std::pair<double, std::size_t>::first);
  for (std::size_t i = 0; used < width; ++i, ++used)
    ++lengths[remainders[i % remainders.size()].second];
  while (used > width) {
    const auto largest = std::ranges::max_element(lengths);
    if (*largest <= 1) break;
    --*largest;
    --used;
  }
  return lengths;
}

}  // namespace

std::string part_marks(std::size_t part, std::size_t parts, std::size_t length, const Look& look) {
  const bool rest = part + 1 == parts && parts > 1;
  if (look.colour) {
    return rest ? coloured(repeated("░", length), "2")
                : coloured(repeated("█", length),
                           kTextChartColours[part % kTextChartColours.size()]);
  }
  return repeated(rest ? "·" : kPatterns[part % kPatterns.size()], length);
}

std::string legend_text(std::span<const LegendItem> items, std::size_t parts, const Look& look) {
  const std::size_t width = look.width == 0 ? 100 : look.width;
  std::string legend = "  ";
  std::size_t used = 2;
  for (const LegendItem& item : items) {
    const std::size_t needs = 2 + text_width(item.text) + 3;
    if (used > 2 && used + needs > width) {
      legend += "\n  ";
      used = 2;
    } else if (used > 2) {
      legend += "   ";
    }
    legend += part_marks(item.part, parts, 1, look) + " " + item.text;
    used += needs;
  }
  return legend + "\n";
}

std::string stack_line(std::span<const double> parts, std::size_t width, const Look& look) {
  const std::vector<std::size_t> lengths = lengths_of(parts, width);
  std::string line;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (lengths[i] > 0) line += part_marks(i, parts.size(), lengths[i], look);
  }
  return line;
}

std::string sparkline(std::span<const double> values) {
  constexpr std::array<std::string_view, 8> kHeights = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double largest = 0;
  for (const double value : values) largest = value > largest ? value : largest;
  std::string line;
  for (const double value : values) {
    if (std::isnan(value)) {
      line += ' ';
      continue;
    }
    const double height = largest > 0 ? std::max(value, 0.0) / largest : 0;
    line += kHeights[std::min<std::size_t>(
        7, static_cast<std::size_t>(std::ceil(height * 8 - 1e-9) - (height > 0 ? 1 : 0)))];
  }
  return line;
}

namespace {

// A curve of more places than lines: bars are compared with each other, not each in itself.
bool is_long_axis(const Series& series, std::size_t most_rows) {
  return most_rows > 0 && !series.x.empty() && series.labels.size() > 2 * most_rows;
}

// Of every stretch of the axis the place with the most.
Series thinned(const Series& series, std::size_t places) {
  Series out = series;
  out.labels.clear();
  out.x.clear();
  for (Line& line : out.lines) line.values.clear();
  for (const std::size_t best : tallest_places(series, places)) {
    out.labels.push_back(series.labels[best]);
    out.x.push_back(series.x[best]);
    for (std::size_t l = 0; l < out.lines.size(); ++l)
      out.lines[l].values.push_back(series.lines[l].values[best]);
  }
  return out;
}

std::size_t scaled(double value, double largest, std::size_t width) {
  if (!(value > 0)) return 0;
  const double exact = value / largest * static_cast<double>(width);
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(exact)), 1, width);
}

std::string stack_text(const Series& series, std::size_t most_rows, const Look& look,
                       bool to_scale) {
  const std::size_t places =
      most_rows == 0 ? series.labels.size() : std::min(most_rows, series.labels.size());
  std::size_t label_width = 0;
  std::size_t value_width = 0;
  std::vector<std::string> labels;
  std::vector<std::string> sums;
  std::vector<double> lengths;
  std::vector<double> totals(series.lines.size());
  for (std::size_t i = 0; i < series.labels.size(); ++i) {
    double sum = 0;
    for (std::size_t l = 0; l < series.lines.size(); ++l) {
      const double value = series.lines[l].values[i] > 0 ? series.lines[l].values[i] : 0;
      totals[l] += value;
      sum += value;
    }
    if (i >= places) continue;
    labels.push_back(series.x.empty() ? series.labels[i]
                                      : fmt::format("{} {}", series.x_title, series.labels[i]));
    sums.push_back(value_text(sum, series.unit));
    lengths.push_back(sum);
    label_width = std::max(label_width, text_width(labels.back()));
    value_width = std::max(value_width, text_width(sums.back()));
  }
  const std::size_t width = look.width == 0 ? 100 : look.width;
  const std::size_t taken = 2 + label_width + 2 + 2 + value_width;
  const std::size_t bar = std::clamp(width > taken ? width - taken : 0, kLeastBar, kWidestBar);
  const double largest = lengths.empty() ? 0 : *std::ranges::max_element(lengths);
  std::string text;
  for (std::size_t i = 0; i < places; ++i) {
    std::vector<double> parts;
    parts.reserve(series.lines.size());
    for (const Line& line : series.lines) parts.push_back(line.values[i]);
    const std::size_t length = to_scale ? scaled(lengths[i], largest, bar) : bar;
    text += fmt::format("  {}{}  {}{}  {}\n", labels[i],
                        std::string(label_width - text_width(labels[i]), ' '),
                        stack_line(parts, length, look), std::string(bar - length, ' '), sums[i]);
  }
  if (places < series.labels.size()) {
    text += styled(fmt::format("  … {} more", series.labels.size() - places), Style::kFaint, look) +
            "\n";
  }
  double all = 0;
  for (const double total : totals) all += total;
  std::vector<LegendItem> legend;
  for (std::size_t l = 0; l < series.lines.size(); ++l) {
    if (all > 0 && totals[l] == 0) continue;
    legend.push_back({l, fmt::format("{} {}", series.lines[l].name,
                                     all > 0 ? share_text(totals[l] / all) : "–")});
  }
  return text + legend_text(legend, series.lines.size(), look);
}

}  // namespace

std::string stack_text(const Series& series, std::size_t most_rows, const Look& look) {
  if (series.is_curve && series.labels.size() > 1) return area_text(series, look);
  if (is_long_axis(series, most_rows)) {
    return stack_text(thinned(series, most_rows), most_rows, look, true);
  }
  return stack_text(series, most_rows, look, false);
}

std::string spark_text(const Series& series, const Look& look) {
  const std::size_t width = look.width == 0 ? 100 : look.width;
  // A line for the sum of all parts: step times out of their parts.
  Series sum = series;
  sum.lines = {Line{.name = "", .values = {}}};
  for (std::size_t i = 0; i < series.labels.size(); ++i) {
    sum.lines[0].values.push_back(series.sum_at(i));
  }
  const auto [low, high] = std::ranges::minmax(sum.lines[0].values);
  const std::string range =
      fmt::format("{} to {}", value_text(low, series.unit), value_text(high, series.unit));
  const std::size_t taken = 2 + text_width(series.group) + 2 + 2 + text_width(range);
  const std::size_t room = std::clamp(width > taken ? width - taken : 0, kLeastBar, kWidestBar);
  const Series shown = thinned(sum, room, Together::kLargest);
  // A few values are easier to see as broad bars.
  constexpr std::size_t kFew = 12;
  std::vector<double> values;
  for (const double value : shown.lines[0].values) {
    values.push_back(value);
    if (shown.labels.size() > kFew) continue;
    values.push_back(value);
    values.push_back(std::nan(""));
  }
  if (shown.labels.size() <= kFew) values.pop_back();
  const std::string line =
      look.colour ? coloured(sparkline(values), kTextChartColours[0]) : sparkline(values);
  const bool own_line = !series.group.empty() && width < taken + kLeastBar;
  return fmt::format("  {}{}{}  {}\n", series.group,
                     series.group.empty() ? ""
                     : own_line           ? "\n  "
                                          : "  ",
                     line, range);
}

}  // namespace stepscope::report
