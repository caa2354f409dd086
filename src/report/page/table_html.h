// Tables and charts as HTML, for the report's page and for notebooks.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "base/table.h"
#include "report/tables/shown_columns.h"

namespace stepscope::report {

// These columns (none: all), at most so many rows (0: as many as a page should have).
std::string table_html(const base::Table& table, std::span<const std::string_view> columns,
                       std::size_t most, RankNote note = {});

// The charts of a table's drawing; empty where it has none.
std::string charts_html(const base::Table& table);

// For a notebook's cell: brings its own look and leaves that of the page around it alone.
std::string table_fragment(const base::Table& table, std::size_t rows);
std::string answer_fragment(const analysis::Analysis& about,
                            std::span<const base::Table* const> tables,
                            std::span<const analysis::Remark> remarks);

// The look of the HTML report, and the few lines that sort its tables. Everything is in the file:
// it opens without a network, and reads without scripts.

extern const std::string_view kHtmlStyle;
extern const std::string_view kHtmlScript;

}  // namespace stepscope::report
