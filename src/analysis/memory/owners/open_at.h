// Which of many spans is the innermost at a moment: of those open then, the one that began last.
// Spans may overlap without nesting: two threads' do.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"

namespace stepscope::analysis {

struct NamedSpan {
  base::Nanos start = 0, end = 0;
  std::uint32_t name = 0;  // the caller's
};

class OpenAt {
 public:
  static constexpr std::uint32_t kNothing = 0xffffffff;

  OpenAt() = default;
  explicit OpenAt(std::vector<NamedSpan> spans);  // n log n

  std::uint32_t at(base::Nanos time) const;  // a name, or kNothing
  bool empty() const { return changes_.empty(); }

 private:
  struct Change {
    base::Nanos time;
    std::uint32_t name;
  };
  std::vector<Change> changes_;  // by time; what holds from then on
};

}  // namespace stepscope::analysis
