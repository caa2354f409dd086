#include "python/recording.h"

#include <utility>

#include "cli/help.h"
#include "report/info_text.h"
#include "report/page.h"
#include "session/full_report.h"

namespace stepscope::python {

std::shared_ptr<const session::Study> OpenRun::study(const std::vector<std::int32_t>& ranks,
                                                     const std::vector<std::int64_t>& steps) {
  const std::lock_guard lock(mutex_);
  if (last_study_ == nullptr || last_.ranks != ranks || last_.steps != steps) {
    const analysis::Selection chosen{ranks, steps};
    last_study_ = std::make_shared<const session::Study>(
        value_or_throw(session::Study::prepare(recording_, chosen, threads_)));
    last_ = chosen;
  }
  return last_study_;
}

Answered OpenRun::ask(const std::string& analysis,
                      const std::map<std::string, std::string>& options,
                      const std::vector<std::int32_t>& ranks,
                      const std::vector<std::int64_t>& steps) {
  Answered out;
  out.answer = value_or_throw(study(ranks, steps)->ask(analysis, options));
  out.about = analysis::find_analysis(analysis);
  for (base::Table& table : out.answer.tables) {
    out.tables.push_back(std::make_shared<const base::Table>(std::move(table)));
  }
  out.answer.tables.clear();
  return out;
}

std::string OpenRun::info_json() const {
  const report::RecordedMemory memory{recording_.snapshots, recording_.timelines, recording_.stats};
  return report::info_json(report::summarize(recording_.run), memory, std::nullopt);
}

std::string OpenRun::report_text(const std::vector<std::int32_t>& ranks,
                                 const std::vector<std::int64_t>& steps, std::size_t width,
                                 bool colour) {
  const report::Findings findings =
      value_or_throw(session::full_report(recording_, {ranks, steps}, threads_));
  return report::page_text(report::make_page(findings), {.colour = colour, .width = width});
}

std::string OpenRun::report_html(const std::vector<std::int32_t>& ranks,
                                 const std::vector<std::int64_t>& steps) {
  const report::Findings findings =
      value_or_throw(session::full_report(recording_, {ranks, steps}, threads_));
  return report::page_html(report::make_page(findings), cli::version_line());
}

}  // namespace stepscope::python
