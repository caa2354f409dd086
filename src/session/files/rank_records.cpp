#include "session/files/rank_records.h"

#include <utility>

#include "bytes/source_within.h"
#include "ingest/rank_json/rank_json.h"
#include "session/files/run_folder.h"

namespace stepscope::session {

bool is_rank_record(const std::string& path) {
  return path.ends_with("/rank.json") && is_in_rank_folder(path);
}

void add_rank_record(const std::string& path, const std::string& within, Recording& recording) {
  const std::string text = bytes::whole_file(within, path).value_or(std::string());
  base::Result<trace::RankRecord> record = ingest::rank_json::parse(text);
  if (!record) {
    recording.run.skipped.push_back({path, record.error().message});
    return;
  }
  record->path = path;
  recording.rank_records.push_back(*std::move(record));
}

}  // namespace stepscope::session
