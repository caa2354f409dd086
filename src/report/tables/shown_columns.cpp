// Which columns and rows of a table are shown, in which order.
#include "report/tables/shown_columns.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "report/tables/cell_text.h"

namespace stepscope::report {

namespace {

bool never_changes(const base::Table& table, std::size_t column) {
  const base::ColumnShape& shape = table.shape().columns[column];
  if (shape.unit != base::Unit::kId) return false;
  const bool is_text = shape.type == base::Type::kText;
  if (shape.type != base::Type::kInt && !is_text) return false;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    if (table.is_null(column, r)) return false;
    const bool same = is_text ? table.text_at(column, r) == table.text_at(column, 0)
                              : table.int_at(column, r) == table.int_at(column, 0);
    if (!same) return false;
  }
  return true;
}

bool is_empty(const base::Table& table, std::size_t column) {
  for (std::size_t r = 0; r < table.rows(); ++r) {
    if (!table.is_null(column, r)) return false;
  }
  return true;
}

}  // namespace

std::vector<std::size_t> asked_columns(const base::Table& table,
                                       std::span<const std::string_view> asked) {
  std::vector<std::size_t> columns;
  for (const std::string_view name : asked) {
    if (const auto found = table.find(name)) columns.push_back(*found);
  }
  for (std::size_t c = 0; asked.empty() && c < table.width(); ++c) columns.push_back(c);
  return columns;
}

ShownColumns shown_columns(const base::Table& table, std::span<const std::string_view> asked) {
  ShownColumns shown;
  bool named = false;  // the first column of text says what a row is, and stays
  const auto add = [&](std::size_t column) {
    const bool lifted = never_changes(table, column);
    const bool names = !lifted && !named && table.shape().columns[column].type == base::Type::kText;
    named = named || names;
    if (lifted) {
      shown.lifted.push_back(column);
    } else if (!names && is_empty(table, column)) {
      shown.empty.push_back(column);
    } else {
      shown.columns.push_back(column);
    }
  };
  for (const std::size_t column : asked_columns(table, asked)) add(column);
  // Something has to stay.
  if (shown.columns.empty()) shown.columns.swap(shown.lifted);
  return shown;
}

std::string lifted_text(const base::Table& table, const ShownColumns& shown, RankNote note) {
  std::string text;
  for (const std::size_t c : shown.lifted) {
    const std::string_view name = table.shape().columns[c].name;
    const bool is_rank = name == "rank";
    if (is_rank && !note.shown) continue;
    if ((name == "snapshot" || name == "device") && !note.device_shown) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : " · ", column_title(table.shape(), c),
                        cell_text(table, c, 0));
    if (is_rank && note.first_of > 1) text += fmt::format(", the first of {}", note.first_of);
  }
  return text;
}

namespace {

int compared(const base::Table& table, std::size_t column, std::size_t a, std::size_t b) {
  const auto sign = [](auto order) { return order < 0 ? -1 : order > 0 ? 1 : 0; };
  switch (table.shape().columns[column].type) {
    case base::Type::kInt:
    case base::Type::kBool:
      return sign(table.int_at(column, a) <=> table.int_at(column, b));
    case base::Type::kReal:
      return sign(table.real_at(column, a) <=> table.real_at(column, b));
    case base::Type::kText:
      return sign(table.text_at(column, a) <=> table.text_at(column, b));
    case base::Type::kIntList: {
      const auto x = table.list_at(column, a);
      const auto y = table.list_at(column, b);
      return sign(std::lexicographical_compare_three_way(x.begin(), x.end(), y.begin(), y.end()));
    }
  }
  return 0;
}

// The rows that stand for what a table left out are last however it is sorted.
std::vector<bool> rest_rows(const base::Table& table) {
  std::vector<bool> rest(table.rows());
  for (std::size_t c = 0; c < table.width(); ++c) {
    const base::ColumnShape& shape = table.shape().columns[c];
    if (shape.type != base::Type::kText) continue;
    if (shape.about.find("null: all the others") == std::string_view::npos) continue;
    for (std::size_t r = 0; r < table.rows(); ++r) rest[r] = rest[r] || table.is_null(c, r);
  }
  return rest;
}

}  // namespace

bool descends_by_default(const base::ColumnShape& column) {
  const bool names = column.unit == base::Unit::kId || column.unit == base::Unit::kInstant;
  return !names && column.type != base::Type::kText && column.type != base::Type::kIntList;
}

base::Table sorted_by(const base::Table& table, std::size_t column, bool descending) {
  std::vector<std::size_t> rows(table.rows());
  std::iota(rows.begin(), rows.end(), 0);
  const std::vector<bool> rest = rest_rows(table);
  std::ranges::stable_sort(rows, [&](std::size_t a, std::size_t b) {
    if (rest[a] != rest[b]) return static_cast<bool>(rest[b]);
    const bool null_a = table.is_null(column, a);
    const bool null_b = table.is_null(column, b);
    if (null_a || null_b) return !null_a && null_b;
    const int order = compared(table, column, a, b);
    return descending ? order > 0 : order < 0;
  });
  return table.select(rows);
}

base::Table first_rows(const base::Table& table, std::size_t count) {
  std::vector<std::size_t> rows(std::min(count, table.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  return table.select(rows);
}

std::vector<std::size_t> indents(const base::Table& table, std::size_t column) {
  constexpr std::size_t kStep = 2;
  constexpr std::size_t kMost = 24;  // names need room too
  const base::Drawing& drawing = table.shape().drawing;
  const auto depth = table.find("depth");
  if (drawing.chart != base::Chart::kTree || !depth) return {};
  if (table.shape().columns[column].name != drawing.x) return {};
  std::vector<std::size_t> spaces;
  std::int64_t above = -1;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    const std::int64_t level = table.int_at(*depth, r);
    // A row further in than one level stands below a row that is not there.
    if (level < 0 || level > above + 1) return {};
    spaces.push_back(std::min(static_cast<std::size_t>(level) * kStep, kMost));
    above = level;
  }
  return spaces;
}

}  // namespace stepscope::report
