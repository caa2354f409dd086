// What operators prove a size to be: 50,257 rows of an embedding and classes of a loss are a
// vocabulary. Definition: docs/metrics/program.md.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/view.h"

namespace stepscope::analysis {

enum class SizeRole : std::uint8_t {
  kEmbeddingRows,  // of a table that values are looked up in
  kClasses,        // that a loss tells apart
  kNormWidth,      // numbers that a layer norm sees at once
  kChannels,       // of a batch norm or group norm
  kCount
};
// "rows of an embedding", "classes of a loss", …
std::string_view name_of(SizeRole role);

// How many calls prove it.
using ProvedSizes = std::map<std::pair<std::int64_t, SizeRole>, std::uint64_t>;
// Empty where shapes were not recorded.
ProvedSizes proved_sizes(const WindowView& window);

}  // namespace stepscope::analysis
