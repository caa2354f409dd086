// Reads the summary of a model that a process wrote beside its recording (docs/formats/model.md).
#pragma once

#include <string_view>

#include "base/result.h"
#include "trace/model_summary.h"

namespace stepscope::ingest::scope {

// Errors say what is wrong with the text, not whose it is.
base::Result<trace::ModelSummary> parse_model(std::string_view text);

}  // namespace stepscope::ingest::scope
