// A curve of stacked parts in characters.
#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "report/charts/text_chart.h"
#include "report/writing/numbers.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kRows = 14;
constexpr std::size_t kLeastColumns = 24;

// The part a height falls into; the number of parts: above all of them.
std::size_t part_at(const Series& series, std::size_t place, double height) {
  double sum = 0;
  for (std::size_t l = 0; l < series.lines.size(); ++l) {
    const double value = series.lines[l].values[place];
    sum += value > 0 ? value : 0;
    if (height < sum) return l;
  }
  return series.lines.size();
}

std::size_t row_of(double value, double top) {
  const double exact = value / top * static_cast<double>(kRows);
  const auto from_below = static_cast<std::size_t>(std::clamp(exact, 0.0, kRows - 1.0));
  return kRows - 1 - from_below;
}

// The place each column shows. Over time, a column in which nothing happened shows what holds.
std::vector<std::size_t> places_of(const Series& series, std::size_t columns) {
  if (series.x_unit != base::Unit::kInstant) return tallest_places(series, columns);
  const double length = series.x.back() - series.x.front();
  std::vector<std::size_t> places;
  places.reserve(columns);
  std::size_t next = 0;
  for (std::size_t column = 0; column < columns; ++column) {
    const double end =
        series.x.front() + length * static_cast<double>(column + 1) / static_cast<double>(columns);
    const bool is_last = column + 1 == columns;
    std::size_t tallest = next == 0 ? 0 : next - 1;
    bool any = false;
    for (; next < series.x.size() && (is_last || series.x[next] < end); ++next) {
      if (!any || series.sum_at(next) > series.sum_at(tallest)) tallest = next;
      any = true;
    }
    places.push_back(tallest);
  }
  return places;
}

// What stands before each row: values of the axis, the floor, the top.
std::vector<std::string> axis_of(const Series& series, double top) {
  std::vector<std::string> labels(kRows);
  for (const double tick : ticks(top, series.unit, 4)) {
    if (tick > 0 && tick < top * 0.95) labels[row_of(tick, top)] = tick_text(tick, series.unit);
  }
  labels.front() = value_text(top, series.unit);
  if (series.level > 0 && series.level < top) {
    labels[row_of(series.level, top)] =
        fmt::format("floor {}", value_text(series.level, series.unit));
  }
  return labels;
}

// Passes below the curve: the first letter of each, in small.
std::string band_line(const Series& series, std::span<const std::size_t> places) {
  if (series.bands.empty()) return {};
  std::string line;
  for (const std::size_t place : places) {
    line += series.bands[place].empty() ? ' ' : series.bands[place].front();
  }
  if (line.find_first_not_of(' ') == std::string::npos) return {};
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

// What the letters stand for: "f forward, b backward".
std::string band_words(const Series& series) {
  std::vector<std::string> words;
  for (const std::string& band : series.bands) {
    if (band.empty()) continue;
    const std::string word = fmt::format("{} {}", band.front(), band);
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

// "│3      │4": where a step begins, as far as there is room.
std::string mark_line(const Series& series, std::span<const std::size_t> places) {
  if (series.marks.empty()) return {};
  std::string line;
  std::size_t used = 0;
  std::string last;
  for (std::size_t c = 0; c < places.size(); ++c) {
    const std::string& mark = series.marks[places[c]];
    if (mark == last || mark.empty() || c < used) {
      if (mark.empty() && c >= used) last.clear();
      continue;
    }
    last = mark;
    const std::string text = fmt::format("│{}", mark);
    if (c + text_width(text) > places.size()) break;
    line += std::string(c - used, ' ') + text;
    used = c + text_width(text) + 1;
    line += ' ';
  }
  if (line.empty()) return {};
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::string area_text(const Series& series, const Look& look) {
  const double top = series.largest_sum();
  if (!(top > 0)) return {};
  const std::vector<std::string> labels = axis_of(series, top);
  std::size_t room = 0;
  for (const std::string& label : labels) room = std::max(room, text_width(label));
  const std::size_t width = look.width == 0 ? 100 : look.width;
  const std::size_t taken = 2 + room + 2;
  const std::size_t columns = std::max(width > taken ? width - taken : 0, kLeastColumns);
  const std::vector<std::size_t> places = places_of(series, columns);
  std::string text;
  for (std::size_t r = 0; r < kRows; ++r) {
    const double height =
        (static_cast<double>(kRows - 1 - r) + 0.5) / static_cast<double>(kRows) * top;
    std::string line = fmt::format("  {}{} {}", std::string(room - text_width(labels[r]), ' '),
                                   labels[r], labels[r].empty() ? "│" : "┤");
    std::size_t blanks = 0;
    for (std::size_t c = 0; c < columns;) {
      const std::size_t part = part_at(series, places[c], height);
      std::size_t end = c + 1;
      while (end < columns && part_at(series, places[end], height) == part) ++end;
      if (part == series.lines.size()) {
        blanks += end - c;
      } else {
        line += std::string(blanks, ' ') + part_marks(part, series.lines.size(), end - c, look);
        blanks = 0;
      }
      c = end;
    }
    text += line + "\n";
  }
  const auto below = [&](std::string_view name, const std::string& line) {
    if (line.empty()) return;
    const std::size_t space = 2 + room + 1 > text_width(name) ? 2 + room + 1 - text_width(name) : 0;
    text +=
        styled(fmt::format("{}{} {}", std::string(space, ' '), name, line), Style::kFaint, look) +
        "\n";
  };
  below("pass", band_line(series, places));
  below("step", mark_line(series, places));
  const std::size_t highest = *std::ranges::max_element(
      places, {}, [&](std::size_t place) { return series.sum_at(place); });
  std::vector<LegendItem> legend;
  for (std::size_t l = 0; l < series.lines.size(); ++l) {
    const std::vector<double>& values = series.lines[l].values;
    if (std::ranges::none_of(values, [](double value) { return value > 0; })) continue;
    legend.push_back(
        {l, fmt::format("{} {}", series.lines[l].name, value_text(values[highest], series.unit))});
  }
  const std::string words = band_words(series);
  const std::string heading =
      fmt::format("{}{}at the highest, {} {} of {}:", words, words.empty() ? "" : "; ",
                  series.x_title, series.labels[highest], series.labels.back());
  for (const std::string& line : wrapped(heading, width - 2)) {
    text += fmt::format("  {}\n", styled(line, Style::kFaint, look));
  }
  return text + legend_text(legend, series.lines.size(), look);
}

}  // namespace stepscope::report
