// Prints what an analysis asks, takes and returns.
#include <array>

#include <fmt/format.h>

#include "report/help/help.h"
#include "report/tables/cell_text.h"
#include "report/writing/json_writer.h"

namespace stepscope::report {
namespace {

using analysis::Analysis;
using analysis::Parameter;
using analysis::ParameterType;

std::string type_name(base::Type type) {
  switch (type) {
    case base::Type::kInt:
      return "integer";
    case base::Type::kReal:
      return "real";
    case base::Type::kBool:
      return "bool";
    case base::Type::kText:
      return "text";
    case base::Type::kIntList:
      return "integers";
  }
  return "";
}

std::string parameter_name(ParameterType type) {
  switch (type) {
    case ParameterType::kCount:
      return "count";
    case ParameterType::kNumber:
      return "number";
    case ParameterType::kDuration:
      return "duration";
    case ParameterType::kShare:
      return "share";
    case ParameterType::kSize:
      return "size";
    case ParameterType::kText:
      return "text";
    case ParameterType::kChoice:
      return "choice";
    case ParameterType::kSwitch:
      return "switch";
  }
  return "";
}

std::string parameter_help(const Parameter& parameter) {
  std::string text(parameter.about);
  if (!parameter.choices.empty()) text += fmt::format(": {}", fmt::join(parameter.choices, ", "));
  if (parameter.type != ParameterType::kSwitch && !parameter.default_value.empty()) {
    text += fmt::format(" (default: {})", parameter.default_value);
  }
  return text;
}

std::string_view needs_name(analysis::Needs needs) {
  switch (needs) {
    case analysis::Needs::kTrace:
      return "trace";
    case analysis::Needs::kSnapshot:
      return "snapshot";
    case analysis::Needs::kSnapshotOrTimeline:
      return "snapshot or timeline";
    case analysis::Needs::kSnapshotOrStats:
      return "snapshot or stats";
    case analysis::Needs::kRecording:
      return "recording";
    case analysis::Needs::kEither:
      return "either";
    case analysis::Needs::kSystem:
      return "system";
  }
  return "";
}

std::string_view chart_name(base::Chart chart) {
  switch (chart) {
    case base::Chart::kNone:
      break;
    case base::Chart::kBars:
      return "bars";
    case base::Chart::kStack:
      return "stack";
    case base::Chart::kHistogram:
      return "histogram";
    case base::Chart::kLine:
      return "line";
    case base::Chart::kTree:
      return "tree";
  }
  return "";
}

// How the table is best drawn; nothing where it is not.
void write_drawing(JsonWriter& json, const base::Drawing& drawing) {
  if (drawing.chart == base::Chart::kNone) return;
  json.key("drawing");
  json.begin_object();
  json.member("chart", chart_name(drawing.chart));
  json.member("x", drawing.x);
  json.key("y");
  json.begin_list();
  for (const std::string_view column : drawing.y) json.value(column);
  json.end_list();
  json.member("group", drawing.group);
  if (!drawing.parts.empty()) json.member("parts", drawing.parts);
  if (!drawing.marks.empty()) json.member("marks", drawing.marks);
  if (!drawing.bands.empty()) json.member("bands", drawing.bands);
  if (!drawing.level.empty()) json.member("level", drawing.level);
  json.end_object();
}

void write_columns(JsonWriter& json, const base::TableShape& table) {
  json.key("columns");
  json.begin_list();
  for (const base::ColumnShape& column : table.columns) {
    json.begin_object();
    json.member("name", column.name);
    json.member("type", type_name(column.type));
    json.member("unit", unit_name(column.unit));
    json.member("about", column.about);
    json.end_object();
  }
  json.end_list();
}

void write_parameters(JsonWriter& json, const Analysis& about) {
  json.key("parameters");
  json.begin_list();
  for (const Parameter& parameter : about.parameters) {
    json.begin_object();
    json.member("name", parameter.name);
    json.member("type", parameter_name(parameter.type));
    json.member("default", parameter.default_value);
    if (!parameter.choices.empty()) {
      json.key("choices");
      json.begin_list();
      for (const std::string_view choice : parameter.choices) json.value(choice);
      json.end_list();
    }
    json.member("about", parameter.about);
    json.end_object();
  }
  json.end_list();
}

}  // namespace

std::string_view value_name(ParameterType type) {
  switch (type) {
    case ParameterType::kCount:
      return "N";
    case ParameterType::kNumber:
      return "NUMBER";
    case ParameterType::kDuration:
      return "TIME";
    case ParameterType::kShare:
      return "SHARE";
    case ParameterType::kSize:
      return "SIZE";
    case ParameterType::kText:
      return "TEXT";
    case ParameterType::kChoice:
      return "WORD";
    case ParameterType::kSwitch:
      return "";
  }
  return "";
}

std::string analyses_text(const Look& look) {
  struct Group {
    std::string_view title;
    analysis::Needs needs;
  };
  constexpr std::array kGroups = {Group{"of a trace", analysis::Needs::kTrace},
                                  Group{"of a recording", analysis::Needs::kRecording},
                                  Group{"of a machine", analysis::Needs::kSystem},
                                  Group{"of a memory snapshot", analysis::Needs::kSnapshot},
                                  Group{"of either", analysis::Needs::kEither}};
  const auto is_of = [](analysis::Needs needs, const Group& group) {
    return needs == group.needs ||
           (group.needs == analysis::Needs::kSnapshot && analysis::is_of_memory(needs));
  };
  TextTable page({{"analyses"}, {"", Align::kLeft, Fit::kWrap}});
  for (const Group& group : kGroups) {
    bool first = true;
    for (const Analysis* analysis : analysis::analyses()) {
      if (!is_of(analysis->needs, group)) continue;
      if (first) page.add({Cell(std::string(group.title), Style::kFaint)});
      first = false;
      page.add({fmt::format("  {}", analysis->name), std::string(analysis->question)});
    }
  }
  return page.render(look) +
         "\n`stepscope analyze NAME PATH...` answers one; `stepscope analyze NAME --help` explains "
         "it.\n";
}

std::string analyses_json() {
  JsonWriter json;
  json.begin_object();
  json.member("schema", "stepscope.analyses/1");
  json.key("analyses");
  json.begin_list();
  for (const Analysis* about : analysis::analyses()) {
    json.begin_object();
    json.member("name", about->name);
    json.member("title", about->title);
    json.member("question", about->question);
    json.member("needs", needs_name(about->needs));
    write_parameters(json, *about);
    json.key("tables");
    json.begin_list();
    for (const base::TableShape& table : about->tables) {
      json.begin_object();
      json.member("name", table.name);
      json.member("about", table.about);
      write_columns(json, table);
      write_drawing(json, table.drawing);
      json.end_object();
    }
    json.end_list();
    json.end_object();
  }
  json.end_list();
  json.end_object();
  return std::move(json).finish();
}

std::string analysis_help(const Analysis& about, const Look& look) {
  std::string text =
      fmt::format("{}: {}\n", styled(about.title, Style::kStrong, look), about.question);
  if (!about.parameters.empty()) {
    TextTable page({{"its options"}, {"", Align::kLeft, Fit::kWrap}});
    for (const Parameter& parameter : about.parameters) {
      const std::string_view value = value_name(parameter.type);
      page.add({fmt::format("    --{}{}{}", parameter.name, value.empty() ? "" : " ", value),
                parameter_help(parameter)});
    }
    text += fmt::format("\n{}", page.render(look));
  }
  for (const base::TableShape& table : about.tables) {
    text += fmt::format("\ntable {}, a row is {}\n", styled(table.name, Style::kStrong, look),
                        table.about);
    TextTable page({{""}, {""}, {"", Align::kLeft, Fit::kWrap}});
    for (const base::ColumnShape& column : table.columns) {
      // A name that tells rows apart is no number.
      const bool is_name = column.unit == base::Unit::kId && column.type == base::Type::kText;
      const std::string unit = is_name ? std::string() : unit_name(column.unit);
      page.add({std::string(column.name),
                Cell(unit.empty() ? type_name(column.type) : unit, Style::kFaint),
                std::string(column.about)});
    }
    text += page.render(look);
  }
  return text;
}

}  // namespace stepscope::report
