// One value of a table as a person reads it, made from the unit of its column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/table.h"
#include "report/writing/text_table.h"

namespace stepscope::report {

// "exposed_communication_ns" → "exposed communication": the cells carry the unit.
std::string column_title(const base::ColumnShape& column);
// The same, but where another column of the table has that title, this one names its unit: "late"
// and "late time".
std::string column_title(const base::TableShape& table, std::size_t column);

// "ns", "bytes", "share (0 to 1)": what the numbers in files for machines are in; empty for none.
std::string unit_name(base::Unit unit);

// Of text: to be read whole, so that its lines are broken, not cut.
bool is_sentence(const base::ColumnShape& column);
bool is_number(const base::ColumnShape& column);  // aligned to the right

// Three significant digits with a unit, shares as %, yes and no, – for null. Where the meaning of a
// text column explains null ("null: all the others"), the explanation stands there instead.
std::string cell_text(const base::Table& table, std::size_t column, std::size_t row);

// Clocks of traces begin weeks before the recording: "44.5 d" in every row says nothing. Instants
// of such a table are shown from its first one on, which is this; 0 where they are shown as they
// are.
std::int64_t first_instant(const base::Table& table);
std::string cell_text(const base::Table& table, std::size_t column, std::size_t row,
                      std::int64_t first);
// A sentence to stand below the table; empty where no column of these counts from `first`.
std::string instants_note(const base::Table& table, std::span<const std::size_t> columns,
                          std::int64_t first);

// A number that stands in no table: as a cell of that unit would show it.
std::string figure_text(double value, base::Unit unit);

std::string share_text(double share);   // "99.8 %"; "100 %" only if all
std::string number_text(double value);  // three significant digits

}  // namespace stepscope::report
