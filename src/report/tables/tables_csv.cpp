// Tables as CSV.
#include <vector>

#include <fmt/format.h>

#include "report/tables/tables.h"

namespace stepscope::report {
namespace {

std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string cell(const base::Table& table, std::size_t column, std::size_t row) {
  if (table.is_null(column, row)) return {};
  switch (table.shape().columns[column].type) {
    case base::Type::kInt:
      return fmt::format("{}", table.int_at(column, row));
    case base::Type::kReal:
      return fmt::format("{}", table.real_at(column, row));
    case base::Type::kBool:
      return table.int_at(column, row) != 0 ? "true" : "false";
    case base::Type::kText:
      return quoted(table.text_at(column, row));
    case base::Type::kIntList:
      return fmt::format("{}", fmt::join(table.list_at(column, row), " "));
  }
  return {};
}

}  // namespace

std::string table_csv(const base::Table& table, std::span<const std::string_view> columns) {
  const std::vector<std::size_t> kept = asked_columns(table, columns);
  std::string out;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (i > 0) out += ',';
    out += table.shape().columns[kept[i]].name;
  }
  out += '\n';
  for (std::size_t r = 0; r < table.rows(); ++r) {
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (i > 0) out += ',';
      out += cell(table, kept[i], r);
    }
    out += '\n';
  }
  return out;
}

}  // namespace stepscope::report
