#include "session/files/addresses.h"

#include <utility>

#include "base/notes.h"
#include "bytes/source_within.h"
#include "ingest/memory_json/addresses.h"

namespace stepscope::session {

std::string addresses_beside(std::string_view snapshot_path) {
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (snapshot_path.ends_with(packed)) snapshot_path.remove_suffix(packed.size());
  }
  for (const std::string_view ending : {".pickle", ".pkl"}) {
    if (!snapshot_path.ends_with(ending)) continue;
    snapshot_path.remove_suffix(ending.size());
    return std::string(snapshot_path) + "-addresses.json";
  }
  return {};
}

void add_known_addresses(const std::string& snapshot_path, memory::Snapshot& snapshot,
                         const std::string& within) {
  const std::string path = addresses_beside(snapshot_path);
  if (path.empty()) return;
  const auto text = bytes::whole_file(within, path);
  if (!text) return;
  auto known = ingest::memory_json::parse_addresses(*text);
  if (known) {
    snapshot.known = *std::move(known);
  } else {
    snapshot.log.add(base::Note::kUnknownValue, base::ImportLog::kNowhere,
                     path + " " + known.error().message);
  }
}

}  // namespace stepscope::session
