// What was sampled of each machine, over the whole run: the files of one machine put together, on
// the clock on which the steps of its ranks are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/arithmetic/intervals.h"
#include "analysis/view.h"
#include "series/node.h"

namespace stepscope::analysis {

// One series of a machine.
struct Curve {
  const series::Series* about = nullptr;  // its name, unit and of what it is
  std::vector<base::Nanos> times;         // rising; since the first recording of the run began
  std::vector<std::int64_t> values;

  bool is_counter() const { return about->kind == series::Kind::kCounter; }
  std::string_view field(std::string_view key) const { return about->field(key); }
};

// Something that could not be seen, in a sentence.
struct Unseen {
  base::Nanos time = 0;
  std::string source, text;
};

struct NodeCurves {
  std::string host;
  base::Nanos interval = 0;  // between samples, as it was wanted
  Interval sampled;          // from the first moment to the last
  base::Nanos gaps = 0;      // of it, without samples
  std::uint64_t moments = 0;
  base::Nanos cpu_ns = 0;    // that sampling took, where it is known
  base::Nanos cpu_time = 0;  // that was sampled, where that is known
  std::vector<Curve> curves;
  std::vector<Unseen> missing;  // by time

  std::vector<const Curve*> named(std::string_view name) const;
  // The only one of its name; null where there is none.
  const Curve* find(std::string_view name, std::string_view key = {},
                    std::string_view value = {}) const;
  // "0", "1", MIG instances: as they were first seen.
  std::vector<std::string> gpus() const;
};

// By host.
std::vector<NodeCurves> node_curves(const RunView& view);

// On which machine a rank ran; nothing where nothing was recorded of it.
std::map<std::int32_t, std::string> hosts_of_ranks(const RunView& view);

// The sentence for a user who chose ranks or steps, where tables of whole machines stand beside
// those that were chosen from; empty where everything was meant. `chosen`: the tables that follow.
std::string why_whole_run(const RunView& view, const std::vector<NodeCurves>& nodes,
                          std::string_view chosen);

// The GPUs a rank worked on: those its processes had open, else those it was given; of several that
// all ranks of a machine were given, the one of its number there.
std::vector<std::string> gpus_of_rank(const NodeCurves& node, std::int32_t rank);
// The GPUs of the job: one that no process of the job had open, beside others that one had, is
// not.
std::vector<std::string> gpus_of_job(const NodeCurves& node);

// What processes of all ranks together had of a GPU's memory; nothing where the driver does not
// tell.
std::optional<Curve> job_memory(const NodeCurves& node, std::string_view gpu);

// Curves as some hundred points that a page has room for: the mean of each stretch of time.

// Calls add(start, value) for each of `points` equal stretches of the sampled time that has a
// value: the mean of a gauge's samples, or the growth of a running total per nanosecond. A gauge of
// no more samples than that comes as it is: add(time of the sample, its value).
void for_each_bucket(const Curve& curve, Interval sampled, std::size_t points,
                     const std::function<void(base::Nanos start, double value)>& add);

// How busy all processors of a machine together were. Processors come and go, so the share is of
// those that were there, not of the most there ever were.

// A running total that grows by as much as time itself while every processor is busy: between two
// readings, their busy time divided by how many were there at both. Nothing where either is not
// known.
std::optional<Curve> machine_load(const NodeCurves& node);

}  // namespace stepscope::analysis
