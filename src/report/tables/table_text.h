// A table as text for people, laid out for a width: titles break into lines, names are shortened
// so that they stay different, and the last columns are left out where there is still no space.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "base/table.h"
#include "report/tables/shown_columns.h"
#include "report/writing/text_table.h"

namespace stepscope::report {

struct TableTextOptions {
  Look look;
  bool bars = false;                               // small ones beside shares
  std::size_t rows = 0;                            // at most; 0: all
  RankNote rank = {};                              // how to say which it is
  bool names_left_out = true;                      // columns that were, below the table
  bool lists = true;                               // a table of one wide row as a list
  std::span<const std::string_view> columns = {};  // these, in this order; none: all
};

// Columns whose numbers name something (rank, device) and never change stand above the table once;
// a table of one row is shown as a list of its columns. Ends with a line break.
std::string table_text(const base::Table& table, const TableTextOptions& options);

// Title, question, tables that have rows with what a row of them is, remarks.
std::string answer_text(const analysis::Analysis& about, const analysis::Answer& answer,
                        const TableTextOptions& options);

// A bar of at most `width` columns in eighths of one, without spaces behind it.
std::string bar_text(double share, std::size_t width);

}  // namespace stepscope::report
