// Which columns of a table are worth a place on a page: numbers that name something and never
// change stand above the table once, and columns without any value are only named.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"

namespace stepscope::report {

struct ShownColumns {
  std::vector<std::size_t> columns;
  std::vector<std::size_t> lifted;  // never change
  std::vector<std::size_t> empty;   // nothing but nulls
};

// Of the columns asked for (none: all), those that exist, in that order.
ShownColumns shown_columns(const base::Table& table, std::span<const std::string_view> asked);

// The same without a look at what is in them: for programs.
std::vector<std::size_t> asked_columns(const base::Table& table,
                                       std::span<const std::string_view> asked);

// How to say which rank a table is of: not at all when there is only one; "rank 0, the first of 8"
// when it stands for all.
struct RankNote {
  bool shown = true;
  std::size_t first_of = 0;
  bool device_shown = true;  // of memory: the snapshot and the device; not when there is only one
};

// "rank 0 · device 0"
std::string lifted_text(const base::Table& table, const ShownColumns& shown, RankNote note = {});

// The rows of a table in another order: by one column, equal ones as they were, nulls last, and
// the row for "all the others" after everything.

// What people expect without saying: numbers that count or measure from the largest, names and
// numbers that name something from the first.
bool descends_by_default(const base::ColumnShape& column);

base::Table sorted_by(const base::Table& table, std::size_t column, bool descending);

base::Table first_rows(const base::Table& table, std::size_t count);

// Tables whose rows are a tree: how far to move a name to the right so that it stands below the row
// it belongs to.

// Columns of space ahead of the names of each row; empty where the table is no tree, was put into
// another order, or this is not the column with the names.
std::vector<std::size_t> indents(const base::Table& table, std::size_t column);

}  // namespace stepscope::report
