// Answers as text for people and for machines, all made from the shapes of their tables.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "base/table.h"
#include "report/tables/shown_columns.h"
#include "report/writing/json_writer.h"
#include "report/writing/text_table.h"

namespace stepscope::report {

// RFC 4180 with a line of column names, full precision, empty for null: of these columns, in this
// order (none: all).
std::string table_csv(const base::Table& table, std::span<const std::string_view> columns = {});

// Text whose marks Markdown and HTML leave alone.
std::string markdown_text(std::string_view text);

// A table as GitHub draws it: these columns (none: all), at most so many rows (0: all).
std::string table_md(const base::Table& table, std::span<const std::string_view> columns = {},
                     std::size_t rows = 0, RankNote rank = {});

// Title, question, every table with these columns (none: all), remarks.
std::string answer_md(const analysis::Analysis& about, const analysis::Answer& answer,
                      std::span<const std::string_view> columns = {});

// "remarks" and "tables" of an answer, inside of an object; of the tables these columns, none of
// them twice (none: all).
void write_answer(JsonWriter& json, const analysis::Answer& answer,
                  std::span<const std::string_view> columns = {});

// Schema stepscope.analysis/1: {"schema", "analysis", "remarks", "tables": {name: [row, ...]}}, a
// row being an object by column name.
std::string answer_json(const analysis::Analysis& about, const analysis::Answer& answer,
                        std::span<const std::string_view> columns = {});

// A table as text for people, laid out for a width: titles break into lines, names are shortened
// so that they stay different, and the last columns are left out where there is still no space.

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

// A bar of at most `width` columns in eighths of one, without spaces after it.
std::string bar_text(double share, std::size_t width);

}  // namespace stepscope::report
