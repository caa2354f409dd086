// The two units everything is kept in, and small typed ids. Integers only: a sum of nanoseconds
// must not depend on the order of its terms.
#pragma once

#include <compare>
#include <cstdint>

namespace stepscope::base {

using Nanos = std::int64_t;  // since the window's own zero, or a length of time
using Bytes = std::int64_t;

template <class Tag, class Rep>
struct Strong {
  Rep value{};
  auto operator<=>(const Strong&) const = default;
};

using Rank = Strong<struct RankTag, std::int32_t>;

}  // namespace stepscope::base
