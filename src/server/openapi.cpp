// The description of the HTTP interface as OpenAPI.
#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "report/writing/json_writer.h"
#include "server/answers.h"
#include "session/analyze.h"

namespace stepscope::server {
namespace {

using analysis::ParameterType;
using report::JsonWriter;

struct ApiParameter {
  std::string_view name;
  std::string_view place;  // "path" or "query"
  std::string_view type;   // of JSON schema
  std::string_view about;
  bool needed = false;
  std::string_view pattern = {};
  long long most = 0;  // of whole numbers
};

struct ApiPath {
  std::string_view path;
  std::string_view about;
  std::string_view content = "application/json";
  std::span<const ApiParameter> parameters = {};
};

constexpr std::string_view kList = "^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$";
constexpr long long kLatestTime = 9007199254740991;  // the last whole number of JavaScript

constexpr ApiParameter kRank{.name = "rank",
                             .place = "query",
                             .type = "string",
                             .about = "these ranks only: 0,3,8-15",
                             .pattern = kList};
constexpr ApiParameter kStep{.name = "step",
                             .place = "query",
                             .type = "string",
                             .about = "these steps only, by number",
                             .pattern = kList};

constexpr ApiParameter kRun{.name = "run",
                            .place = "query",
                            .type = "string",
                            .about = "a path of api/runs; not given: the run given at the start"};

constexpr ApiParameter path_number(std::string_view name, std::string_view about) {
  return {.name = name,
          .place = "path",
          .type = "integer",
          .about = about,
          .needed = true,
          .most = 2147483647};
}

constexpr std::array kRunOnly = {kRun};
constexpr std::array kRuns = {
    ApiParameter{.name = "folder",
                 .place = "query",
                 .type = "string",
                 .about = "a folder below it, by its path; not given: the folder itself"}};
constexpr std::array kFindings = {kRank, kStep, kRun};
constexpr std::array kTile = {
    path_number("track", "id of api/tracks"), path_number("level", "columns of 2^level ns"),
    path_number("index", "of the tile: it begins at index * 1024 * 2^level ns"), kRun};
constexpr std::array kTiles = {path_number("level", "columns of 2^level ns"),
                               path_number("index", "of the tiles"),
                               ApiParameter{.name = "tracks",
                                            .place = "query",
                                            .type = "string",
                                            .about = "1 to 64 tracks: 0,4,7",
                                            .needed = true,
                                            .pattern = kList},
                               kRun};
constexpr std::array kEvent = {path_number("rank", "of the event"),
                               path_number("window", "of the rank"),
                               path_number("ordinal", "position in the file"), kRun};
constexpr std::array kSearch = {ApiParameter{.name = "q",
                                             .place = "query",
                                             .type = "string",
                                             .about = "a part of the name",
                                             .needed = true},
                                ApiParameter{.name = "limit",
                                             .place = "query",
                                             .type = "integer",
                                             .about = "hits at most",
                                             .most = 1000},
                                ApiParameter{.name = "from_ns",
                                             .place = "query",
                                             .type = "integer",
                                             .about = "only what starts then or later",
                                             .most = kLatestTime},
                                kRank, kRun};
constexpr std::array kSelection = {ApiParameter{.name = "from_ns",
                                                .place = "query",
                                                .type = "integer",
                                                .about = "start of the stretch",
                                                .most = kLatestTime},
                                   ApiParameter{.name = "to_ns",
                                                .place = "query",
                                                .type = "integer",
                                                .about = "its end",
                                                .most = kLatestTime},
                                   ApiParameter{.name = "tracks",
                                                .place = "query",
                                                .type = "string",
                                                .about = "of these tracks; all where not given",
                                                .pattern = kList},
                                   kRun};

constexpr std::array kPaths = std::to_array<ApiPath>({
    {"/api/run", "what is in the files, the time range, and how far loading is", "application/json",
     kRunOnly},
    {"/api/progress", "progress of loading as server-sent events", "text/event-stream", kRunOnly},
    {"/api/runs", "what can be opened below the folder given with --root", "application/json",
     kRuns},
    {"/api/analyses", "every analysis: question, parameters, tables"},
    {"/api/findings", "what is wrong, what to change and what it would bring", "application/json",
     kFindings},
    {"/api/summary", "the first lines of the report", "application/json", kRunOnly},
    {"/api/tracks", "every track of the timeline", "application/json", kRunOnly},
    {"/api/tiles/{track}/{level}/{index}", "a part of a track, reduced to 1024 columns",
     "application/octet-stream", kTile},
    {"/api/tiles/{level}/{index}", "the same of several tracks, one after the other",
     "application/octet-stream", kTiles},
    {"/api/events/{rank}/{window}/{ordinal}", "all that is known about an event",
     "application/json", kEvent},
    {"/api/search", "events by a part of their name", "application/json", kSearch},
    {"/api/selection", "statistics of a stretch of time", "application/json", kSelection},
});

void write_parameter(JsonWriter& json, const ApiParameter& parameter) {
  json.begin_object();
  json.member("name", parameter.name);
  json.member("in", parameter.place);
  json.member("description", parameter.about);
  json.member("required", parameter.needed);
  json.key("schema");
  json.begin_object();
  json.member("type", parameter.type);
  if (parameter.type == "integer") {
    json.member("minimum", 0);
    json.member("maximum", parameter.most);
  }
  if (!parameter.pattern.empty()) json.member("pattern", parameter.pattern);
  if (parameter.needed && parameter.type == "string") json.member("minLength", 1);
  json.end_object();
  json.end_object();
}

std::string_view pattern_of(ParameterType type) {
  switch (type) {
    case ParameterType::kCount:
      return "^[0-9]{1,9}$";
    case ParameterType::kNumber:
      return "^[0-9]{1,9}(\\.[0-9]{1,6})?$";
    case ParameterType::kDuration:
      return "^[0-9]{1,6}(\\.[0-9]{1,3})?(ns|us|ms|s)$";
    case ParameterType::kShare:
      return "^0\\.[0-9]{1,6}$|^[0-9]{1,2}%$";
    case ParameterType::kSize:
      return "^[1-9][0-9]{0,5}([KMGT]i?B)?$";
    case ParameterType::kSwitch:
      return "^(true|false)$";
    case ParameterType::kText:
    case ParameterType::kChoice:
      break;
  }
  return {};
}

void write_own_parameter(JsonWriter& json, const analysis::Parameter& parameter) {
  json.begin_object();
  json.member("name", parameter.name);
  json.member("in", "query");
  json.member("description", parameter.about);
  json.member("required", false);
  json.key("schema");
  json.begin_object();
  json.member("type", "string");
  if (!parameter.default_value.empty()) json.member("default", parameter.default_value);
  if (const std::string_view pattern = pattern_of(parameter.type); !pattern.empty()) {
    json.member("pattern", pattern);
  }
  if (!parameter.choices.empty()) {
    json.key("enum");
    json.begin_list();
    for (const std::string_view choice : parameter.choices) json.value(choice);
    json.end_list();
  }
  json.end_object();
  json.end_object();
}

void write_enum_parameter(JsonWriter& json, std::string_view name, std::string_view about,
                          std::span<const std::string_view> values) {
  write_own_parameter(
      json, {.name = name, .type = ParameterType::kChoice, .about = about, .choices = values});
}

void write_responses(JsonWriter& json, std::string_view content) {
  struct Status {
    std::string_view code, about;
  };
  constexpr std::array kErrors = std::to_array<Status>({
      {"400", "a parameter that is not there or has no such value"},
      {"401", "the token is missing or wrong"},
      {"403", "another host or origin"},
      {"404", "there is no such thing"},
      {"405", "only GET and HEAD"},
      {"500", "the run could not be read"},
      {"503", "the run is still being read, or too many ask"},
  });
  json.key("responses");
  json.begin_object();
  json.key("200");
  json.begin_object();
  json.member("description", "the answer");
  json.key("content");
  json.begin_object();
  json.key(content);
  json.begin_object();
  if (content == "application/json") {
    json.key("schema");
    json.begin_object();
    json.member("type", "object");
    json.end_object();
  }
  json.end_object();
  json.end_object();
  json.end_object();
  for (const Status& status : kErrors) {
    json.key(status.code);
    json.begin_object();
    json.member("description", status.about);
    json.key("content");
    json.begin_object();
    json.key("application/json");
    json.begin_object();
    json.key("schema");
    json.begin_object();
    json.member("$ref", "#/components/schemas/Error");
    json.end_object();
    json.end_object();
    json.end_object();
    json.end_object();
  }
  json.end_object();
}

template <class Parameters>
void write_path(JsonWriter& json, std::string_view path, std::string_view about,
                std::string_view content, Parameters parameters) {
  json.key(path);
  json.begin_object();
  json.key("get");
  json.begin_object();
  json.member("summary", about);
  json.key("parameters");
  json.begin_list();
  parameters();
  json.end_list();
  write_responses(json, content);
  json.end_object();
  json.end_object();
}

void write_components(JsonWriter& json) {
  json.key("components");
  json.begin_object();
  json.key("securitySchemes");
  json.begin_object();
  json.key("token");
  json.begin_object();
  json.member("type", "http");
  json.member("scheme", "bearer");
  json.end_object();
  json.end_object();
  json.key("schemas");
  json.begin_object();
  json.key("Error");
  json.begin_object();
  json.member("type", "object");
  json.key("required");
  json.begin_list();
  json.value("error");
  json.end_list();
  json.key("properties");
  json.begin_object();
  json.key("error");
  json.begin_object();
  json.member("type", "object");
  json.key("required");
  json.begin_list();
  json.value("code");
  json.value("message");
  json.end_list();
  json.end_object();
  json.end_object();
  json.end_object();
  json.end_object();
  json.end_object();
  json.key("security");
  json.begin_list();
  json.begin_object();
  json.key("token");
  json.begin_list();
  json.end_list();
  json.end_object();
  json.end_list();
}

}  // namespace

std::string openapi_json(std::string_view program_version) {
  JsonWriter json;
  json.begin_object();
  json.member("openapi", "3.1.0");
  json.key("info");
  json.begin_object();
  json.member("title", "stepscope");
  json.member("version", program_version);
  json.end_object();
  json.key("paths");
  json.begin_object();
  for (const ApiPath& path : kPaths) {
    write_path(json, path.path, path.about, path.content, [&] {
      for (const ApiParameter& parameter : path.parameters) write_parameter(json, parameter);
    });
  }
  constexpr std::array<std::string_view, 1> kFormats = {"json"};
  for (const analysis::Analysis* about : analysis::analyses()) {
    write_path(json, fmt::format("/api/analyses/{}", about->name), about->question,
               "application/json", [&] {
                 for (const analysis::Parameter& parameter : about->parameters) {
                   write_own_parameter(json, parameter);
                 }
                 write_parameter(json, kRank);
                 write_parameter(json, kStep);
                 write_enum_parameter(json, "format", "csv is there too, for one table", kFormats);
                 std::vector<std::string_view> tables;
                 for (const base::TableShape& table : about->tables) tables.push_back(table.name);
                 write_enum_parameter(json, "table", "only this table", tables);
                 write_parameter(json, kRun);
               });
  }
  json.end_object();
  write_components(json);
  json.end_object();
  return std::move(json).finish();
}

}  // namespace stepscope::server
