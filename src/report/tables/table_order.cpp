#include "report/tables/table_order.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

namespace stepscope::report {
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

}  // namespace stepscope::report
