// Statistics of a stretch of time on some tracks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/idle/idle_gaps.h"
#include "session/timeline/timeline.h"

namespace stepscope::session {

struct StretchRequest {
  base::Nanos from = 0, to = 0;
  std::vector<std::uint32_t> tracks;
};

struct StretchName {
  std::string name;
  std::uint8_t kind = 0;
  std::uint64_t count = 0;
  base::Nanos total = 0;  // of what lies inside; so below
  base::Nanos self = 0;   // without their callees
  base::Nanos longest = 0;
};

struct StretchDevice {
  std::int32_t rank = 0, device = 0;
  base::Nanos measured = 0, busy = 0;
  std::array<base::Nanos, analysis::kCauses> causes = {};
};

struct StretchCounter {
  std::uint32_t track = 0;
  Extent extent = {};
  std::optional<double> mean;
  double last = 0;
};

struct StretchLine {
  std::int32_t rank = 0;
  base::Nanos time = 0;
  int level = 0;  // in tens, as Python's logging counts
  std::string text;
};

struct Stretch {
  std::uint64_t events = 0;
  std::vector<StretchName> names;  // those with most time of their own first; all
  std::vector<StretchName> kinds;  // so too, without names
  std::vector<StretchDevice> devices;
  std::vector<StretchCounter> counters;
  std::vector<StretchLine> lines;  // of logs, by time
};

Stretch stretch_of(const Timeline& timeline, const Study& study, const StretchRequest& request);

}  // namespace stepscope::session
