// Answers as JSON.
#include <vector>

#include "report/tables/tables.h"
#include "report/writing/json_writer.h"

namespace stepscope::report {
namespace {

void write_cell(JsonWriter& json, const base::Table& table, std::size_t column, std::size_t row) {
  if (table.is_null(column, row)) return json.null();
  switch (table.shape().columns[column].type) {
    case base::Type::kInt:
      return json.value(table.int_at(column, row));
    case base::Type::kReal:
      return json.value(table.real_at(column, row));
    case base::Type::kBool:
      return json.value(table.int_at(column, row) != 0);
    case base::Type::kText:
      return json.value(table.text_at(column, row));
    case base::Type::kIntList:
      json.begin_list();
      for (const std::int64_t value : table.list_at(column, row)) json.value(value);
      json.end_list();
      return;
  }
}

}  // namespace

void write_answer(JsonWriter& json, const analysis::Answer& answer,
                  std::span<const std::string_view> columns) {
  json.key("remarks");
  json.begin_list();
  for (const analysis::Remark& remark : answer.remarks) json.value(std::string_view(remark.text));
  json.end_list();
  json.key("tables");
  json.begin_object();
  for (const base::Table& table : answer.tables) {
    json.key(table.name());
    json.begin_list();
    const std::vector<std::size_t> kept = asked_columns(table, columns);
    for (std::size_t r = 0; r < table.rows(); ++r) {
      json.begin_object();
      for (const std::size_t c : kept) {
        json.key(table.shape().columns[c].name);
        write_cell(json, table, c, r);
      }
      json.end_object();
    }
    json.end_list();
  }
  json.end_object();
}

std::string answer_json(const analysis::Analysis& about, const analysis::Answer& answer,
                        std::span<const std::string_view> columns) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", "stepscope.analysis/1");
  json.member("analysis", about.name);
  write_answer(json, answer, columns);
  json.end_object();
  return std::move(json).finish();
}

}  // namespace stepscope::report
