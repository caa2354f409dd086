// What was sampled of one machine while a job ran on it: columns with a unit, each about the
// machine, one of its devices or one of the job's processes. Whole numbers, as they were written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/notes.h"
#include "base/units.h"

namespace stepscope::series {

enum class Kind : std::uint8_t {
  kGauge,    // a value of the moment
  kCounter,  // a running total; where it falls, something began anew
};

struct Series {
  std::string name;  // "gpu.power"; docs/formats/scope.md lists them
  std::string unit;  // "mW"
  Kind kind = Kind::kGauge;
  std::vector<std::pair<std::string, std::string>> about;  // device, rank, core, model
  std::vector<std::uint32_t> at;                           // into Node::times, rising
  std::vector<std::int64_t> values;

  // Empty where nothing is said.
  std::string_view field(std::string_view key) const;
  std::optional<std::int64_t> number(std::string_view key) const;
};

// A plain sentence about something that could not be seen.
struct Notice {
  base::Nanos time = 0;
  std::string source, text;
};

// One file: what one process sampled of its node.
struct Node {
  std::string path;
  std::string host;
  std::string boot;                // the same until the machine is started again
  base::Nanos wall_ns = 0;         // of time 0
  base::Nanos monotonic_ns = 0;    // of time 0, by the machine's own clock
  base::Nanos interval_ns = 0;     // wanted between samples; 0: not known
  base::Nanos end = 0;             // the last look at the clocks
  base::Nanos clock_set = 0;       // how far somebody set the wall clock meanwhile
  bool finished = false;           // else its process was killed
  base::Nanos cpu_ns = 0;          // that sampling took; 0 where it did not finish
  std::vector<base::Nanos> times;  // rising
  std::vector<Series> series;      // in the order of the file
  std::vector<Notice> notices;
  base::ImportLog log;

  std::size_t memory() const;
};

}  // namespace stepscope::series
