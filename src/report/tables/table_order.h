// The rows of a table in another order: by one column, equal ones as they were, nulls last, and
// the row for "all the others" behind everything.
#pragma once

#include <cstddef>

#include "base/table.h"

namespace stepscope::report {

// What people expect without saying: numbers that count or measure from the largest, names and
// numbers that name something from the first.
bool descends_by_default(const base::ColumnShape& column);

base::Table sorted_by(const base::Table& table, std::size_t column, bool descending);

base::Table first_rows(const base::Table& table, std::size_t count);

}  // namespace stepscope::report
