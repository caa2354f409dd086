// Answers as text for people and for machines, all made from the shapes of their tables.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "base/table.h"
#include "report/tables/shown_columns.h"
#include "report/writing/json_writer.h"

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

}  // namespace stepscope::report
