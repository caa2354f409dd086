// Rows of a table by the names of its columns. A column that is not there reads as null: tables
// grow, and a reader must not break over one it does not know.
#pragma once

#include <string_view>

#include "base/table.h"

namespace stepscope::base {

class TableLine {
 public:
  TableLine(const Table& table, std::size_t row) : table_(&table), row_(row) {}

  bool has_value(std::string_view column) const {
    const auto at = table_->find(column);
    return at && !table_->is_null(*at, row_);
  }
  // 0, or nothing, for null.
  double number(std::string_view column) const {
    const auto at = table_->find(column);
    return at && !table_->is_null(*at, row_) ? table_->real_at(*at, row_) : 0;
  }
  std::int64_t whole(std::string_view column) const {
    const auto at = table_->find(column);
    return at && !table_->is_null(*at, row_) ? table_->int_at(*at, row_) : 0;
  }
  std::string_view text(std::string_view column) const {
    const auto at = table_->find(column);
    return at && !table_->is_null(*at, row_) ? table_->text_at(*at, row_) : std::string_view();
  }

  const Table& table() const { return *table_; }
  std::size_t row() const { return row_; }

 private:
  const Table* table_;
  std::size_t row_;
};

}  // namespace stepscope::base
