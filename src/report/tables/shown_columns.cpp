#include "report/tables/shown_columns.h"

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

}  // namespace stepscope::report
