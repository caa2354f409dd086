// Puts together what was sampled of each machine over the whole run.
#include "analysis/system/node_curves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "analysis/recording/recorded_steps.h"
#include "analysis/system/curve_values.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;

// Longer than this between two moments is a gap.
Nanos longest_wait(Nanos interval) { return std::max<Nanos>(5 * interval, 1'000'000'000); }

Nanos zero_of(const RunView& view) {
  if (!view.recordings.empty()) return recording_start(view);
  Nanos zero = std::numeric_limits<Nanos>::max();
  for (const series::Node& node : view.nodes) zero = std::min(zero, node.wall_ns);
  return zero;
}

std::string node_curves_key_of(const series::Series& series) {
  std::string key = series.name;
  for (const auto& [name, value] : series.about) key += fmt::format("\n{}={}", name, value);
  return key;
}

std::string time_text(Nanos length) {
  return fmt::format("{:.1f} s", static_cast<double>(length) / 1e9);
}

// Moments at which the machine was looked at. Threads that ask the driver of GPUs have moments of
// their own, between those.
std::size_t looks_in(const series::Node& file) {
  std::vector<bool> is_look(file.times.size());
  for (const series::Series& series : file.series) {
    if (series.name.starts_with("gpu.")) continue;
    for (const std::uint32_t at : series.at) is_look[at] = true;
  }
  const auto looks = static_cast<std::size_t>(std::ranges::count(is_look, true));
  return looks > 0 ? looks : file.times.size();
}

class Joining {
 public:
  Joining(std::string host, Nanos zero) : zero_(zero) { node_.host = std::move(host); }

  // Files of one machine, by time.
  void add(const series::Node& file) {
    // The machine's own clock does not jump, so a later file follows the first by it.
    Nanos start = file.wall_ns - zero_;
    if (first_ == nullptr) {
      first_ = &file;
    } else if (!file.boot.empty() && file.boot == first_->boot) {
      start = first_->wall_ns - zero_ + (file.monotonic_ns - first_->monotonic_ns);
    }
    node_.interval = std::max(node_.interval, file.interval_ns);
    if (file.finished && !file.times.empty()) {
      node_.cpu_ns += file.cpu_ns;
      node_.cpu_time += file.times.back() - file.times.front();
    }
    if (is_open_) {
      node_.missing.push_back({start, "sampler", "From here on another process samples."});
      is_open_ = false;
    }
    node_.moments += looks_in(file);
    for (const Nanos time : file.times) take_moment(start + time, file.interval_ns);
    for (const series::Series& series : file.series) take(series, file, start);
    for (const series::Notice& notice : file.notices) {
      const bool said = std::ranges::any_of(
          node_.missing, [&](const Unseen& one) { return one.text == notice.text; });
      if (!said) node_.missing.push_back({start + notice.time, notice.source, notice.text});
    }
    if (file.clock_set > 0) {
      node_.missing.push_back(
          {start, "clock",
           fmt::format("The clock of the machine was set by {}; times here do not follow it.",
                       time_text(file.clock_set))});
    }
    is_open_ = !file.finished;
    if (is_open_) {
      node_.missing.push_back({start + file.end, "sampler",
                               "The process that sampled did not finish: it was killed, or is "
                               "still running. What came after its last samples is not known."});
    }
  }

  NodeCurves finish() {
    std::ranges::stable_sort(node_.missing, {}, &Unseen::time);
    return std::move(node_);
  }

 private:
  void take_moment(Nanos time, Nanos interval) {
    if (!seen_) node_.sampled = {time, time};
    if (seen_ && time - node_.sampled.end > longest_wait(interval)) {
      const Nanos gap = time - node_.sampled.end;
      node_.gaps += gap;
      node_.missing.push_back({node_.sampled.end, "sampler",
                               fmt::format("Nothing was sampled for {}.", time_text(gap))});
    }
    seen_ = true;
    node_.sampled.end = std::max(node_.sampled.end, time);
  }

  void take(const series::Series& series, const series::Node& file, Nanos start) {
    const auto [found, is_new] =
        places_.try_emplace(node_curves_key_of(series), node_.curves.size());
    if (is_new) node_.curves.push_back({.about = &series, .times = {}, .values = {}});
    Curve& curve = node_.curves[found->second];
    for (std::size_t i = 0; i < series.at.size(); ++i) {
      const Nanos time = start + file.times[series.at[i]];
      if (!curve.times.empty() && time <= curve.times.back()) continue;
      curve.times.push_back(time);
      curve.values.push_back(series.values[i]);
    }
  }

  Nanos zero_;
  const series::Node* first_ = nullptr;
  bool seen_ = false;
  bool is_open_ = false;  // the last file did not finish
  NodeCurves node_;
  std::map<std::string, std::size_t> places_;
};

std::vector<std::string> labels_of(const std::vector<const Curve*>& curves) {
  std::vector<std::string> labels;
  for (const Curve* curve : curves) {
    const std::string label(curve->field("device"));
    if (std::ranges::find(labels, label) == labels.end()) labels.push_back(label);
  }
  return labels;
}

}  // namespace

std::vector<const Curve*> NodeCurves::named(std::string_view name) const {
  std::vector<const Curve*> found;
  for (const Curve& curve : curves) {
    if (curve.about->name == name && !curve.values.empty()) found.push_back(&curve);
  }
  return found;
}

const Curve* NodeCurves::find(std::string_view name, std::string_view key,
                              std::string_view value) const {
  for (const Curve& curve : curves) {
    if (curve.about->name != name || curve.values.empty()) continue;
    if (key.empty() || curve.field(key) == value) return &curve;
  }
  return nullptr;
}

std::vector<std::string> NodeCurves::gpus() const {
  std::vector<const Curve*> of_gpus;
  for (const Curve& curve : curves) {
    if (curve.about->name.starts_with("gpu.") && !curve.values.empty()) of_gpus.push_back(&curve);
  }
  return labels_of(of_gpus);
}

std::vector<NodeCurves> node_curves(const RunView& view) {
  const Nanos zero = zero_of(view);
  std::vector<NodeCurves> nodes;
  for (std::size_t i = 0; i < view.nodes.size();) {
    Joining joining(view.nodes[i].host, zero);
    const std::string& host = view.nodes[i].host;
    for (; i < view.nodes.size() && view.nodes[i].host == host; ++i) joining.add(view.nodes[i]);
    nodes.push_back(joining.finish());
  }
  return nodes;
}

std::map<std::int32_t, std::string> hosts_of_ranks(const RunView& view) {
  std::map<std::int32_t, std::string> hosts;
  for (const WindowView& recording : view.recordings) {
    hosts.try_emplace(recording.rank, recording.trace->header().host);
  }
  return hosts;
}

std::string why_whole_run(const RunView& view, const std::vector<NodeCurves>& nodes,
                          std::string_view chosen) {
  bool is_chosen = std::ranges::any_of(view.recordings, &WindowView::chosen);
  const auto hosts = hosts_of_ranks(view);
  for (const NodeCurves& node : nodes) {
    for (const Curve* curve : node.named("process.cpu")) {
      const auto rank = curve->about->number("rank");
      is_chosen |= rank && !hosts.empty() && !hosts.contains(static_cast<std::int32_t>(*rank));
    }
  }
  if (!is_chosen) return {};
  return fmt::format(
      "Machines are sampled as a whole: ranks and steps that were chosen narrow {}; all other "
      "tables are of the whole run.",
      chosen);
}

std::vector<std::string> gpus_of_rank(const NodeCurves& node, std::int32_t rank) {
  const std::string number = std::to_string(rank);
  const auto of_rank = [&](std::string_view name) {
    std::vector<const Curve*> curves = node.named(name);
    std::erase_if(curves, [&](const Curve* curve) { return curve->field("rank") != number; });
    return curves;
  };
  if (const auto open = of_rank("gpu.processes"); !open.empty()) return labels_of(open);
  std::vector<const Curve*> given = of_rank("gpu.given");
  std::set<std::string_view> ranks;
  for (const Curve* curve : node.named("gpu.given")) ranks.insert(curve->field("rank"));
  if (ranks.size() > 1 && given.size() > 1) {
    std::erase_if(given, [](const Curve* curve) {
      return curve->field("position") != curve->field("local_rank");
    });
  }
  return labels_of(given);
}

std::vector<std::string> gpus_of_job(const NodeCurves& node) {
  const std::vector<const Curve*> open = node.named("gpu.processes");
  return open.empty() ? node.gpus() : labels_of(open);
}

std::optional<Curve> job_memory(const NodeCurves& node, std::string_view gpu) {
  std::map<Nanos, std::int64_t> sums;
  const series::Series* about = nullptr;
  for (const Curve* curve : node.named("gpu.process_memory")) {
    if (curve->field("device") != gpu) continue;
    about = curve->about;
    for (std::size_t i = 0; i < curve->times.size(); ++i) {
      sums[curve->times[i]] += curve->values[i];
    }
  }
  if (about == nullptr) return std::nullopt;
  Curve job{.about = about, .times = {}, .values = {}};
  for (const auto& [time, bytes] : sums) {
    job.times.push_back(time);
    job.values.push_back(bytes);
  }
  return job;
}

void for_each_bucket(const Curve& curve, Interval sampled, std::size_t points,
                     const std::function<void(base::Nanos start, double value)>& add) {
  // Few values of moments are given as they were seen, and when: in stretches of about their own
  // distance they would seem to come up to one too early.
  if (!curve.is_counter() && curve.values.size() <= points) {
    for (std::size_t i = 0; i < curve.values.size(); ++i) {
      add(curve.times[i], static_cast<double>(curve.values[i]));
    }
    return;
  }
  // No finer than the samples are.
  const std::size_t count = std::min(points, curve.values.size());
  if (count == 0 || sampled.length() <= 0) return;
  const CurveReader reader(&curve);
  const auto parts = static_cast<base::Nanos>(count);
  const base::Nanos width = (sampled.length() + parts) / parts;  // the last sample lies within
  for (base::Nanos i = 0; i < parts; ++i) {
    const Interval bucket{sampled.start + i * width, sampled.start + (i + 1) * width};
    if (!curve.is_counter()) {
      if (const auto mean = reader.mean(bucket)) add(bucket.start, *mean);
      continue;
    }
    const Interval within{bucket.start, std::min(bucket.end, sampled.end)};
    if (within.length() <= 0) continue;
    if (const auto growth = reader.growth(within)) {
      add(bucket.start, *growth / static_cast<double>(within.length()));
    }
  }
}

namespace {

// The count is written when it changes; before its first value that one is the best there is.
std::int64_t count_at(const Curve& counts, base::Nanos time) {
  const auto after = std::ranges::upper_bound(counts.times, time) - counts.times.begin();
  return counts.values[static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - 1, 0))];
}

}  // namespace

std::optional<Curve> machine_load(const NodeCurves& node) {
  const Curve* const busy = node.find("cpu.busy");
  const Curve* const counts = node.find("cpu.count");
  if (busy == nullptr || counts == nullptr) return std::nullopt;
  if (std::ranges::any_of(counts->values, [](std::int64_t count) { return count <= 0; })) {
    return std::nullopt;
  }
  Curve load{.about = busy->about, .times = busy->times, .values = {0}};
  load.values.reserve(busy->values.size());
  std::int64_t before = count_at(*counts, busy->times.front());
  double total = 0;  // of nanoseconds: exact far beyond the length of any run
  for (std::size_t i = 1; i < busy->values.size(); ++i) {
    const std::int64_t now = count_at(*counts, busy->times[i]);
    // A total that began anew falls here too.
    total += static_cast<double>(busy->values[i] - busy->values[i - 1]) /
             static_cast<double>(std::min(before, now));
    load.values.push_back(std::llround(total));
    before = now;
  }
  return load;
}

}  // namespace stepscope::analysis
