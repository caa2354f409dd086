// Questions about an open run. The view every analysis reads is prepared once per selection.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "analysis/view.h"
#include "base/result.h"
#include "session/session.h"
#include "trace/run.h"

namespace stepscope::session {

class Study {
 public:
  // The recording must outlive the study.
  static base::Result<Study> prepare(const OpenedRun& recording,
                                     const analysis::Selection& selection, unsigned threads);
  // The same for a run alone.
  static base::Result<Study> prepare(const trace::Run& run, const analysis::Selection& selection,
                                     unsigned threads);

  // An analysis that needs what was not recorded answers with a remark that says so.
  // Values by the names of the analysis' parameters; what is not given has its default.
  base::Result<analysis::Answer> ask(std::string_view analysis,
                                     const std::map<std::string, std::string>& options = {}) const;
  const analysis::RunView& view() const { return view_; }

  // Of one question, where several are asked at the same time.
  void use_threads(unsigned threads) { view_.threads = threads; }

 private:
  explicit Study(analysis::RunView view) : view_(std::move(view)) {}
  analysis::RunView view_;
};

}  // namespace stepscope::session
