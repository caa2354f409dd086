// Any bytes give a record whose costs are no less than nothing, or an Error: no crash, no hang.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ingest/rank_json/rank_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto record = stepscope::ingest::rank_json::parse(text);
  if (!record && record.error().message.empty()) std::abort();
  if (!record) return 0;
  for (const auto& window : record->windows) {
    if (window.cost_ns() < 0) std::abort();
  }
  return 0;
}
