// Any bytes give places by ascending address or an Error: no crash, no hang.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ingest/memory_json/addresses.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace memory = stepscope::memory;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto known = stepscope::ingest::memory_json::parse_addresses(text);
  if (known && !std::ranges::is_sorted(*known, {}, &memory::KnownContent::address)) std::abort();
  if (!known && known.error().message.empty()) std::abort();
  return 0;
}
