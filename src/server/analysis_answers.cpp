// Analyses and findings: the same bytes as the command line's.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "report/findings/advice.h"
#include "report/page/page.h"
#include "report/tables/tables.h"
#include "server/answers.h"

namespace stepscope::server {
namespace {

using base::Code;
using base::fail;

base::Result<analysis::Selection> selection_of(Asked& asked) {
  SCOPE_TRY(analysis::Selection selection, asked.query.selection());
  selection.peaks = *asked.peaks;
  return selection;
}

base::Status keep_table(analysis::Answer& answer, const analysis::Analysis& about,
                        const std::string& name) {
  std::erase_if(answer.tables, [&](const base::Table& table) { return table.name() != name; });
  if (!answer.tables.empty()) return base::Done{};
  std::vector<std::string_view> names;
  for (const base::TableShape& table : about.tables) names.push_back(table.name);
  return fail(Code::kInvalidArgument, fmt::format("table: {} has no table '{}', but {}", about.name,
                                                  name, fmt::join(names, ", ")));
}

}  // namespace

base::Result<Answered> analysis_answer(Asked& asked) {
  const std::string& name = asked.words.front();
  const analysis::Analysis* about = analysis::find_analysis(name);
  if (asked.words.size() != 1 || about == nullptr) {
    return fail(Code::kNotFound, fmt::format("there is no analysis '{}'", name));
  }
  SCOPE_TRY(const analysis::Selection selection, selection_of(asked));
  const std::string format = asked.query.text("format").value_or("json");
  const auto table = asked.query.text("table");
  if (format != "json" && format != "csv") {
    return fail(Code::kInvalidArgument, fmt::format("format: '{}' is not json or csv", format));
  }
  for (const auto& [parameter, value] : asked.query.rest()) {
    if (std::ranges::find(about->parameters, parameter, &analysis::Parameter::name) ==
        about->parameters.end()) {
      return fail(Code::kInvalidArgument,
                  fmt::format("{} has no parameter '{}'", about->name, parameter));
    }
  }
  if (format == "csv" && !table && about->tables.size() != 1) {
    return fail(Code::kInvalidArgument,
                fmt::format("format: csv holds one table; {} has several: say which with table=",
                            about->name));
  }
  // Wrong values are reported before anything is computed.
  SCOPE_TRY(analysis::parse_options(about->parameters, asked.query.rest()));
  SCOPE_TRY(const auto study, asked.run->study_of(selection));
  SCOPE_TRY(analysis::Answer answer, study->ask(name, asked.query.rest()));
  if (table) SCOPE_TRY(keep_table(answer, *about, *table));
  if (format == "csv") {
    return Answered{"text/csv; charset=utf-8", report::table_csv(answer.tables.front())};
  }
  return Answered{.body = report::answer_json(*about, answer)};
}

base::Result<Answered> findings_answer(Asked& asked) {
  SCOPE_TRY(const analysis::Selection selection, selection_of(asked));
  SCOPE_TRY(asked.query.finish());
  const session::ReportRequest request{.sections = false, .thresholds = *asked.thresholds};
  SCOPE_TRY(const report::Answers answers,
            session::full_report(asked.run->recording, selection, request, asked.run->threads));
  return Answered{.body = report::advice_json(*answers.advice)};
}

base::Result<Answered> summary_answer(Asked& asked) {
  SCOPE_TRY(asked.query.finish());
  SCOPE_TRY(const report::Answers answers,
            session::first_answers(asked.run->recording, *asked.run->study));
  return Answered{.body = report::summary_json(answers)};
}

}  // namespace stepscope::server
