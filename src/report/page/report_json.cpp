// The report as JSON.
#include "report/findings/advice.h"
#include "report/info/info_text.h"
#include "report/page/page.h"
#include "report/tables/tables.h"
#include "report/writing/json_writer.h"

namespace stepscope::report {

std::string report_json(const Answers& answers) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", "stepscope.report/1");
  json.key("info");
  json.begin_object();
  write_info(json, answers.info, std::nullopt);
  json.end_object();
  if (answers.advice) {
    json.key("advice");
    json.begin_object();
    write_advice(json, *answers.advice);
    json.end_object();
  }
  json.key("analyses");
  json.begin_object();
  for (const Answered& answered : answers.answers) {
    json.key(answered.about->name);
    json.begin_object();
    write_answer(json, answered.answer);
    json.end_object();
  }
  json.end_object();
  json.end_object();
  return std::move(json).finish();
}

}  // namespace stepscope::report
