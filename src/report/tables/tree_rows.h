// Tables whose rows are a tree: how far to move a name to the right so that it stands below the row
// it belongs to.
#pragma once

#include <cstddef>
#include <vector>

#include "base/table.h"

namespace stepscope::report {

// Columns of space ahead of the names of each row; empty where the table is no tree, was put into
// another order, or this is not the column with the names.
std::vector<std::size_t> indents(const base::Table& table, std::size_t column);

}  // namespace stepscope::report
