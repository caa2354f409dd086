// Takes what a chart shows out of a table.
#include "report/charts/series.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "report/tables/cell_text.h"
#include "report/tables/short_names.h"
#include "report/writing/numbers.h"

namespace stepscope::report {
namespace {

using base::Type;
using base::Unit;

bool is_numeric(const base::ColumnShape& column) {
  return column.type == Type::kInt || column.type == Type::kReal;
}

std::string without_zeros(std::string text) {
  const std::size_t space = text.find(' ');
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return text;
  std::size_t end = std::min(space, text.size());
  const std::size_t digits = end;
  while (text[end - 1] == '0') --end;
  if (text[end - 1] == '.') --end;
  return text.erase(end, digits - end);
}

// The axis says that they are shares.
std::string line_name(const base::ColumnShape& column) {
  constexpr std::string_view kEnding = " share";
  std::string name = column_title(column);
  if (column.unit == Unit::kShare && name.ends_with(kEnding)) {
    name.resize(name.size() - kEnding.size());
  }
  return name;
}

Series make_series(const base::Table& table, std::size_t x, const std::vector<std::size_t>& y,
                   const std::vector<std::size_t>& rows, std::size_t name_width) {
  Series series;
  const base::ColumnShape& places = table.shape().columns[x];
  series.x_title = column_title(places);
  series.x_unit = places.unit;
  series.unit = table.shape().columns[y.front()].unit;
  for (const std::size_t r : rows) {
    series.full.push_back(cell_text(table, x, r));
    if (is_numeric(places)) series.x.push_back(table.real_at(x, r));
  }
  const std::vector<std::string_view> names(series.full.begin(), series.full.end());
  series.labels = short_names(names, name_width);
  if (is_numeric(places)) std::ranges::transform(series.full, series.labels.begin(), without_zeros);
  for (const std::size_t c : y) {
    Line line{.name = line_name(table.shape().columns[c])};
    for (const std::size_t r : rows) {
      line.values.push_back(table.is_null(c, r) ? std::numeric_limits<double>::quiet_NaN()
                                                : table.real_at(c, r));
    }
    series.lines.push_back(std::move(line));
  }
  return series;
}

// A long table: the rows of a place stand for the parts of one column there.
Series make_parted(const base::Table& table, std::size_t x, std::size_t y, std::size_t parts,
                   const std::vector<std::size_t>& rows, std::size_t name_width) {
  std::map<double, std::size_t> places;
  std::vector<std::size_t> first;  // row of each place
  std::vector<Line> lines;
  std::map<std::string, std::size_t> known;
  std::vector<double> rest;
  for (const std::size_t r : rows) places.emplace(table.real_at(x, r), 0);
  std::size_t next = 0;
  for (auto& [value, place] : places) place = next++;
  first.resize(next);
  rest.resize(next);
  bool has_rest = false;
  for (const std::size_t r : rows) {
    const std::size_t place = places[table.real_at(x, r)];
    first[place] = r;
    const double value = table.is_null(y, r) ? 0 : table.real_at(y, r);
    if (table.is_null(parts, r)) {
      has_rest = true;
      rest[place] += value;
      continue;
    }
    const std::string name = cell_text(table, parts, r);
    const auto [found, is_new] = known.emplace(name, lines.size());
    if (is_new) lines.push_back({.name = name, .values = std::vector<double>(next)});
    lines[found->second].values[place] += value;
  }
  Series series = make_series(table, x, {y}, first, name_width);
  series.lines = std::move(lines);
  std::vector<std::string_view> names;
  names.reserve(series.lines.size());
  for (const Line& line : series.lines) names.push_back(line.name);
  std::vector<std::string> texts = short_names(names, name_width);
  for (std::size_t i = 0; i < texts.size(); ++i) series.lines[i].name = std::move(texts[i]);
  if (has_rest) series.lines.push_back({.name = "other", .values = std::move(rest)});
  series.is_curve = true;
  return series;
}

std::vector<std::string> texts_of(const base::Table& table, std::string_view column,
                                  const std::vector<std::size_t>& rows) {
  std::vector<std::string> texts;
  const auto found = table.find(column);
  for (std::size_t i = 0; found && i < rows.size(); ++i) {
    texts.push_back(table.is_null(*found, rows[i]) ? "" : cell_text(table, *found, rows[i]));
  }
  return texts;
}

void add_marks(const base::Table& table, const base::Drawing& drawing,
               const std::vector<std::size_t>& rows, Series& series) {
  series.marks = texts_of(table, drawing.marks, rows);
  series.bands = texts_of(table, drawing.bands, rows);
  const auto level = table.find(drawing.level);
  for (std::size_t i = 0; level && i < rows.size(); ++i) {
    if (table.is_null(*level, rows[i])) continue;
    series.level = table.real_at(*level, rows[i]);
    series.level_from = i;
    break;
  }
  series.is_curve = !drawing.marks.empty() || level.has_value() || series.x_unit == Unit::kInstant;
}

}  // namespace

double Series::largest() const {
  double most = 0;
  for (const Line& line : lines) {
    for (const double value : line.values) {
      if (value > most) most = value;
    }
  }
  return most;
}

double Series::sum_at(std::size_t place) const {
  double sum = 0;
  for (const Line& line : lines) sum += line.values[place] > 0 ? line.values[place] : 0;
  return sum;
}

double Series::largest_sum() const {
  double most = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) most = std::max(most, sum_at(i));
  return most;
}

std::vector<std::size_t> tallest_places(const Series& series, std::size_t count) {
  const std::size_t all = series.labels.size();
  std::vector<std::size_t> places;
  places.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t tallest = i * all / count;
    const std::size_t end = (i + 1) * all / count;
    double most = series.sum_at(tallest);
    for (std::size_t at = tallest + 1; at < end; ++at) {
      const double sum = series.sum_at(at);
      if (sum > most) {
        most = sum;
        tallest = at;
      }
    }
    places.push_back(tallest);
  }
  return places;
}

bool is_rest(const Series& series, std::size_t line) {
  const std::string& name = series.lines[line].name;
  return line + 1 == series.lines.size() &&
         (name == "idle" || name == "other" || name == "unknown");
}

std::vector<Series> series_of(const base::Table& table, const base::Drawing& drawing,
                              std::size_t name_width) {
  const auto x = table.find(drawing.x);
  std::vector<std::size_t> y;
  for (const std::string_view name : drawing.y) {
    const auto found = table.find(name);
    if (!found || !is_numeric(table.shape().columns[*found])) return {};
    y.push_back(*found);
  }
  if (!x || y.empty()) return {};
  const auto group = table.find(drawing.group);
  // In the order of first appearance.
  std::map<std::string, std::size_t> index;
  std::vector<std::pair<std::string, std::vector<std::size_t>>> groups;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    if (table.is_null(*x, r)) continue;  // "all the others" would dwarf the rest
    std::string name;
    if (group) {
      const base::ColumnShape& shape = table.shape().columns[*group];
      name = cell_text(table, *group, r);
      if (is_numeric(shape)) name = fmt::format("{} {}", column_title(shape), name);
    }
    const auto [at, is_new] = index.emplace(name, groups.size());
    if (is_new) groups.emplace_back(name, std::vector<std::size_t>());
    groups[at->second].second.push_back(r);
  }
  std::vector<Series> all;
  // Names stand for themselves; a number needs the name of what it numbers.
  std::vector<std::string_view> names;
  names.reserve(groups.size());
  for (const auto& [name, rows] : groups) names.push_back(name);
  const std::vector<std::string> texts = short_names(names, 2 * name_width);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::vector<std::size_t>& rows = groups[i].second;
    const auto parts = table.find(drawing.parts);
    const bool parted = parts && is_numeric(table.shape().columns[*x]);
    all.push_back(parted ? make_parted(table, *x, y.front(), *parts, rows, name_width)
                         : make_series(table, *x, y, rows, name_width));
    if (!parted) add_marks(table, drawing, rows, all.back());
    all.back().group = texts[i];
  }
  return all;
}

Series thinned(const Series& series, std::size_t most, Together together) {
  const std::size_t places = series.labels.size();
  if (places <= most || series.x.empty()) return series;
  const std::size_t each = (places + most - 1) / most;
  Series out = series;
  out.labels.clear();
  out.full.clear();
  out.x.clear();
  for (Line& line : out.lines) line.values.clear();
  for (std::size_t begin = 0; begin < places; begin += each) {
    const std::size_t end = std::min(begin + each, places);
    out.labels.push_back(series.labels[begin]);
    out.full.push_back(end - begin == 1
                           ? series.full[begin]
                           : fmt::format("{} to {}", series.full[begin], series.full[end - 1]));
    out.x.push_back(series.x[begin]);
    for (std::size_t l = 0; l < series.lines.size(); ++l) {
      double value = std::numeric_limits<double>::quiet_NaN();
      for (std::size_t i = begin; i < end; ++i) {
        const double next = series.lines[l].values[i];
        if (std::isnan(next)) continue;
        if (std::isnan(value)) {
          value = next;
        } else {
          value = together == Together::kSum ? value + next : std::max(value, next);
        }
      }
      out.lines[l].values.push_back(value);
    }
  }
  return out;
}

std::string value_text(double value, Unit unit) {
  if (std::isnan(value)) return "–";
  switch (unit) {
    case Unit::kNanos:
    case Unit::kInstant:
      return duration_text(std::llround(value));
    case Unit::kBytes:
      return value < 0 ? fmt::format("-{}", bytes_text(static_cast<std::uint64_t>(-value)))
                       : bytes_text(static_cast<std::uint64_t>(value));
    case Unit::kShare:
      return share_text(value);
    case Unit::kBytesPerSecond:
      return rate_text(value);
    case Unit::kPerSecond:
      return number_text(value) + " /s";
    case Unit::kId:
      return fmt::format("{:.0f}", value);
    case Unit::kNone:
    case Unit::kCount:
      break;
  }
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  if (whole && value >= 0) return count_text(static_cast<std::uint64_t>(value));
  return number_text(value);
}

std::string tick_text(double value, Unit unit) {
  if (value == 0) return "0";
  return without_zeros(value_text(value, unit));
}

std::vector<double> ticks(double largest, Unit unit, std::size_t count) {
  if (!(largest > 0)) return {0};
  const double rough = largest / static_cast<double>(std::max<std::size_t>(count, 1));
  double step = 0;
  if (unit == Unit::kBytes) {
    step = std::exp2(std::ceil(std::log2(rough)));
  } else {
    const double decade = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
      step = decade * factor;
      if (step >= rough * 0.999) break;
    }
  }
  const bool whole = unit == Unit::kCount || unit == Unit::kId || unit == Unit::kNanos;
  if (whole) step = std::max(step, 1.0);
  std::vector<double> values = {0};
  while (values.back() < largest * 0.9999) {
    values.push_back(step * static_cast<double>(values.size()));
  }
  return values;
}

}  // namespace stepscope::report
