// Looks up fields and numbers of sampled series, and counts their memory.
#include "series/node.h"

#include <algorithm>

#include "base/number_text.h"

namespace stepscope::series {

std::string_view Series::field(std::string_view key) const {
  const auto found = std::ranges::find(about, key, [](const auto& pair) { return pair.first; });
  return found == about.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<std::int64_t> Series::number(std::string_view key) const {
  return base::parse_number<std::int64_t>(field(key));
}

std::size_t Node::memory() const {
  std::size_t bytes = sizeof(*this) + times.capacity() * sizeof(base::Nanos);
  for (const Series& one : series) {
    bytes += sizeof(one) + one.at.capacity() * sizeof(one.at.front()) +
             one.values.capacity() * sizeof(one.values.front());
  }
  return bytes;
}

}  // namespace stepscope::series
