// Cells and heads of columns as people read them.
#include "report/tables/cell_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "report/writing/numbers.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

using base::Type;
using base::Unit;

constexpr std::string_view kNull = "–";

std::string signed_text(std::int64_t value, std::string (*text)(std::uint64_t)) {
  if (value >= 0) return text(static_cast<std::uint64_t>(value));
  return fmt::format("-{}", text(~static_cast<std::uint64_t>(value) + 1));
}

std::string whole_text(std::int64_t value, Unit unit) {
  switch (unit) {
    case Unit::kNanos:
    case Unit::kInstant:
      return duration_text(value);
    case Unit::kBytes:
      return signed_text(value, bytes_text);
    case Unit::kCount:
      return signed_text(value, count_text);
    case Unit::kBytesPerSecond:
      return rate_text(static_cast<double>(value));
    case Unit::kPerSecond:
      return signed_text(value, count_text) + " /s";
    case Unit::kShare:
      return share_text(static_cast<double>(value));
    case Unit::kNone:
    case Unit::kId:
      break;
  }
  return std::to_string(value);
}

std::string real_text(double value, Unit unit) {
  switch (unit) {
    case Unit::kNanos:
    case Unit::kInstant:
      return duration_text(std::llround(value));
    case Unit::kBytes:
      return signed_text(std::llround(value), bytes_text);
    case Unit::kBytesPerSecond:
      return rate_text(value);
    case Unit::kPerSecond:
      return number_text(value) + " /s";
    case Unit::kShare:
      return share_text(value);
    case Unit::kCount:
    case Unit::kNone:
    case Unit::kId:
      break;
  }
  return number_text(value);
}

// Ranks and the like: runs of neighbours become ranges, and of many the first ones are shown.
std::string list_cell_text(std::span<const std::int64_t> values) {
  constexpr std::size_t kMost = 4;
  std::string text;
  std::size_t parts = 0;
  for (std::size_t i = 0; i < values.size();) {
    std::size_t last = i;
    while (last + 1 < values.size() && values[last + 1] == values[last] + 1) ++last;
    if (++parts > kMost) return text + fmt::format(" and {} more", values.size() - i);
    if (!text.empty()) text += ", ";
    text += std::to_string(values[i]);
    if (last > i) text += fmt::format("{}{}", last == i + 1 ? ", " : "–", values[last]);
    i = last + 1;
  }
  return text.empty() ? std::string(kNull) : text;
}

// "of the kernel; null: all the others together" → "(all the others together)"
std::string null_text(const base::ColumnShape& column) {
  constexpr std::string_view kMark = "null: ";
  const std::size_t at = column.about.find(kMark);
  if (column.type != Type::kText || at == std::string_view::npos) return std::string(kNull);
  std::string_view text = column.about.substr(at + kMark.size());
  text = text.substr(0, text.find_first_of(";."));
  return fmt::format("({})", text);
}

}  // namespace

std::string column_title(const base::ColumnShape& column) {
  std::string_view name = column.name;
  constexpr std::array kEndings = {
      std::pair{Unit::kNanos, std::string_view("_ns")},
      std::pair{Unit::kInstant, std::string_view("_ns")},
      std::pair{Unit::kBytes, std::string_view("_bytes")},
      std::pair{Unit::kBytesPerSecond, std::string_view("_bytes_per_second")},
  };
  for (const auto& [unit, ending] : kEndings) {
    if (column.unit == unit && name.size() > ending.size() && name.ends_with(ending)) {
      name.remove_suffix(ending.size());
    }
  }
  if (column.name == "step_ns") return "step time";  // "step" is its number
  std::string title(name);
  std::ranges::replace(title, '_', ' ');
  return title;
}

std::string column_title(const base::TableShape& table, std::size_t column) {
  const base::ColumnShape& shape = table.columns[column];
  std::string title = column_title(shape);
  const auto is_same = [&](const base::ColumnShape& other) {
    return other.name != shape.name && column_title(other) == title;
  };
  if (title.size() == shape.name.size() || std::ranges::none_of(table.columns, is_same)) {
    return title;
  }
  if (shape.unit == Unit::kNanos || shape.unit == Unit::kInstant) return title + " time";
  title = shape.name;
  std::ranges::replace(title, '_', ' ');
  return title;
}

std::string unit_name(Unit unit) {
  switch (unit) {
    case Unit::kNone:
      return "";
    case Unit::kId:
      return "number";
    case Unit::kCount:
      return "count";
    case Unit::kNanos:
      return "ns";
    case Unit::kInstant:
      return "ns on the recording's own clock";
    case Unit::kBytes:
      return "bytes";
    case Unit::kShare:
      return "share, 0 to 1";
    case Unit::kBytesPerSecond:
      return "bytes per second";
    case Unit::kPerSecond:
      return "per second";
  }
  return "";
}

bool is_sentence(const base::ColumnShape& column) {
  constexpr std::array<std::string_view, 2> kSentences = {"missing", "text"};
  return column.type == Type::kText &&
         std::ranges::find(kSentences, column.name) != kSentences.end();
}

bool is_number(const base::ColumnShape& column) {
  return column.type == Type::kInt || column.type == Type::kReal;
}

std::string figure_text(double value, Unit unit) {
  const bool counted = unit == Unit::kCount || unit == Unit::kId;
  const bool is_whole = std::abs(value - std::round(value)) < 1e-9 && std::abs(value) < 1e15;
  return counted && is_whole ? whole_text(std::llround(value), unit) : real_text(value, unit);
}

std::string share_text(double share) {
  const double percent = 100 * share;
  if (share == 0) return "0 %";
  if (std::abs(share - 1) < 1e-9) return "100 %";  // sums of shares
  // Rounding must not claim all or nothing.
  if (share > 0.999 && share < 1) return ">99.9 %";
  if (share > 0 && share < 0.001) return "<0.1 %";
  if (share > kMostAsShare) return times_as_much(share);  // of a change
  return fmt::format("{:.1f} %", percent);
}

std::string number_text(double value) {
  const double size = std::abs(value);
  if (value == 0) return "0";
  if (size < 0.001) return value > 0 ? "<0.001" : ">-0.001";
  if (size < 0.01) return fmt::format("{:.2g}", value);
  if (size < 9.995) return fmt::format("{:.2f}", value);
  if (size < 99.95) return fmt::format("{:.1f}", value);
  if (size < 1e15) return signed_text(std::llround(value), count_text);
  return fmt::format("{:.3g}", value);
}

std::string cell_text(const base::Table& table, std::size_t column, std::size_t row) {
  const base::ColumnShape& shape = table.shape().columns[column];
  if (table.is_null(column, row)) return null_text(shape);
  switch (shape.type) {
    case Type::kInt:
      return whole_text(table.int_at(column, row), shape.unit);
    case Type::kReal:
      return real_text(table.real_at(column, row), shape.unit);
    case Type::kBool:
      return table.int_at(column, row) != 0 ? "yes" : "no";
    case Type::kText:
      return printable(table.text_at(column, row));
    case Type::kIntList:
      return list_cell_text(table.list_at(column, row));
  }
  return {};
}

namespace {

bool is_instant(const base::ColumnShape& shape) {
  return shape.unit == Unit::kInstant && shape.type == Type::kInt;
}

}  // namespace

std::int64_t first_instant(const base::Table& table) {
  constexpr std::int64_t kHour = 3'600'000'000'000;
  std::optional<std::int64_t> first;
  for (std::size_t c = 0; c < table.width(); ++c) {
    if (!is_instant(table.shape().columns[c])) continue;
    for (std::size_t r = 0; r < table.rows(); ++r) {
      if (table.is_null(c, r)) continue;
      const std::int64_t value = table.int_at(c, r);
      if (!first || value < *first) first = value;
    }
  }
  return first && *first >= kHour ? *first : 0;
}

std::string cell_text(const base::Table& table, std::size_t column, std::size_t row,
                      std::int64_t first) {
  const base::ColumnShape& shape = table.shape().columns[column];
  if (first == 0 || !is_instant(shape) || table.is_null(column, row))
    return cell_text(table, column, row);
  return whole_text(table.int_at(column, row) - first, shape.unit);
}

std::string instants_note(const base::Table& table, std::span<const std::size_t> columns,
                          std::int64_t first) {
  const auto counts = [&](std::size_t c) { return is_instant(table.shape().columns[c]); };
  if (first == 0 || std::ranges::none_of(columns, counts)) return {};
  return fmt::format(
      "instants count from the first in this table ({} on the recording's own clock, as -f json)",
      duration_text(first));
}

}  // namespace stepscope::report
