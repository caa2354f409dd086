// rank.json: what a rank wrote down about its own recording (docs/formats/run-folder.md).
#pragma once

#include <string_view>

#include "base/result.h"
#include "trace/rank_record.h"

namespace stepscope::ingest::rank_json {

// An error where it is not of this schema. Members that are missing, or not what they should be,
// are left as they are: a rank that was killed wrote some of them only.
base::Result<trace::RankRecord> parse(std::string_view text);

}  // namespace stepscope::ingest::rank_json
