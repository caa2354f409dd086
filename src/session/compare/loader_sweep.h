// Settings of loaders that finished jobs ran with, as a sweep would have measured them.
#pragma once

#include <string>
#include <vector>

#include "analysis/loading/loader_race.h"
#include "analysis/loading/loader_sweep.h"
#include "base/result.h"
#include "session/session.h"

namespace stepscope::session {

// Of the rank that waited longest, and of the loader that its training took most batches from.
// `path` is the run's; its job is the scheduler's if that is known. A run that watched no loader
// has a sentence for it instead of times.
base::Result<analysis::TriedSetting> finished_job(const OpenedRun& recording,
                                                  const std::string& path, unsigned threads);

}  // namespace stepscope::session
