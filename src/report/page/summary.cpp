// The first lines of the report as JSON.
#include <utility>

#include "report/info/info_facts.h"
#include "report/page/page.h"
#include "report/page/page_facts.h"
#include "report/writing/json_writer.h"

namespace stepscope::report {
namespace {

void text_member(JsonWriter& json, std::string_view name, const std::string& text) {
  json.key(name);
  text.empty() ? json.null() : json.value(text);
}

}  // namespace

std::string summary_json(const Answers& answers) {
  const RunInfo& info = answers.info;
  JsonWriter json;
  json.begin_object();
  json.member("schema", "stepscope.summary/1");
  json.key("facts");
  json.begin_list();
  for (const NamedText& fact : first_facts(answers)) {
    json.begin_object();
    json.member("name", fact.name);
    json.member("text", fact.text);
    json.end_object();
  }
  json.end_list();
  json.key("step");
  if (const auto step = first_step(answers)) {
    json.begin_object();
    json.member("mean_ns", step->mean_ns);
    json.member("of", step->is_recorded ? "recorded" : "traced");
    json.end_object();
  } else {
    json.null();
  }
  text_member(json, "recorded_steps", recorded_step_count(answers));
  const bool is_traced = info.events > 0 && !info.stood_in;
  json.member("traced", is_traced);
  text_member(json, "traced_steps", is_traced ? step_count_text(info) : std::string());
  json.member("guessed_steps", is_traced && info.steps.is_guessed());
  text_member(json, "traced_mark", traced_mark(answers));
  json.member("length_ns", recorded_length(info));
  json.end_object();
  return std::move(json).finish();
}

}  // namespace stepscope::report
